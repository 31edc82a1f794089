import type { Call } from '../call.ts'
import { answered, setUp } from './situations.ts'

/** All that a gateway may allow. */
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

/** Ourselves. */
export const us = { member_id: 'm1', call_id: 'c', node_id: 'n1', audio_muted: false }
/** Somebody else. */
export const them = { member_id: 'm2', call_id: 'c2', node_id: 'n2', name: 'Bob', audio_muted: false }

/** How requests name ourselves. */
export const reference = { self: { member_id: 'm1', call_id: 'c', node_id: 'n1' } }
/** A command for ourselves. */
export const ofUs = { target: reference.self }

/** A call in a room with {@link us} and {@link them}, and what it tells. */
export const inRoom = async (capabilities: string[] | undefined = everything) => {
  const { browser, client } = await setUp()
  const room = { room_session_id: 'r1', capabilities, room_session: { members: [us, them] } }
  const call = await answered(browser, client, {}, room)
  return { browser, call, told: watched(call) }
}

const watched = (call: Call): string[] => {
  const told: string[] = []
  call.on('member.joined', ({ member }) => told.push(`joined ${member.member_id}`))
  call.on('member.left', ({ member, reason }) => told.push(`left ${member.member_id} ${reason}`))
  call.on('member.updated', ({ member }) => told.push(`updated ${member.member_id} ${member.updated}`))
  call.on('member.updated.audioMuted', ({ member }) => told.push(`muted ${member.audio_muted}`))
  call.on('member.talking', ({ member }) => told.push(`talking ${member.talking}`))
  call.on('memberList.updated', ({ members }) => told.push(`${members.length} members`))
  return told
}
