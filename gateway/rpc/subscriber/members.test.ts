import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fakeLeg } from '../../calls/testing/fake-legs.ts'
import type { AnyFrame } from '../testing/test-browser.ts'
import { dialled, settled } from './testing/call-setup.ts'
import { SubscriberTestGateway, type TestPage } from './testing/subscriber-test-gateway.ts'

let gateway: SubscriberTestGateway

beforeEach(async () => {
  gateway = await SubscriberTestGateway.start()
})
afterEach(() => gateway.close())

/** Lets Alice dial and talk, and drops the events so far. */
const alone = async () => {
  const call = await dialled(gateway)
  call.media.report('connected')
  await call.leg.answer()
  const joined = await call.page.event('call.joined')
  return { ...call, self: selfOf(joined, 'c1') }
}

const selfOf = (joined: AnyFrame, callId: string) => ({
  member_id: joined.member_id as string,
  call_id: callId,
  node_id: 'node-1',
})

/** Connects the browsers of Alice and Bob. */
const both = async () => {
  const a = await alone()
  const page = await gateway.online('bob')
  const { leg } = gateway.call('bob', { caller: a.leg, from: a.leg.from })
  await page.message('verto.invite')
  const media = gateway.webrtc.last
  media.report('connected')
  await page.verto('verto.answer', leg.id, { sdp: 'answer' })
  const joined = await page.event('call.joined')
  a.leg.paired(leg)
  leg.paired(a.leg)
  return { a, b: { page, leg, media, self: selfOf(joined, leg.id) } }
}

/** Connects Alice to a telephone. */
const withTelephone = async () => {
  const a = await alone()
  const { leg } = fakeLeg(gateway.clock, 'group', { direction: 'outbound', to: 'sip:+1555@carrier.example' })
  leg.answered()
  a.leg.paired(leg)
  const { member } = await a.page.event('member.joined')
  return { ...a, telephone: member as AnyFrame, far: leg }
}

const memberOf = async (page: TestPage, event: string): Promise<AnyFrame> =>
  (await page.event(event)).member as AnyFrame

