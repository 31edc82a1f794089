import { beforeEach, describe, expect, it } from 'vitest'
import type { Call } from './call.ts'
import type { Json } from './frames.ts'
import type { Room } from './room.ts'
import { type FakeBrowser, settled } from './testing/fakes.ts'
import { everything } from './testing/room.ts'
import { answered, setUp } from './testing/situations.ts'

const own = { member_id: 'm1', call_id: 'c', node_id: 'n1', name: 'Alice', visible: true }
const phone = { member_id: 'm2', call_id: 'c2', node_id: 'n1', name: '+49 30 123456', is_phone: true }
const session = { id: 'r1', name: 'lounge', display_name: 'Lounge', locked: false }

let browser: FakeBrowser
let call: Call
let room: Room

const joins = async (capabilities: readonly string[] = everything) => {
  const { client, ...made } = await setUp()
  browser = made.browser
  const joined = {
    room_session_id: 'r1',
    capabilities,
    room_session: { ...session, members: [own, phone] },
  }
  call = await answered(browser, client, {}, joined)
  if (!call.room) throw new Error('no room')
  room = call.room
}

beforeEach(() => joins())

const event = (type: string, params: Json) => browser.socket.event(type, { room_session_id: 'r1', ...params })
const replies = (method: string, result: Json = { code: '200' }) => browser.socket.reply(method, result)
const layout = (name: string) => ({ layout: { id: name, name, layers: [] } })

