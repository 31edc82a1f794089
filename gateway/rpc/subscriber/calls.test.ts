import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { AnyFrame } from '../testing.ts'
import { Harness, type Page } from './harness.ts'

let gateway: Harness

beforeEach(async () => {
  gateway = await Harness.start()
})
afterEach(() => gateway.close())

/** Lets everything that is on its way arrive. */
const settled = async (...pages: Page[]): Promise<void> => {
  for (const page of pages) {
    await page.browser.settled()
    await page.browser.settled()
  }
}

/** A page that dials, as far as the gateway's calls have the leg. */
const dialled = async (to = '/public/bob?channel=audio') => {
  const page = await gateway.signedIn()
  const result = await page.dial('c1', to)
  const media = await vi.waitFor(() => gateway.webrtc.last)
  const arrived = await vi.waitFor(() => {
    expect(gateway.arrivals.arrived).toHaveLength(1)
    return gateway.arrivals.arrived[0]!
  })
  return { page, result, media, ...arrived, leg: arrived.arrival.leg }
}

/** The same, answered and talking. */
const talking = async () => {
  const call = await dialled()
  call.media.report('connected')
  await call.leg.answer()
  const joined = await call.page.event('call.joined')
  const self = { member_id: joined.member_id, call_id: 'c1', node_id: joined.node_id }
  return { ...call, joined, self }
}

