import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { dialled, settled, talking } from './testing/call-setup.ts'
import { SubscriberTestGateway } from './testing/subscriber-test-gateway.ts'

let gateway: SubscriberTestGateway

beforeEach(async () => {
  gateway = await SubscriberTestGateway.start()
})
afterEach(() => gateway.close())

describe('a page dials', () => {
  it('and is answered at once: one description, and everything in order', async () => {
    gateway.arrivals.react = (leg) => void leg.answer()
    const { page, result, arrival } = await dialled(gateway)
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
    const { page, leg, arrival } = await dialled(gateway)
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
    const { page, leg } = await dialled(gateway)
    leg.ring()
    expect(await page.message('verto.media')).toMatchObject({ sdp: 'answer to offer' })
    gateway.clock.advance(2000)
    void leg.progress()
    await settled(page)
    expect(page.story).toEqual(['call.state created', 'call.state ringing', 'verto.media'])
  })

  it('and its leg is answered, and the prompt starts, when it can hear', async () => {
    const { leg, media, owner } = await dialled(gateway)
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
    const { page, owner, media } = await talking(gateway)
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
    const { page, owner } = await dialled(gateway)
    await page.verto('verto.bye', 'c1')
    expect(owner.told).toEqual(['ended canceled by far'])
  })

  it('and gives up before its offer is answered, which leaves a record', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    gateway.webrtc.gate = promise
    const page = await gateway.signedIn()
    await page.dial('c1', '/public/bob')
    await page.verto('verto.bye', 'c1')
    resolve()
    await vi.waitFor(() => expect(gateway.webrtc.last.closed).toBe(true))
    expect(gateway.arrivals.arrived).toHaveLength(1)
    const { leg, plan, projectId } = gateway.arrivals.arrived[0]!.arrival
    expect(leg.state).toEqual({ kind: 'ended', cause: { code: 'canceled' }, by: 'far' })
    expect([plan, projectId, leg.to.user]).toEqual([{ kind: 'dial', to: '/public/bob' }, 'p1', 'bob'])
    expect(page.story).toEqual([])
  })

  it('and is hung up on, with the cause', async () => {
    const { page, leg } = await talking(gateway)
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
    const { page, media } = await dialled(gateway, '/public/nobody')
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
    const { leg } = await dialled(gateway, 'sip:+15551230001@carrier.example')
    expect(leg.to).toMatchObject({ uri: 'sip:+15551230001@carrier.example', user: '+15551230001' })
  })

  it('a URI with a password, which no log line shows', async () => {
    const { leg } = await dialled(gateway, 'sip:bob:pa55@carrier.example')
    expect(leg.to).toMatchObject({ uri: 'sip:bob:pa55@carrier.example', user: 'bob' })
    const bob = await gateway.signedIn('bob')
    await bob.dial('c2', 'sip:bob:pa55@carrier.example')
    await bob.message('verto.bye')
    expect(gateway.lines.join('')).toContain('sip:bob@carrier.example')
    expect(gateway.lines.join('')).not.toContain('pa55')
  })

  it('with variables of its own, whose values no log line shows', async () => {
    const page = await gateway.signedIn()
    await page.dial('c1', '/public/bob', 'offer', { userVariables: { session: 'pa55' } })
    await vi.waitFor(() => expect(gateway.arrivals.arrived).toHaveLength(1))
    const told = gateway.lines.map((line) => JSON.parse(line)).filter((line) => 'userVariables' in line)
    expect(told).toMatchObject([{ level: 20, userVariables: ['session'] }])
    expect(gateway.lines.join('')).not.toContain('pa55')
    expect(gateway.arrivals.arrived[0]?.arrival.userVariables).toEqual({ session: 'pa55' })
  })

  it('with variables that are too large, and is told so in the reply', async () => {
    const page = await gateway.signedIn()
    const userVariables = { text: 'x'.repeat(3000) }
    await expect(page.dial('c1', '/public/bob', 'offer', { userVariables })).rejects.toThrow(
      'dialogParams.userVariables: expected at most 2048 characters of JSON, found 3011',
    )
    expect(gateway.arrivals.arrived).toEqual([])
  })

  it('and hears that something of ours failed, wherever it did', async () => {
    const page = await gateway.signedIn()
    gateway.arrivals.react = () => {
      throw new Error('no such thing')
    }
    await page.dial('c1', '/public/bob')
    const failed = { cause: 'NORMAL_TEMPORARY_FAILURE', causeCode: 41 }
    expect(await page.message('verto.bye')).toEqual({ callID: 'c1', ...failed })
    expect(gateway.webrtc.last.closed).toBe(true)
    expect(gateway.arrivals.arrived[0]!.owner.told).toEqual(['ended internal by us'])
    // The same id is free again.
    gateway.arrivals.react = (leg) => void leg.answer()
    await page.dial('c1', '/public/bob')
    expect(await page.message('verto.answer')).toMatchObject({ callID: 'c1' })

    const bob = await gateway.signedIn('bob')
    const resolve = vi.spyOn(gateway.directory, 'resolve').mockImplementationOnce(() => {
      throw new Error('no directory')
    })
    await bob.dial('c2', '/public/alice')
    expect(await bob.message('verto.bye')).toEqual({ callID: 'c2', ...failed })
    resolve.mockRestore()
    await bob.dial('c2', '/public/alice')
    expect(await bob.message('verto.answer')).toMatchObject({ callID: 'c2' })
  })

  it('no more often than it may at once', async () => {
    const page = await gateway.signedIn()
    for (let i = 0; i < 20; i++) await page.dial(`c${i}`, '/public/bob')
    await page.dial('one-more', '/public/bob')
    expect(await page.message('verto.bye')).toMatchObject({ callID: 'one-more', cause: 'SWITCH_CONGESTION' })
  })

  it('twice with the same id, and has one call', async () => {
    const { page } = await dialled(gateway)
    await page.dial('c1', '/public/bob')
    await settled(page)
    expect(gateway.webrtc.made).toHaveLength(1)
    expect(gateway.arrivals.arrived).toHaveLength(1)
  })
})