describe('two browsers', () => {
  it('are members of both calls, with the same ids', async () => {
    const { a, b } = await both()
    const toAlice = await memberOf(a.page, 'member.joined')
    expect(toAlice).toMatchObject({
      type: 'member',
      member_id: b.self.member_id,
      call_id: b.leg.id,
      name: 'bob',
      node_id: 'node-1',
      room_id: a.arrival.callId,
      subscriber_id: gateway.subscriber('bob').id,
      parent_id: null,
    })
    expect(await memberOf(b.page, 'member.joined')).toMatchObject({
      member_id: a.self.member_id,
      call_id: 'c1',
      name: 'Alice',
    })
    const listed = (await a.page.ask('call.member.list', { self: a.self })).members as AnyFrame[]
    expect(listed.map(({ member_id: id }) => id)).toEqual([a.self.member_id, b.self.member_id])
    expect(await a.page.message('verto.display')).toEqual({
      callID: 'c1',
      display_name: 'bob',
      display_number: '/public/bob',
    })
    expect(await a.page.event('call.connect')).toMatchObject({
      call_id: 'c1',
      connect_state: 'connected',
      room_session_id: a.arrival.callId,
      peer: {
        call_id: b.leg.id,
        node_id: 'node-1',
        device: { type: 'webrtc', params: { from: '/public/alice', to: '/public/bob', headers: [] } },
      },
    })
  })

  it('are both in the member list that a page receives when it joins', async () => {
    const call = await dialled(gateway)
    const { leg } = fakeLeg(gateway.clock, 'group', {
      direction: 'outbound',
      to: 'sip:+1555@carrier.example',
    })
    leg.answered()
    call.leg.paired(leg)
    await settled(call.page)
    expect(call.page.story).toEqual(['call.state created'])
    call.media.report('connected')
    await call.leg.answer()
    const { room_session: session } = await call.page.event('call.joined')
    expect((session as { members: AnyFrame[] }).members).toMatchObject([
      { name: 'Alice' },
      { name: 'sip:+1555@carrier.example' },
    ])
    expect(call.page.story).not.toContain('member.joined')
  })

  it('see the changes by and of the other browser', async () => {
    const { a, b } = await both()
    await a.page.ask('call.raisehand', { self: a.self, target: a.self })
    for (const page of [a.page, b.page])
      expect(await memberOf(page, 'member.updated')).toMatchObject({
        member_id: a.self.member_id,
        handraised: true,
        updated: ['handraised'],
      })
    const target = b.self
    expect(await a.page.ask('call.mute', { self: a.self, target, channels: ['audio'] })).toMatchObject({
      code: '200',
    })
    for (const page of [a.page, b.page])
      expect(await memberOf(page, 'member.updated')).toMatchObject({
        member_id: b.self.member_id,
        audio_muted: true,
        updated: ['audio_muted'],
      })
    // Its own page applies that.
    expect(a.media.deaf).toBe(false)
  })

  it('can unmute the other browser only if they muted it', async () => {
    const { a, b } = await both()
    const ask = (by: typeof a | typeof b, method: string, target: object) =>
      by.page.ask(method, { self: by.self, target, channels: ['audio'] })
    await ask(a, 'call.mute', b.self)
    expect(await ask(a, 'call.unmute', b.self)).toMatchObject({ code: '200' })
    await ask(b, 'call.mute', b.self)
    expect(await ask(a, 'call.unmute', b.self)).toEqual({
      code: '403',
      message: 'The member muted its own audio.',
    })
    expect(await ask(a, 'call.unmute', { member_id: 'all' })).toMatchObject({ code: '200' })
    const listed = (await a.page.ask('call.member.list', { self: a.self })).members as AnyFrame[]
    expect(listed.map(({ audio_muted: muted }) => muted)).toEqual([false, true])
  })

  it('receive no audio while they are deaf, by any request', async () => {
    const { a, b } = await both()
    await a.page.ask('call.deaf', { self: a.self, target: b.self })
    expect(await memberOf(b.page, 'member.updated')).toMatchObject({ deaf: true })
    expect([a.media.deaf, b.media.deaf]).toEqual([false, true])
    await b.page.ask('call.undeaf', { self: b.self, target: b.self })
    await b.page.event('member.updated')
    expect(b.media.deaf).toBe(false)
  })

  it('have the requested volume in both directions', async () => {
    const { a, b } = await both()
    const volumes = () => [a, b].map(({ media }) => media.port.volumes)
    await a.page.ask('call.speaker.volume.set', { self: a.self, target: a.self, volume: -10 })
    for (const { page } of [a, b])
      expect(await memberOf(page, 'member.updated')).toMatchObject({ output_volume: -10 })
    expect(volumes()).toEqual([
      { inDb: 0, outDb: -10 },
      { inDb: 0, outDb: 0 },
    ])
    await a.page.ask('call.microphone.volume.set', { self: a.self, target: b.self, volume: 6 })
    expect(await memberOf(b.page, 'member.updated')).toMatchObject({ input_volume: 6 })
    expect(volumes()).toEqual([
      { inDb: 0, outDb: -10 },
      { inDb: 6, outDb: 0 },
    ])
    await b.page.ask('call.microphone.volume.set', { self: b.self, target: b.self, volume: 0 })
    await settled(b.page)
    expect(volumes()[1]).toEqual({ inDb: 0, outDb: 0 })
  })

  it('lock and unlock the call for both', async () => {
    const { a, b } = await both()
    for (const [method, locked] of [
      ['call.lock', true],
      ['call.unlock', false],
    ] as const) {
      await a.page.ask(method, { self: a.self })
      for (const page of [a.page, b.page])
        expect(await page.event('call.updated')).toMatchObject({
          room_session: { locked, updated: ['locked'] },
        })
    }
  })

  it('can remove each other, and end the call for both', async () => {
    const { a, b } = await both()
    await a.page.ask('call.member.remove', { self: a.self, target: b.self })
    expect(await b.page.message('verto.bye')).toMatchObject({ callID: b.leg.id, causeCode: 16 })
    expect(a.leg.isEnded).toBe(false)
    a.leg.paired(undefined)
    expect(await memberOf(a.page, 'member.left')).toMatchObject({ member_id: b.self.member_id })
    await a.page.ask('call.end', { self: a.self })
    expect(await a.page.message('verto.bye')).toMatchObject({ callID: 'c1' })
  })

  it('end the call for both by one request', async () => {
    const { a, b } = await both()
    await b.page.ask('call.end', { self: b.self })
    for (const [page, callID] of [
      [a.page, 'c1'],
      [b.page, b.leg.id],
    ] as const)
      expect(await page.message('verto.bye')).toMatchObject({ callID })
    expect(gateway.parties.size).toBe(0)
  })

  it('receive who joined and left when the other party is replaced', async () => {
    const { a, b } = await both()
    await a.page.event('member.joined')
    await a.page.message('verto.display')
    const { leg } = fakeLeg(gateway.clock, 'group', {
      direction: 'outbound',
      to: 'sip:+1555@carrier.example',
    })
    leg.answered()
    a.leg.paired(leg)
    expect(await memberOf(a.page, 'member.left')).toMatchObject({ member_id: b.self.member_id })
    expect(await memberOf(a.page, 'member.joined')).toMatchObject({ call_id: leg.id, video_muted: true })
    expect(await a.page.message('verto.display')).toMatchObject({
      display_number: 'sip:+1555@carrier.example',
    })
    // A former partner receives nothing.
    await a.page.ask('call.raisehand', { self: a.self, target: a.self })
    await settled(b.page)
    expect(b.page.story).not.toContain('member.updated')
    expect(await a.page.ask('call.mute', { self: a.self, target: b.self })).toMatchObject({ code: '404' })
  })

  it('receive who holds the call, also if the other party joins on hold', async () => {
    const { a, b } = await both()
    await memberOf(a.page, 'member.joined')
    const changed = async (page: TestPage) => {
      const { member_id: id, on_hold: isOnHold, updated } = await memberOf(page, 'member.updated')
      return [id, isOnHold, updated]
    }
    await b.page.verto('verto.modify', b.leg.id, { action: 'hold' })
    const held = [b.self.member_id, true, ['on_hold']]
    expect([await changed(a.page), await changed(b.page)]).toEqual([held, held])
    a.leg.paired(undefined)
    await a.page.event('member.left')
    a.leg.paired(b.leg)
    expect(await memberOf(a.page, 'member.joined')).toMatchObject({ on_hold: true })
    await b.page.verto('verto.modify', b.leg.id, { action: 'unhold' })
    expect(await changed(a.page)).toEqual([b.self.member_id, false, ['on_hold']])
  })

  it('receive which video is visible', async () => {
    const { a, b } = await both()
    a.media.video.change(true)
    b.leg.setPort(b.media.port, b.media.video)
    a.leg.setPort(a.media.port, a.media.video)
    b.media.video.change(true)
    expect(await memberOf(a.page, 'member.updated')).toMatchObject({
      member_id: a.self.member_id,
      visible: true,
    })
    expect(await memberOf(a.page, 'member.updated')).toMatchObject({
      member_id: b.self.member_id,
      visible: true,
      updated: ['visible'],
      current_position: 'standard-1',
    })
    await settled(a.page)
    const layer = {
      layer_index: 0,
      z_index: 0,
      member_id: b.self.member_id,
      playing_file: false,
      reservation: null,
      position: 'standard-1',
      visible: true,
      x: 0,
      y: 0,
      width: 100,
      height: 100,
    }
    await a.page.ask('call.layout.set', { self: a.self, layout: 'full-screen' })
    let layout = (await a.page.event('layout.changed')).layout as { layers: AnyFrame[] }
    while (layout.layers[0]?.visible !== true)
      layout = (await a.page.event('layout.changed')).layout as typeof layout
    expect(layout).toMatchObject({ name: 'full-screen', layers: [layer] })
    await b.page.ask('call.mute', { self: b.self, target: b.self, channels: ['video'] })
    expect(await memberOf(a.page, 'member.updated')).toMatchObject({
      video_muted: true,
      visible: false,
      updated: ['video_muted', 'visible'],
    })
  })
})