describe('a page dials', () => {
  it('and is answered at once: one description, and everything in order', async () => {
    gateway.arrivals.react = (leg) => void leg.answer()
    const { page, result, arrival } = await dialled()
    expect(result).toEqual({ message: 'CALL CREATED', callID: 'c1', memberID: 'c1' })
    expect(await page.message('verto.answer')).toEqual({ callID: 'c1', sdp: 'answer to offer' })
    const state = await page.event('call.state')
    expect(state).toMatchObject({
      call_id: 'c1',
      segment_id: 'c1',
      call_state: 'created',
      direction: 'inbound',
      device: { type: 'webrtc', params: { from: '/public/alice', to: '/public/bob' } },
      start_time: gateway.clock.now(),
      answer_time: 0,
    })
    const joined = await page.event('call.joined')
    expect(joined).toMatchObject({
      call_id: 'c1',
      origin_call_id: 'c1',
      room_session_id: arrival.callId,
      room_session: {
        members: [{ member_id: joined.member_id, call_id: 'c1', node_id: 'node-1', name: 'Alice' }],
      },
    })
    expect(joined.capabilities).toEqual(expect.arrayContaining(['self', 'member', 'digit', 'end']))
    expect(page.story).toEqual(
      ['call.state', 'verto.answer', 'call.state', 'call.joined'].map((word, i) =>
        word === 'call.state' ? `call.state ${i === 0 ? 'created' : 'answered'}` : word,
      ),
    )
  })

  it('and gets its description early, so that a long ringing does not end it', async () => {
    const { page, leg, arrival } = await dialled()
    await settled(page)
    gateway.clock.advance(2000)
    expect(await page.message('verto.media')).toEqual({ callID: 'c1', sdp: 'answer to offer' })
    leg.ring()
    const answer = leg.answer()
    expect(await page.message('verto.answer')).toEqual({ callID: 'c1' })
    await settled(page)
    expect(page.story).toEqual([
      'call.state created',
      'verto.media',
      'call.state ringing',
      'verto.answer',
      'call.state answered',
      'call.joined',
    ])
    // The first word of a prompt waits for the browser's media, but not for ever.
    gateway.clock.advance(5000)
    await answer
    expect(leg.isAnswered).toBe(true)
    expect(arrival).toMatchObject({
      projectId: 'p1',
      plan: { kind: 'dial', to: '/public/bob?channel=audio' },
    })
    expect(leg.from).toEqual({ uri: '/public/alice', user: 'alice', name: 'Alice' })
    expect(leg.to.uri).toBe('/public/bob')
    expect(leg.port).toBe(gateway.webrtc.last.port)
  })

  it('and hears it ring, or an announcement, as soon as there is one', async () => {
    const { page, leg } = await dialled()
    leg.ring()
    expect(await page.message('verto.media')).toMatchObject({ sdp: 'answer to offer' })
    gateway.clock.advance(2000)
    void leg.progress()
    await settled(page)
    expect(page.story).toEqual(['call.state created', 'call.state ringing', 'verto.media'])
  })

  it('and its leg is answered, and the prompt starts, when it can hear', async () => {
    const { leg, media, owner } = await dialled()
    let heard = false
    const answer = leg.answer().then(() => {
      heard = true
    })
    await Promise.resolve()
    expect(owner.told).toEqual(['answered'])
    expect(heard).toBe(false)
    media.report('connected')
    await answer
  })

  it('and hangs up', async () => {
    const { page, owner, media } = await talking()
    expect(await page.verto('verto.bye', 'c1')).toMatchObject({
      callID: 'c1',
      cause: 'NORMAL_CLEARING',
      causeCode: 16,
    })
    expect(await page.event('call.left')).toMatchObject({ call_id: 'c1', reason: 'NORMAL_CLEARING' })
    expect(owner.told.at(-1)).toBe('ended normal by far')
    expect(media.closed).toBe(true)
    expect(page.story).not.toContain('verto.bye')
    expect(page.story.at(-2)).toBe('call.state ended')
    // The SDK repeats what it has no answer to.
    expect(await page.verto('verto.bye', 'c1')).toMatchObject({ callID: 'c1' })
  })

  it('and gives up before an answer', async () => {
    const { page, owner } = await dialled()
    await page.verto('verto.bye', 'c1')
    expect(owner.told).toEqual(['ended canceled by far'])
  })

  it('and gives up before its offer is answered', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    gateway.webrtc.gate = promise
    const page = await gateway.signedIn()
    await page.dial('c1', '/public/bob')
    await page.verto('verto.bye', 'c1')
    resolve()
    await vi.waitFor(() => expect(gateway.webrtc.last.closed).toBe(true))
    expect(gateway.arrivals.arrived).toHaveLength(0)
  })

  it('and is hung up on, with the cause', async () => {
    const { page, leg } = await talking()
    leg.end({ code: 'max_duration' })
    expect(await page.message('verto.bye')).toEqual({
      callID: 'c1',
      cause: 'ALLOTTED_TIMEOUT',
      causeCode: 102,
    })
    expect(await page.event('call.left')).toBeDefined()
  })

  it('and is refused: nothing but the bye', async () => {
    gateway.arrivals.react = (leg) => leg.end({ code: 'unknown_address' })
    const { page, media } = await dialled('/public/nobody')
    expect(await page.message('verto.bye')).toEqual({
      callID: 'c1',
      cause: 'UNALLOCATED_NUMBER',
      causeCode: 1,
    })
    await settled(page)
    expect(page.story).toEqual(['call.state created', 'verto.bye', 'call.state ended'])
    expect(media.closed).toBe(true)
  })

  it.each([
    ['bad', 'MANDATORY_IE_MISSING', 'bad_sdp'],
    ['video only', 'BEARERCAPABILITY_NOTIMPL', 'no_common_codec'],
  ])('with an offer that is %s, and hears why', async (sdp, cause, code) => {
    const page = await gateway.signedIn()
    expect(await page.dial('c1', '/public/bob', sdp)).toMatchObject({ message: 'CALL CREATED' })
    expect(await page.message('verto.bye')).toMatchObject({ callID: 'c1', cause })
    expect(await gateway.metrics.text()).toContain(`trunkline_rejections_total{code="${code}"} 1`)
  })

  it('outward only when it may', async () => {
    const bob = await gateway.signedIn('bob')
    await bob.dial('c1', 'sip:+15551230001@carrier.example')
    expect(await bob.message('verto.bye')).toMatchObject({ cause: 'CALL_REJECTED', causeCode: 21 })
    expect(gateway.arrivals.arrived).toHaveLength(0)
    const { leg } = await dialled('sip:+15551230001@carrier.example')
    expect(leg.to).toMatchObject({ uri: 'sip:+15551230001@carrier.example', user: '+15551230001' })
  })

  it('no more often than it may at once', async () => {
    const page = await gateway.signedIn()
    for (let i = 0; i < 20; i++) await page.dial(`c${i}`, '/public/bob')
    await page.dial('one-more', '/public/bob')
    expect(await page.message('verto.bye')).toMatchObject({ callID: 'one-more', cause: 'SWITCH_CONGESTION' })
  })

  it('twice with the same id, and has one call', async () => {
    const { page } = await dialled()
    await page.dial('c1', '/public/bob')
    await settled(page)
    expect(gateway.webrtc.made).toHaveLength(1)
    expect(gateway.arrivals.arrived).toHaveLength(1)
  })

  it('and takes its call back after it was loaded again', async () => {
    const { page, leg } = await talking()
    await page.dial('c1', '/public/bob', 'second offer', { attach: true, reattaching: true })
    await page.message('verto.answer')
    expect(await page.message('verto.answer')).toEqual({ callID: 'c1', sdp: 'answer to second offer' })
    expect(await page.event('call.joined')).toMatchObject({ call_id: 'c1' })
    await page.dial('c1', '/public/bob', 'bad', { attach: true, reattaching: true })
    expect(await page.message('verto.bye')).toMatchObject({ callID: 'c1' })
    expect(leg.isEnded).toBe(true)
  })
})

