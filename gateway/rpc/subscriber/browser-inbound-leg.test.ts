import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { dialled, settled, talking } from './testing/call-setup.ts'
import { SubscriberTestGateway } from './testing/subscriber-test-gateway.ts'

let gateway: SubscriberTestGateway

beforeEach(async () => {
  gateway = await SubscriberTestGateway.start()
})
afterEach(() => gateway.close())

describe('a browser that dials', () => {
  it('receives one description and all events in order if it is answered at once', async () => {
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

  it('receives its description early, so that long ringing does not end the call', async () => {
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
    // The start of a prompt waits a limited time for the browser's media.
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

  it('hears ringing or an announcement as soon as it begins', async () => {
    const { page, leg } = await dialled(gateway)
    leg.ring()
    expect(await page.message('verto.media')).toMatchObject({ sdp: 'answer to offer' })
    gateway.clock.advance(2000)
    void leg.progress()
    await settled(page)
    expect(page.story).toEqual(['call.state created', 'call.state ringing', 'verto.media'])
  })

  it('is answered, and the prompt starts, when it can hear', async () => {
    const { leg, media, owner } = await dialled(gateway)
    let heard = false
    const answer = leg.answer().then(() => {
      heard = true
    })
    await Promise.resolve()
    expect(owner.reports).toEqual(['answered'])
    expect(heard).toBe(false)
    media.report('connected')
    await answer
  })

  it('can hang up', async () => {
    const { page, owner, media } = await talking(gateway)
    expect(await page.verto('verto.bye', 'c1')).toMatchObject({
      callID: 'c1',
      cause: 'NORMAL_CLEARING',
      causeCode: 16,
    })
    expect(await page.event('call.left')).toMatchObject({ call_id: 'c1', reason: 'NORMAL_CLEARING' })
    expect(owner.reports.at(-1)).toBe('ended normal by far')
    expect(media.closed).toBe(true)
    expect(page.story).not.toContain('verto.bye')
    expect(page.story.at(-2)).toBe('call.state ended')
    // The SDK repeats unanswered requests.
    expect(await page.verto('verto.bye', 'c1')).toMatchObject({ callID: 'c1' })
  })

  it('can cancel before an answer', async () => {
    const { page, owner } = await dialled(gateway)
    await page.verto('verto.bye', 'c1')
    expect(owner.reports).toEqual(['ended canceled by far'])
  })

  it('that cancels before its offer is answered leaves a CDR', async () => {
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

  it('receives the cause when the gateway hangs up', async () => {
    const { page, leg } = await talking(gateway)
    leg.end({ code: 'max_duration' })
    expect(await page.message('verto.bye')).toEqual({
      callID: 'c1',
      cause: 'ALLOTTED_TIMEOUT',
      causeCode: 102,
    })
    expect(await page.event('call.left')).toBeDefined()
  })

  it('receives only the bye if it is rejected', async () => {
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
  ])('with an offer that is %s receives the cause', async (sdp, cause, code) => {
    const page = await gateway.signedIn()
    expect(await page.dial('c1', '/public/bob', sdp)).toMatchObject({ message: 'CALL CREATED' })
    expect(await page.message('verto.bye')).toMatchObject({ callID: 'c1', cause })
    expect(await gateway.metrics.text()).toContain(`trunkline_rejections_total{code="${code}"} 1`)
  })

  it('reaches carriers only with permission', async () => {
    const bob = await gateway.signedIn('bob')
    await bob.dial('c1', 'sip:+15551230001@carrier.example')
    expect(await bob.message('verto.bye')).toMatchObject({ cause: 'OUTGOING_CALL_BARRED', causeCode: 52 })
    expect(gateway.arrivals.arrived).toHaveLength(0)
    const { leg } = await dialled(gateway, 'sip:+15551230001@carrier.example')
    expect(leg.to).toMatchObject({ uri: 'sip:+15551230001@carrier.example', user: '+15551230001' })
  })

  it('can use a URI with a password, which no log line contains', async () => {
    const { leg } = await dialled(gateway, 'sip:bob:pa55@carrier.example')
    expect(leg.to).toMatchObject({ uri: 'sip:bob:pa55@carrier.example', user: 'bob' })
    const bob = await gateway.signedIn('bob')
    await bob.dial('c2', 'sip:bob:pa55@carrier.example')
    await bob.message('verto.bye')
    expect(gateway.lines.join('')).toContain('sip:bob@carrier.example')
    expect(gateway.lines.join('')).not.toContain('pa55')
  })

  it('can send variables, whose values no log line contains', async () => {
    const page = await gateway.signedIn()
    await page.dial('c1', '/public/bob', 'offer', { userVariables: { session: 'pa55' } })
    await vi.waitFor(() => expect(gateway.arrivals.arrived).toHaveLength(1))
    const lines = gateway.lines.map((line) => JSON.parse(line)).filter((line) => 'userVariables' in line)
    expect(lines).toMatchObject([{ level: 20, userVariables: ['session'] }])
    expect(gateway.lines.join('')).not.toContain('pa55')
    expect(gateway.arrivals.arrived[0]?.arrival.userVariables).toEqual({ session: 'pa55' })
  })

  it('receives an error for variables that are too large', async () => {
    const page = await gateway.signedIn()
    const userVariables = { text: 'x'.repeat(3000) }
    await expect(page.dial('c1', '/public/bob', 'offer', { userVariables })).rejects.toThrow(
      'dialogParams.userVariables: expected at most 2048 characters of JSON, found 3011',
    )
    expect(gateway.arrivals.arrived).toEqual([])
  })

  it('receives the cause of an internal failure at every stage', async () => {
    const page = await gateway.signedIn()
    gateway.arrivals.react = () => {
      throw new Error('no such thing')
    }
    await page.dial('c1', '/public/bob')
    const failed = { cause: 'NORMAL_TEMPORARY_FAILURE', causeCode: 41 }
    expect(await page.message('verto.bye')).toEqual({ callID: 'c1', ...failed })
    expect(gateway.webrtc.last.closed).toBe(true)
    expect(gateway.arrivals.arrived[0]!.owner.reports).toEqual(['ended internal by us'])
    // The same id may be used again.
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

  it('has a limited number of concurrent calls', async () => {
    const page = await gateway.signedIn()
    for (let i = 0; i < 20; i++) await page.dial(`c${i}`, '/public/bob')
    await page.dial('one-more', '/public/bob')
    expect(await page.message('verto.bye')).toMatchObject({ callID: 'one-more', cause: 'SWITCH_CONGESTION' })
  })

  it('that dials twice under one id has one call', async () => {
    const { page } = await dialled(gateway)
    await page.dial('c1', '/public/bob')
    await settled(page)
    expect(gateway.webrtc.made).toHaveLength(1)
    expect(gateway.arrivals.arrived).toHaveLength(1)
  })
})

describe('in a call', () => {
  it('digits pass in both directions', async () => {
    const { page, owner, leg } = await talking(gateway)
    await page.verto('verto.info', 'c1', { dtmf: '1w2#d' })
    expect(owner.reports.slice(1)).toEqual(['digit 1', 'digit 2', 'digit #', 'digit D'])
    await leg.sendDigits('9')
    expect(await page.message('verto.info')).toEqual({ callID: 'c1', dtmf: '9' })
  })

  it('a handler sends events of its own to the page', async () => {
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

  it('a page receives the words of an agent, without its functions, and no event that is too large', async () => {
    const { page, leg, arrival } = await talking(gateway)
    leg.transcript({ type: 'function_call', params: { function: 'pay', arguments: '{"card":"4111"}' } })
    leg.transcript({ type: 'speech_detect', params: { text: 'x'.repeat(16_384) } })
    leg.transcript({ type: 'partial_result', params: { text: 'Hello', call_id: 'x' } })
    expect(await page.event('ai.partial_result')).toEqual({
      text: 'Hello',
      call_id: 'c1',
      node_id: 'node-1',
      room_session_id: arrival.callId,
    })
    expect(page.story.filter((type) => type.startsWith('ai.'))).toEqual(['ai.partial_result'])
  })

  it.each([
    ['count once', 'again', ['digit 7']],
    ['count again if the id is longer than those of pages', 'x'.repeat(129), ['digit 7', 'digit 7']],
  ])('digits that a page repeats after a lost connection %s', async (_what, id, pressed) => {
    const { page, owner } = await talking(gateway)
    const params = { dialogParams: { callID: 'c1' }, dtmf: '7' }
    const message = { jsonrpc: '2.0', id, method: 'verto.info', params }
    for (let i = 0; i < 2; i++) await page.ask('webrtc.verto', { message, callID: 'c1' })
    await settled(page)
    expect(owner.reports.slice(1)).toEqual(pressed)
  })

  it('every mute is reported with the changed field', async () => {
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

  it('requests for lists, locks and ends are answered', async () => {
    const { page, self, owner } = await talking(gateway)
    expect((await page.ask('call.member.list', { self })).members).toHaveLength(1)
    expect((await page.ask('call.layout.list', { self })).layouts).toEqual(['full-screen'])
    expect(await page.ask('call.lock', { self })).toMatchObject({ code: '200' })
    const stranger = { member_id: 'x', call_id: 'c1' }
    expect(await page.ask('call.mute', { self, target: stranger })).toMatchObject({ code: '404' })
    expect(await page.ask('call.end', { self })).toMatchObject({ code: '200' })
    expect(await page.message('verto.bye')).toMatchObject({ callID: 'c1' })
    expect(owner.reports.at(-1)).toBe('ended normal by far')
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

  it('an offer that is repeated with its candidates has one answer, and one after a rejection', async () => {
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

  it('a page that dials again under the id of a cancelled call can end its second call', async () => {
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
    await vi.waitFor(() => expect(owner.reports).toEqual(['ended canceled by far']))
  })

  it('a ringing call cannot be held or renegotiated, and rings on', async () => {
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

  it('failed media have the full time to connect after a new offer', async () => {
    const { page, media, leg } = await talking(gateway)
    media.report('failed')
    await page.verto('verto.modify', 'c1', { action: 'updateMedia', sdp: 'anew' })
    gateway.clock.advance(20_000)
    expect(leg.isEnded).toBe(false)
    media.report('connected')
    gateway.clock.advance(11_000)
    expect(leg.isEnded).toBe(false)
  })

  it('requests about an ended call succeed, and an event reports its end', async () => {
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
  ])('a malformed message is rejected with the name of the field: %j', async (params) => {
    const page = await gateway.signedIn()
    expect((await page.browser.send('webrtc.verto', params)).error).toMatchObject({ code: -32602 })
  })

  it('replies to messages of the gateway are accepted', async () => {
    const page = await gateway.signedIn()
    const message = { jsonrpc: '2.0', id: 1, result: { method: 'verto.answer' } }
    expect(await page.ask('webrtc.verto', { message, node_id: 'node-1' })).toMatchObject({ code: '200' })
  })
})