it('a camera that was added muted is reported as invisible once it is removed', async () => {
  const { page, self, media, leg } = await alone()
  leg.setPort(media.port, media.video)
  const mute = (method: string) => page.ask(method, { self, target: self, channels: ['video'] })
  await mute('call.mute')
  media.video.change(true)
  await mute('call.unmute')
  media.video.change(false)
  const seen = [1, 2, 3].map(() => memberOf(page, 'member.updated'))
  expect((await Promise.all(seen)).map(({ updated, visible }) => [updated, visible])).toEqual([
    [['video_muted'], false],
    [['video_muted', 'visible'], true],
    [['visible'], false],
  ])
})

describe('a telephone', () => {
  it('is a member, and is muted in the audio of the page', async () => {
    const { page, self, telephone, media, leg } = await withTelephone()
    const ask = (method: string) => page.ask(method, { self, target: telephone, channels: ['audio'] })
    expect(await ask('call.mute')).toMatchObject({ code: '200' })
    expect(await memberOf(page, 'member.updated')).toMatchObject({
      member_id: telephone.member_id,
      audio_muted: true,
    })
    expect(media.deaf).toBe(true)
    await ask('call.unmute')
    expect(media.deaf).toBe(false)
    await ask('call.mute')
    leg.paired(undefined)
    // The next partner is not muted.
    expect(media.deaf).toBe(false)
  })

  it('is heard by the next page, even if the first one muted it', async () => {
    const { page, self, telephone, far } = await withTelephone()
    await page.ask('call.mute', { self, target: telephone, channels: ['audio'] })
    const bob = await gateway.online('bob')
    const { leg } = gateway.call('bob', { caller: far })
    await bob.message('verto.invite')
    const media = gateway.webrtc.last
    await bob.verto('verto.answer', leg.id, { sdp: 'answer' })
    await bob.event('call.joined')
    leg.paired(far)
    expect(await memberOf(bob, 'member.joined')).toMatchObject({ call_id: far.id, audio_muted: false })
    expect(media.deaf).toBe(false)
  })

  it.each([
    ['call.deaf', {}],
    ['call.raisehand', {}],
    ['call.mute', { channels: ['video'] }],
  ])('does not support %s %j', async (method, params) => {
    const { page, self, telephone } = await withTelephone()
    expect(await page.ask(method, { self, target: telephone, ...params })).toMatchObject({ code: '409' })
    expect(await page.ask(method, { self, target: { member_id: 'all' }, ...params })).toMatchObject({
      code: '200',
    })
    expect(await memberOf(page, 'member.updated')).toMatchObject({ member_id: self.member_id })
  })

  it('is reported while it holds by its session description, and not after it has left', async () => {
    const { page, leg, far } = await withTelephone()
    far.hold(true, 'media')
    expect(await memberOf(page, 'member.updated')).toMatchObject({ on_hold: true, updated: ['on_hold'] })
    // The gateway holds the telephone, which is no hold by the other party.
    far.hold(true, 'us')
    far.hold(false, 'media')
    expect(await memberOf(page, 'member.updated')).toMatchObject({ on_hold: false })
    leg.paired(undefined)
    await page.event('member.left')
    far.hold(true, 'media')
    leg.paired(far)
    expect(await memberOf(page, 'member.joined')).toMatchObject({ on_hold: true })
    expect(page.story.filter((event) => event === 'member.updated')).toHaveLength(2)
  })

  it('is hung up when it is removed', async () => {
    const { page, self, telephone, far } = await withTelephone()
    await page.ask('call.member.remove', { self, target: telephone })
    expect(far.state).toMatchObject({ kind: 'ended', by: 'us', cause: { code: 'normal' } })
  })

  it('is reported while it is called, but not with a name if it requested privacy', async () => {
    const { page, leg } = await alone()
    const called = fakeLeg(gateway.clock, 'group', { direction: 'outbound', to: 'sip:+1555@carrier.example' })
    leg.calling(called.leg)
    expect(await page.event('call.connect')).toMatchObject({
      connect_state: 'connecting',
      peer: { call_id: called.leg.id, device: { type: 'phone', params: { from_number: '/public/alice' } } },
    })
    const bob = await gateway.online('bob')
    const from = { uri: 'sip:+15559@carrier.example', user: '+15559', name: 'Ann', private: true }
    gateway.call('bob', { from })
    expect(await bob.message('verto.invite')).toMatchObject({
      caller_id_name: 'Anonymous',
      caller_id_number: 'anonymous',
    })
  })
})