describe('in a call', () => {
  it('digits of the page reach the call, and those of the far side the page', async () => {
    const { page, owner, leg } = await talking()
    await page.verto('verto.info', 'c1', { dtmf: '1w2#d' })
    expect(owner.told.slice(1)).toEqual(['digit 1', 'digit 2', 'digit #', 'digit D'])
    await leg.sendDigits('9')
    expect(await page.message('verto.info')).toEqual({ callID: 'c1', dtmf: '9' })
  })

  it('mute is told back with the changed field, every time', async () => {
    const { page, self } = await talking()
    for (const [method, muted] of [
      ['call.mute', true],
      ['call.mute', true],
      ['call.unmute', false],
    ] as const) {
      const result = await page.ask(method, { channels: ['audio'], self, target: self })
      expect(result).toEqual({ code: '200', message: 'OK' })
      const { member } = await page.event('member.updated')
      expect(member).toMatchObject({
        member_id: self.member_id,
        audio_muted: muted,
        updated: ['audio_muted'],
      })
    }
  })

  it.each([
    ['call.deaf', {}, { deaf: true, updated: ['deaf'] }],
    ['call.raisehand', {}, { handraised: true }],
    ['call.microphone.volume.set', { volume: 99 }, { input_volume: 50 }],
    ['call.microphone.sensitivity.set', { value: 20 }, { input_sensitivity: 20 }],
    ['call.audioflags.set', { auto_gain: false }, { auto_gain: false, updated: ['auto_gain'] }],
    ['call.mute', { channels: ['video'], target: { member_id: 'all' } }, { video_muted: true }],
  ])('%s changes the member', async (method, params, expected) => {
    const { page, self } = await talking()
    await page.ask(method, { self, ...params })
    expect((await page.event('member.updated')).member).toMatchObject(expected)
  })

  it('lists, locks and ends are answered', async () => {
    const { page, self, owner } = await talking()
    expect((await page.ask('call.member.list', { self })).members).toHaveLength(1)
    expect((await page.ask('call.layout.list', { self })).layouts).toEqual([])
    expect(await page.ask('call.lock', { self })).toMatchObject({ code: '200' })
    const stranger = { member_id: 'x', call_id: 'c1' }
    expect(await page.ask('call.mute', { self, target: stranger })).toMatchObject({ code: '404' })
    expect(await page.ask('call.end', { self })).toMatchObject({ code: '200' })
    expect(await page.message('verto.bye')).toMatchObject({ callID: 'c1' })
    expect(owner.told.at(-1)).toBe('ended normal by far')
    expect(await page.ask('call.mute', { self })).toMatchObject({ code: '404' })
  })

  it('hold, unhold and a new offer are answered', async () => {
    const { page } = await talking()
    expect(await page.verto('verto.modify', 'c1', { action: 'hold' })).toEqual({
      action: 'hold',
      callID: 'c1',
      holdState: 'held',
    })
    expect(await page.verto('verto.modify', 'c1', { action: 'updateMedia', sdp: 'more' })).toEqual({
      action: 'updateMedia',
      callID: 'c1',
      holdState: 'held',
      sdp: 'answer to more',
    })
    expect(await page.verto('verto.modify', 'c1', { action: 'unhold' })).toMatchObject({
      holdState: 'active',
    })
    expect(await page.verto('verto.modify', 'c1', { action: 'updateMedia', sdp: 'bad' })).toMatchObject({
      code: '488',
    })
  })

  it('requests about a call that is over succeed, and the page is told that it is over', async () => {
    const page = await gateway.signedIn()
    expect(await page.verto('verto.modify', 'gone', { action: 'hold' })).toMatchObject({
      holdState: 'active',
    })
    expect(await page.message('verto.bye')).toMatchObject({ callID: 'gone' })
    expect(await page.verto('verto.answer', 'gone', { sdp: 'late' })).toMatchObject({ callID: 'gone' })
    expect(await page.message('verto.bye')).toMatchObject({ callID: 'gone' })
    await page.verto('verto.info', 'gone', { dtmf: '1' })
    await page.verto('verto.subscribe', 'gone', {}, {}).catch(() => {})
  })

  it.each([
    [{ message: 7 }],
    [{ message: { method: 'verto.invite', params: {} } }],
    [{ message: { method: 'verto.invite', params: { dialogParams: { callID: 'c' } } } }],
    [{ message: { method: 'verto.modify', params: { dialogParams: { callID: 'c' }, action: 'x' } } }],
    [{ message: { method: 'verto.what', params: { dialogParams: { callID: 'c' } } } }],
    [{ message: { method: 'verto.info', params: { dialogParams: { callID: 'x'.repeat(200) }, dtmf: '1' } } }],
  ])('a malformed message is refused with the field at fault: %j', async (params) => {
    const page = await gateway.signedIn()
    expect((await page.browser.send('webrtc.verto', params)).error).toMatchObject({ code: -32602 })
  })

  it('the answers to our own messages are taken', async () => {
    const page = await gateway.signedIn()
    const message = { jsonrpc: '2.0', id: 1, result: { method: 'verto.answer' } }
    expect(await page.ask('webrtc.verto', { message, node_id: 'node-1' })).toMatchObject({ code: '200' })
  })
})

