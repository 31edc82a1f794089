import { describe, expect, it } from 'vitest'
import type { Json } from './frames.ts'
import type { FakeBrowser } from './testing/fakes.ts'
import { everything, inRoom, ofOwnMember, otherMember, ownMember, reference } from './testing/room.ts'

describe('members', () => {
  const event = (browser: FakeBrowser, type: string, member: Json, more: Json = {}) =>
    browser.socket.event(type, { room_session_id: 'r1', member, ...more })

  it('are those of call.joined, with the capabilities', async () => {
    const { call } = await inRoom(['self.mute.audio.off', 'lock'])
    expect(call).toMatchObject({
      members: [ownMember, otherMember],
      selfMember: ownMember,
      memberId: 'm1',
      roomSessionId: 'r1',
    })
    expect(call.capabilities).toMatchObject({
      self: { muteAudio: { on: false, off: true }, raisehand: { on: false } },
      lock: { on: true, off: true },
      end: false,
      screenshare: false,
    })
  })

  it('join, change, talk and leave', async () => {
    const { browser, call, events } = await inRoom()
    event(browser, 'member.joined', { member_id: 'm3', type: 'screen', parent_id: 'm2' })
    event(browser, 'member.updated', { member_id: 'm2', audio_muted: true, updated: ['audio_muted'] })
    event(browser, 'member.talking', { member_id: 'm2', talking: true })
    expect(call.members).toEqual([
      ownMember,
      { ...otherMember, audio_muted: true, talking: true },
      { member_id: 'm3', type: 'screen', parent_id: 'm2' },
    ])
    event(browser, 'member.left', { member_id: 'm3' }, { reason: 'left' })
    expect(events).toEqual([
      'joined m3',
      '3 members',
      'updated m2 audio_muted',
      'muted true',
      '3 members',
      'talking true',
      'left m3 left',
      '2 members',
    ])
  })

  it('hold the call together, as long as none of the others talks', async () => {
    const { browser, call } = await inRoom()
    const hold = (member_id: string, on_hold: boolean) => {
      event(browser, 'member.updated', { member_id, on_hold, updated: ['on_hold'] })
      return call.isHeldByOthers
    }
    const changed: unknown[] = []
    call.on('member.updated.onHold', ({ member }) => changed.push(member.on_hold))
    expect(call.isHeldByOthers).toBe(false)
    expect([hold('m1', true), hold('m2', true)]).toEqual([false, true])
    event(browser, 'member.joined', { member_id: 'm3', type: 'screen', parent_id: 'm2' })
    expect(call.isHeldByOthers).toBe(true)
    event(browser, 'member.joined', { member_id: 'm4' })
    expect([call.isHeldByOthers, hold('m4', true), hold('m2', false)]).toEqual([false, true, false])
    for (const member_id of ['m2', 'm3', 'm4']) event(browser, 'member.left', { member_id })
    expect([changed, call.isHeldByOthers]).toEqual([[true, true, true, false], false])
  })

  it('of another room are ignored', async () => {
    const { browser, events } = await inRoom()
    browser.socket.event('member.joined', { room_session_id: 'r2', member: { member_id: 'm9' } })
    expect(events).toEqual([])
  })

  it('are those of the current room after a move', async () => {
    const { browser, call } = await inRoom()
    const place = { member_id: 'm7', call_id: 'c7', node_id: 'n7', room_session_id: 'r7' }
    browser.socket.event('call.joined', {
      call_id: 'c7',
      origin_call_id: call.id,
      member_id: 'm7',
      room_session_id: 'r7',
      room_session: { members: [place] },
      capabilities: everything,
    })
    void call.deaf()
    const { room_session_id: _, ...target } = place
    expect(browser.socket.requests('call.deaf')[0]?.params).toEqual({ ...reference, target })
    const left = { call_id: 'c7', origin_call_id: call.id, member_id: 'm7', room_session_id: 'r7' }
    browser.socket.event('call.left', left)
    void call.undeaf()
    expect(browser.socket.requests('call.undeaf')[0]?.params).toMatchObject(ofOwnMember)
  })

  it('are also updated by call.updated; layouts have an event of their own', async () => {
    const { browser, call } = await inRoom()
    const layouts: string[] = []
    call.on('layout.changed', ({ layout }) => layouts.push(layout.name))
    browser.socket.event('call.updated', {
      room_session_id: 'r1',
      room_session: { locked: true, members: [ownMember] },
    })
    browser.socket.event('layout.changed', {
      room_session_id: 'r1',
      layout: { id: 'l', name: 'grid', layers: [] },
    })
    expect(call.members).toEqual([ownMember])
    expect(layouts).toEqual(['grid'])
    expect(call.currentLayout?.name).toBe('grid')
  })

  it('with invalid data are ignored', async () => {
    const { browser, call, events } = await inRoom()
    for (const type of [
      'member.joined',
      'member.updated',
      'member.left',
      'member.talking',
      'layout.changed',
      'call.updated',
    ])
      for (const member of [{}, { member_id: 7 }, null])
        browser.socket.event(type, {
          room_session_id: 'r1',
          call_id: call.id,
          member,
          layout: 3,
          room_session: 'x',
        })
    browser.socket.event('member.updated', {
      call_id: call.id,
      member: { ...ownMember, updated: 'audio_muted' },
    })
    expect(call.members).toHaveLength(2)
    expect(events).toEqual(['updated m1 ', '2 members'])
  })
})