it('no event reveals a caller who requested privacy', async () => {
  const bob = await gateway.online('bob')
  const caller = fakeLeg(gateway.clock, 'group').leg
  const from = { uri: 'sip:+15559@carrier.example', user: '+15559', name: 'Ann', private: true }
  const { leg } = gateway.call('bob', { caller, from })
  await bob.message('verto.invite')
  await bob.verto('verto.answer', leg.id, { sdp: 'answer' })
  const joined = await bob.event('call.joined')
  expect(joined.room_session).toMatchObject({ name: 'anonymous', display_name: 'anonymous' })
  leg.paired(caller)
  await bob.event('member.joined')
  await bob.ask('call.lock', { self: selfOf(joined, leg.id) })
  await bob.event('call.updated')
  leg.end({ code: 'normal' })
  await settled(bob)
  expect(bob.story).toContain('call.state ended')
  const events = JSON.stringify(bob.browser.requests)
  for (const secret of ['15559', 'Ann"']) expect(events).not.toContain(secret)
})

it("no event contains the password of the caller's URI", async () => {
  const bob = await gateway.online('bob')
  const from = { uri: 'sip:shop:hush@carrier.example', user: 'shop', name: '' }
  const { leg } = gateway.call('bob', { from })
  await bob.message('verto.invite')
  await bob.verto('verto.answer', leg.id, { sdp: 'answer' })
  expect((await bob.event('call.joined')).room_session).toMatchObject({ name: 'sip:shop@carrier.example' })
  await settled(bob)
  expect(JSON.stringify(bob.browser.requests)).not.toContain('hush')
})