describe('a call rings at a subscriber', () => {
  /** Pages that ring, and the call. */
  const ringing = async (count: number) => {
    const pages: Page[] = []
    for (let i = 0; i < count; i++) pages.push(await gateway.online())
    const call = gateway.call()
    for (const page of pages) await page.message('verto.invite')
    return { pages, ...call, media: gateway.webrtc.last }
  }

  it('who is not online', async () => {
    await gateway.signedIn()
    const { leg, owner } = gateway.call()
    expect(leg.state.kind).toBe('new')
    await vi.waitFor(() => expect(owner.told).toEqual(['ended not_online by far']))
    expect(gateway.webrtc.made).toHaveLength(0)
    expect(gateway.dialect.invitations).toBe(0)
  })

  it('and is answered: the SDK gets its second answer without a description', async () => {
    const page = await gateway.online()
    const { leg, owner } = gateway.call()
    expect(await page.message('verto.invite')).toEqual({
      callID: leg.id,
      sdp: 'our offer',
      caller_id_name: 'Carrier Caller',
      caller_id_number: '+15551230001',
      callee_id_name: 'Alice',
      callee_id_number: '/public/alice',
      display_direction: 'outbound',
    })
    const answer = { destination_number: 'room' }
    expect(await page.verto('verto.answer', leg.id, { sdp: 'their answer' }, answer)).toMatchObject({
      message: 'CALL ANSWERED',
      callID: leg.id,
    })
    expect(await page.message('verto.answer')).toEqual({ callID: leg.id })
    expect(await page.event('call.joined')).toMatchObject({ call_id: leg.id, origin_call_id: leg.id })
    expect(page.story).toEqual(['verto.invite', 'call.state answered', 'call.joined', 'verto.answer'])
    expect(owner.told).toEqual(['early', 'answered'])
    expect(gateway.webrtc.last).toMatchObject({ accepted: ['their answer'], codec: 'PCMA' })
    expect(leg.port).toBe(gateway.webrtc.last.port)
    // The SDK repeats a request whose answer it did not see.
    await page.verto('verto.answer', leg.id, { sdp: 'their answer' })
    await settled(page)
    expect(gateway.webrtc.last.accepted).toHaveLength(1)
    expect(owner.told).toEqual(['early', 'answered'])
  })

  it('on every page with the same offer: the first answer wins, the others are told', async () => {
    const { pages, leg, owner } = await ringing(3)
    const [first, second, third] = pages as [Page, Page, Page]
    expect(gateway.webrtc.made).toHaveLength(1)
    await first.verto('verto.answer', leg.id, { sdp: 'mine' })
    for (const loser of [second, third])
      expect(await loser.message('verto.bye')).toEqual({ callID: leg.id, cause: 'LOSE_RACE', causeCode: 26 })
    // One of them had pressed the button already.
    expect(await second.verto('verto.answer', leg.id, { sdp: 'mine too' })).toMatchObject({ callID: leg.id })
    expect(await second.message('verto.bye')).toMatchObject({ callID: leg.id })
    // Nor can it end what it lost.
    await second.verto('verto.bye', leg.id)
    expect(owner.told).toEqual(['early', 'answered'])
    expect(gateway.webrtc.last.accepted).toEqual(['mine'])
  })

  it('and is busy when every page says so, declined when one says so for all', async () => {
    const { pages, leg, owner } = await ringing(2)
    const busy = { cause: 'USER_BUSY', causeCode: '17' }
    await pages[0]!.verto('verto.bye', leg.id, busy)
    expect(leg.isEnded).toBe(false)
    await pages[1]!.verto('verto.bye', leg.id, busy)
    expect(owner.told).toEqual(['early', 'ended busy by far'])
    const second = gateway.call()
    await pages[1]!.message('verto.invite')
    await pages[0]!.verto('verto.bye', second.leg.id, { cause: 'REJECT_ALL', causeCode: '825' })
    expect(second.owner.told).toEqual(['early', 'ended declined by far'])
    expect(await pages[1]!.message('verto.bye')).toMatchObject({ callID: second.leg.id })
  })

  it('and is cancelled; an answer that comes too late succeeds and is told', async () => {
    const { pages, leg, media } = await ringing(1)
    leg.end({ code: 'canceled' })
    expect(await pages[0]!.message('verto.bye')).toEqual({
      callID: leg.id,
      cause: 'ORIGINATOR_CANCEL',
      causeCode: 16,
    })
    expect(media.closed).toBe(true)
    expect(await pages[0]!.verto('verto.answer', leg.id, { sdp: 'late' })).toMatchObject({ callID: leg.id })
    expect(await pages[0]!.message('verto.bye')).toMatchObject({ callID: leg.id })
  })

  it('before its offer is made, and is cancelled then', async () => {
    const page = await gateway.online()
    const { promise, resolve } = Promise.withResolvers<void>()
    gateway.webrtc.gate = promise
    const { leg } = gateway.call()
    await Promise.resolve()
    leg.end({ code: 'canceled' })
    resolve()
    await vi.waitFor(() => expect(gateway.webrtc.last.closed).toBe(true))
    await settled(page)
    expect(page.story).toEqual([])
  })

  it('and ends when the answer cannot be used', async () => {
    const { pages, leg, owner, media } = await ringing(1)
    await pages[0]!.verto('verto.answer', leg.id, { sdp: 'bad' })
    expect(await pages[0]!.message('verto.bye')).toMatchObject({ cause: 'MANDATORY_IE_MISSING' })
    expect(owner.told).toEqual(['early', 'ended bad_sdp by far'])
    expect(media.closed).toBe(true)
  })

  it('also on a page that comes online meanwhile, once', async () => {
    const { leg } = await ringing(1)
    const late = await gateway.online()
    expect(await late.message('verto.invite')).toMatchObject({ callID: leg.id })
    await late.ask('subscriber.online')
    await settled(late)
    expect(late.story).toEqual(['verto.invite'])
  })

  it('and is answered by a page that was woken by a push notification', async () => {
    const { leg, owner } = await ringing(1)
    const woken = await gateway.signedIn()
    const message = {
      jsonrpc: '2.0',
      id: 1,
      method: 'verto.subscribe',
      params: { sessid: leg.id, eventChannel: [] },
    }
    await woken.ask('webrtc.verto', { callID: leg.id, message })
    await woken.verto('verto.answer', leg.id, { sdp: 'mine' })
    await woken.message('verto.answer')
    expect(owner.told).toEqual(['early', 'answered'])
    const stranger = await gateway.signedIn('bob')
    await stranger.ask('webrtc.verto', { callID: leg.id, message })
    expect(await stranger.message('verto.bye')).toMatchObject({ callID: leg.id })
  })
})

