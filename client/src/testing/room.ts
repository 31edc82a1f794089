import type { Call } from '../call.ts'
import { answered, setUp } from './situations.ts'

/** All capabilities that a gateway can grant. */
export const everything = [
  'self',
  'member',
  'device',
  'screenshare',
  'lock',
  'end',
  'vmuted',
  'layout',
  'digit',
]

/** The own member. */
export const ownMember = { member_id: 'm1', call_id: 'c', node_id: 'n1', audio_muted: false }
/** Another member. */
export const otherMember = { member_id: 'm2', call_id: 'c2', node_id: 'n2', name: 'Bob', audio_muted: false }

/** Reference to the own member in requests. */
export const reference = { self: { member_id: 'm1', call_id: 'c', node_id: 'n1' } }
/** Target of a command for the own member. */
export const ofOwnMember = { target: reference.self }

/** Returns a call in a room with both members, and a list of its events. */
export const inRoom = async (capabilities: string[] | undefined = everything) => {
  const { browser, client } = await setUp()
  const room = { room_session_id: 'r1', capabilities, room_session: { members: [ownMember, otherMember] } }
  const call = await answered(browser, client, {}, room)
  return { browser, call, events: watched(call) }
}

const watched = (call: Call): string[] => {
  const events: string[] = []
  call.on('member.joined', ({ member }) => events.push(`joined ${member.member_id}`))
  call.on('member.left', ({ member, reason }) => events.push(`left ${member.member_id} ${reason}`))
  call.on('member.updated', ({ member }) => events.push(`updated ${member.member_id} ${member.updated}`))
  call.on('member.updated.audioMuted', ({ member }) => events.push(`muted ${member.audio_muted}`))
  call.on('member.talking', ({ member }) => events.push(`talking ${member.talking}`))
  call.on('memberList.updated', ({ members }) => events.push(`${members.length} members`))
  return events
}