it.each([
  ['call.microphone.volume.set', { volume: 51 }, 'volume: expected a number from -50 to 50'],
  ['call.speaker.volume.set', { volume: 'loud' }, 'volume: expected a number from -50 to 50'],
  ['call.microphone.sensitivity.set', { value: -1 }, 'sensitivity: expected a number from 0 to 100'],
  ['call.audioflags.set', { auto_gain: 1 }, 'auto_gain: expected true or false'],
  ['call.mute', { channels: ['screen'] }, 'channels: expected a list of audio and video'],
  ['call.layout.set', { layout: '5x5' }, 'layout: expected full-screen'],
  [
    'call.layout.set',
    { layout: 'full-screen', positions: { self: 'top' } },
    'position: expected auto or off-canvas',
  ],
  [
    'call.member.position.set',
    { targets: [{ position: 'standard-2' }] },
    'position: expected auto or off-canvas',
  ],
])('%s rejects %j', async (method, params, message) => {
  const { page, self } = await alone()
  expect(await page.ask(method, { self, ...params })).toEqual({ code: '422', message })
})

it('a guest can change only itself, and sees the address that it dialled', async () => {
  const page = await gateway.page()
  await page.connect(await gateway.limitedToken('guest'))
  await page.dial('c1', '/public/bob')
  await page.event('call.state')
  const { arrival } = gateway.arrivals.arrived[0]!
  gateway.webrtc.last.report('connected')
  await arrival.leg.answer()
  const joined = await page.event('call.joined')
  expect(joined.capabilities).toEqual(['self', 'screenshare', 'vmuted', 'layout', 'digit'])
  const self = selfOf(joined, 'c1')
  // The same holds for a later partner.
  expect(await page.ask('call.lock', { self })).toMatchObject({ code: '403' })
  const { leg } = fakeLeg(gateway.clock, 'group', { direction: 'outbound', to: 'sip:+1555@carrier.example' })
  leg.answered()
  arrival.leg.paired(leg)
  const target = await memberOf(page, 'member.joined')
  expect(target).toMatchObject({ name: 'bob', subscriber_id: null, address_id: null })
  for (const method of ['call.mute', 'call.member.remove'])
    expect(await page.ask(method, { self, target })).toMatchObject({ code: '403' })
  for (const method of ['call.lock', 'call.end'])
    expect(await page.ask(method, { self })).toMatchObject({ code: '403' })
  expect(await page.ask('call.mute', { self, target: self })).toMatchObject({ code: '200' })
  expect(leg.isEnded).toBe(false)
})

it('the audio flags of a microphone are set in its page', async () => {
  const { page, self } = await alone()
  await page.ask('call.audioflags.set', { self, echo_cancellation: false })
  expect(await page.message('verto.mediaParams')).toEqual({
    callID: 'c1',
    mediaParams: { audio: { echoCancellation: false } },
  })
})

it('sounds of a handler are reported', async () => {
  const { page, leg } = await alone()
  leg.plays('p1', 'playing')
  expect(await page.event('call.play')).toMatchObject({ call_id: 'c1', control_id: 'p1', state: 'playing' })
})