describe('a page that is lost', () => {
  const gone = async (page: Page): Promise<void> => {
    const before = gateway.rpc.sockets
    await page.browser.close()
    await vi.waitFor(() => expect(gateway.rpc.sockets).toBe(before - 1))
  }

  it('takes its calls with it after the grace period', async () => {
    const { page, owner, media } = await talking()
    await gone(page)
    gateway.clock.advance(19_999)
    expect(owner.told.at(-1)).toBe('answered')
    gateway.clock.advance(1)
    expect(owner.told.at(-1)).toBe('ended client_lost by far')
    expect(media.closed).toBe(true)
    expect(gateway.dialect.clients).toBe(0)
    expect(gateway.clock.running).toBe(0)
  })

  it('goes on with its call when it is back in time', async () => {
    const page = await gateway.page()
    const { protocol } = await page.connect(await gateway.token())
    await page.dial('c1', '/public/bob')
    await page.event('call.state')
    gateway.webrtc.last.report('connected')
    const { leg } = gateway.arrivals.arrived[0]!.arrival
    await gone(page)
    leg.ring()
    await leg.answer()
    const again = await gateway.page()
    await again.connect(await gateway.token(), { protocol })
    expect(await again.message('verto.media')).toMatchObject({ callID: 'c1' })
    expect(await again.message('verto.answer')).toEqual({ callID: 'c1' })
    await again.verto('verto.info', 'c1', { dtmf: '5' })
    expect(gateway.arrivals.arrived[0]!.owner.told).toEqual(['answered', 'digit 5'])
  })

  it('leaves an invitation to the others, and ends it when it was the last', async () => {
    const [first, second] = [await gateway.online(), await gateway.online()]
    const { leg, owner } = gateway.call()
    for (const page of [first, second]) await page.message('verto.invite')
    await gone(first)
    gateway.clock.advance(20_000)
    expect(leg.isEnded).toBe(false)
    await gone(second)
    gateway.clock.advance(20_000)
    expect(owner.told).toEqual(['early', 'ended not_online by far'])
    expect(gateway.webrtc.last.closed).toBe(true)
  })

  it.each([
    ['failed', 10_000],
    ['disconnected', 15_000],
  ] as const)('is noticed by its media: %s', async (state, ms) => {
    const { page, media, owner } = await talking()
    media.report(state)
    gateway.clock.advance(ms - 1)
    expect(owner.told.at(-1)).toBe('answered')
    gateway.clock.advance(1)
    expect(owner.told.at(-1)).toBe('ended client_lost by far')
    expect(await page.message('verto.bye')).toMatchObject({ callID: 'c1', cause: 'DESTINATION_OUT_OF_ORDER' })
  })

  it('is not lost when its media comes back', async () => {
    const { media, leg } = await talking()
    media.report('disconnected')
    gateway.clock.advance(10_000)
    media.report('connected')
    gateway.clock.advance(14_000)
    expect(leg.isEnded).toBe(false)
  })

  it('is noticed when its media never comes up', async () => {
    const { page, leg } = await dialled()
    // Its socket goes on: only the call was given up.
    for (let i = 0; i < 30; i++) {
      gateway.clock.advance(1000)
      await settled(page)
    }
    expect(leg.state).toMatchObject({ kind: 'ended', cause: { code: 'client_lost' } })
  })

  it('and everything is gone when the gateway closes', async () => {
    const { leg } = await talking()
    gateway.call()
    gateway.stopGateway()
    expect(leg.isEnded).toBe(true)
    expect(gateway.dialect.clients).toBe(0)
    await vi.waitFor(() => expect(gateway.dialect.invitations).toBe(0))
    await vi.waitFor(() => expect(gateway.clock.running).toBe(0))
  })
})

describe('frames of a whole call', () => {
  it('carry the envelope that both generations of the SDK want', async () => {
    const { page } = await talking()
    for (const request of page.browser.requests) {
      expect(request.method).toBe('signalwire.event')
      const params = request.params as AnyFrame
      expect(params).toMatchObject({ project_id: 'p1', node_id: 'node-1' })
      expect(String(params.event_channel)).toMatch(/^signalwire_/)
    }
  })
})