describe('the room of a call', () => {
  it('is missing in a call of two', async () => {
    const { browser: other, client } = await setUp()
    expect((await answered(other, client)).room).toBeUndefined()
  })

  it('has a name and members, with the own one and telephones marked', () => {
    expect([room.id, room.name, room.isLocked, room.self?.id]).toEqual(['r1', 'Lounge', false, 'm1'])
    expect(room.members).toMatchObject([
      { id: 'm1', name: 'Alice', kind: 'member', isSelf: true, isPhone: false, isVisible: true },
      { id: 'm2', name: '+49 30 123456', isSelf: false, isPhone: true, isVisible: false },
    ])
    expect(room.members).toBe(room.members)
  })

  it('follows members that join, share, change, talk and leave', () => {
    const events: string[] = []
    room.on('joined', ({ member }) => events.push(`${member.kind} ${member.name} joined`))
    room.on('left', ({ member }) => events.push(`${member.kind} ${member.name} left`))
    room.on('members', ({ members }) =>
      events.push(
        members
          .map(({ id, talking, isSharing }) => `${id}${talking ? '!' : ''}${isSharing ? '#' : ''}`)
          .join(),
      ),
    )
    const bob = { member_id: 'm3', name: 'Bob' }
    const screen = { member_id: 's1', name: 'Bob', type: 'screen', parent_id: 'm3' }
    event('member.joined', { member: bob })
    event('member.joined', { member: screen })
    event('member.talking', { member: { member_id: 'm3', talking: true } })
    event('member.updated', {
      member: {
        member_id: 'm2',
        handraised: true,
        audio_muted: true,
        updated: ['handraised', 'audio_muted'],
      },
    })
    expect(room.members[1]).toMatchObject({ handRaised: true, audioMuted: true, videoMuted: false })
    event('member.left', { member: screen })
    event('member.left', { member: bob })
    expect(events).toEqual([
      'member Bob joined',
      'm1,m2,m3',
      'screen Bob joined',
      'm1,m2,m3#,s1',
      'm1,m2,m3!#,s1',
      'm1,m2,m3!#,s1',
      'screen Bob left',
      'm1,m2,m3!',
      'member Bob left',
      'm1,m2',
    ])
  })

  it('is locked and unlocked, and reports each change once', async () => {
    const locks: boolean[] = []
    room.on('locked', ({ isLocked }) => locks.push(isLocked))
    const locking = room.lock()
    replies('call.lock')
    await locking
    for (const locked of [true, true, false])
      event('call.updated', { room_session: { ...session, locked, updated: ['locked'] } })
    expect([locks, room.isLocked]).toEqual([[true, false], false])
  })

  it('has the layouts of the gateway, and asks again when another layout comes by itself', async () => {
    const lists: string[] = []
    room.on('layouts', ({ layouts }) => lists.push(layouts.join()))
    replies('call.layout.list', { code: '200', layouts: ['grid-responsive', '1x1'] })
    await settled()
    event('layout.changed', layout('full-screen'))
    await settled()
    replies('call.layout.list', { code: '200', layouts: ['full-screen', '1x1'] })
    await settled()
    event('layout.changed', layout('full-screen'))
    expect([lists, room.layout?.name]).toEqual([['grid-responsive,1x1', 'full-screen,1x1'], 'full-screen'])
    expect(browser.socket.requests('call.layout.list')).toHaveLength(2)
  })

  it('mutes, removes and raises hands by the commands of the call', async () => {
    const done = [room.muteMember('m2', { audio: true }), room.remove('m2'), room.setHand(true)]
    await settled()
    for (const method of ['call.mute', 'call.member.remove', 'call.raisehand']) replies(method)
    await Promise.all(done)
    const target = { member_id: 'm2', call_id: 'c2', node_id: 'n1' }
    expect(browser.socket.requests('call.mute')[0]?.params).toMatchObject({ target, channels: ['audio'] })
    expect(browser.socket.requests('call.member.remove')[0]?.params).toMatchObject({ target })
    expect(browser.socket.requests('call.raisehand')[0]?.params).toMatchObject({
      target: { member_id: 'm1' },
    })
  })

  it('mutes the own microphone at once', async () => {
    const muting = room.muteMember('m1', { audio: true })
    expect(call.muted.audio).toBe(true)
    await settled()
    replies('call.mute')
    await muting
  })

  it('rejects with a code for each refusal', async () => {
    await expect(room.remove('m9')).rejects.toMatchObject({ code: 'unknown_member' })
    const refused = async (method: string, code: string, command: Promise<void>) => {
      await settled()
      replies(method, { code, message: 'no' })
      return command.then(
        () => 'done',
        (error: { code: string }) => error.code,
      )
    }
    expect([
      await refused('call.layout.set', '422', room.setLayout('spiral')),
      await refused('call.member.remove', '404', room.remove('m2')),
      await refused('call.lock', '403', room.lock()),
      await refused('call.end', '500', room.end()),
    ]).toEqual(['unknown_layout', 'unknown_member', 'no_capability', 'server'])
  })

  it('reports the rights of a guest, and rejects the others at once', async () => {
    await joins(['self', 'screenshare'])
    expect(room.rights).toEqual({
      lock: false,
      setLayout: false,
      muteOthers: false,
      remove: false,
      end: false,
    })
    await expect(room.lock()).rejects.toMatchObject({ code: 'no_capability' })
  })

  it('is closed when the call leaves it or ends', async () => {
    const closed: string[] = []
    room.on('closed', ({ reason }) => closed.push(reason))
    event('call.left', { call_id: call.id, member_id: 'm1', reason: 'removed' })
    expect(call.room).toBeUndefined()
    await expect(room.lock()).rejects.toMatchObject({ code: 'bad_state' })
    await joins()
    room.on('closed', ({ reason }) => closed.push(reason))
    event('call.left', { call_id: call.id, member_id: 'm1', reason: 'normal' })
    await joins()
    room.on('closed', ({ reason }) => closed.push(reason))
    browser.socket.verto('verto.bye', {
      callID: call.id,
      cause: 'NORMAL_CLEARING',
      causeCode: 16,
      reason: 'room_ended',
    })
    expect([call.room, closed]).toEqual([undefined, ['removed', 'left', 'ended']])
    expect(call.reason).toMatchObject({ code: 'room_ended', message: 'The room has ended.' })
  })
})