describe('in a call', () => {
  it('digits of the page reach the call, and those of the far side the page', async () => {
    const { page, owner, leg } = await talking(gateway)
    await page.verto('verto.info', 'c1', { dtmf: '1w2#d' })
    expect(owner.told.slice(1)).toEqual(['digit 1', 'digit 2', 'digit #', 'digit D'])
    await leg.sendDigits('9')
    expect(await page.message('verto.info')).toEqual({ callID: 'c1', dtmf: '9' })
  })

  it('a handler tells the page what it likes', async () => {
    const { page, leg, arrival } = await talking(gateway)
    expect(leg.userEvent({ type: 'order', id: 7 })).toBe(true)
    expect(await page.event('user_event')).toEqual({
      call_id: 'c1',
      node_id: 'node-1',
      room_session_id: arrival.callId,
      event: { type: 'order', id: 7 },
    })
    leg.end({ code: 'normal' })
    expect(leg.userEvent({ type: 'late' })).toBe(false)
  })

  it.each([
    ['are pressed once', 'again', ['digit 7']],
    ['are not known where the id is longer than those of pages', 'x'.repeat(129), ['digit 7', 'digit 7']],
  ])('digits that a page repeats after its connection broke %s', async (_what, id, pressed) => {
    const { page, owner } = await talking(gateway)
    const params = { dialogParams: { callID: 'c1' }, dtmf: '7' }
    const message = { jsonrpc: '2.0', id, method: 'verto.info', params }
    for (let i = 0; i < 2; i++) await page.ask('webrtc.verto', { message, callID: 'c1' })
    await settled(page)
    expect(owner.told.slice(1)).toEqual(pressed)
  })

  it('mute is told back with the changed field, every time', async () => {
    const { page, self } = await talking(gateway)
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
    ['call.microphone.volume.set', { volume: 50 }, { input_volume: 50 }],
    ['call.microphone.sensitivity.set', { value: 20 }, { input_sensitivity: 20 }],
    ['call.audioflags.set', { auto_gain: false }, { auto_gain: false, updated: ['auto_gain'] }],
    ['call.mute', { channels: ['video'], target: { member_id: 'all' } }, { video_muted: true }],
  ])('%s changes the member', async (method, params, expected) => {
    const { page, self } = await talking(gateway)
    await page.ask(method, { self, ...params })
    expect((await page.event('member.updated')).member).toMatchObject(expected)
  })

  it('lists, locks and ends are answered', async () => {
    const { page, self, owner } = await talking(gateway)
    expect((await page.ask('call.member.list', { self })).members).toHaveLength(1)
    expect((await page.ask('call.layout.list', { self })).layouts).toEqual(['full-screen'])
    expect(await page.ask('call.lock', { self })).toMatchObject({ code: '200' })
    const stranger = { member_id: 'x', call_id: 'c1' }
    expect(await page.ask('call.mute', { self, target: stranger })).toMatchObject({ code: '404' })
    expect(await page.ask('call.end', { self })).toMatchObject({ code: '200' })
    expect(await page.message('verto.bye')).toMatchObject({ callID: 'c1' })
    expect(owner.told.at(-1)).toBe('ended normal by far')
    expect(await page.ask('call.mute', { self })).toMatchObject({ code: '404' })
  })

  it('hold, unhold and a new offer are answered', async () => {
    const { page } = await talking(gateway)
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

  it('an offer that comes again with its candidates has one answer, and one after a refusal', async () => {
    const { page } = await talking(gateway)
    const update = (sdp: string) => page.verto('verto.modify', 'c1', { action: 'updateMedia', sdp })
    expect(await update('more')).toMatchObject({ sdp: 'answer to more' })
    expect(await update('more\r\na=candidate:1 1 udp 1 192.0.2.2 9 typ host')).toEqual({
      action: 'updateMedia',
      callID: 'c1',
      holdState: 'active',
    })
    expect(await update('other')).toMatchObject({ sdp: 'answer to other' })
    for (const _ of [1, 2]) expect(await update('bad')).toMatchObject({ code: '488' })
  })

  it('a page that dials again under the id of what it gave up can end its second call too', async () => {
    const page = await gateway.signedIn()
    const { promise, resolve } = Promise.withResolvers<void>()
    gateway.webrtc.gate = promise
    await page.dial('c1', '/public/bob', 'bad')
    await page.verto('verto.bye', 'c1')
    await page.dial('c1', '/public/bob')
    resolve()
    await page.event('call.state')
    await page.verto('verto.bye', 'c1')
    const [{ owner }] = gateway.arrivals.arrived as [(typeof gateway.arrivals.arrived)[0]]
    await vi.waitFor(() => expect(owner.told).toEqual(['ended canceled by far']))
  })

  it('what rings at a page can neither be held nor have other media, and rings on', async () => {
    const page = await gateway.online()
    const { leg } = gateway.call()
    await page.message('verto.invite')
    expect(await page.verto('verto.modify', leg.id, { action: 'hold' })).toMatchObject({
      holdState: 'active',
    })
    expect(await page.verto('verto.modify', leg.id, { action: 'updateMedia', sdp: 'x' })).toMatchObject({
      code: '488',
    })
    await settled(page)
    expect(page.story).toEqual(['verto.invite'])
    expect(leg.isEnded).toBe(false)
  })

  it('media that failed have the time of new ones once the page has made a new offer', async () => {
    const { page, media, leg } = await talking(gateway)
    media.report('failed')
    await page.verto('verto.modify', 'c1', { action: 'updateMedia', sdp: 'anew' })
    gateway.clock.advance(20_000)
    expect(leg.isEnded).toBe(false)
    media.report('connected')
    gateway.clock.advance(11_000)
    expect(leg.isEnded).toBe(false)
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
