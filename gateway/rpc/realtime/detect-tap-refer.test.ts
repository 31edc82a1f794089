import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type DetectOptions, VerbFailed } from '../../../handlers/verbs.ts'
import type { AnyFrame } from '../testing/test-browser.ts'
import { nextOf, RealtimeTestGateway } from './testing/realtime-test-gateway.ts'

let gateway: RealtimeTestGateway

beforeEach(async () => {
  gateway = await RealtimeTestGateway.start()
})
afterEach(() => gateway.close())

describe('detect, tap, digits and refer', () => {
  it('reports each finding and the end', async () => {
    const { ask, application, call } = await gateway.taken()
    call.during.set('detect', ({ onFinding }: DetectOptions) => {
      onFinding?.({ kind: 'machine' })
      onFinding?.({ kind: 'notReady' })
      onFinding?.({ kind: 'ready', beep: true })
    })
    const params = { machine_words_threshold: 4, initial_timeout: 2 }
    await ask('calling.detect', { control_id: 'k', timeout: 20, detect: { type: 'machine', params } })
    expect(call.verbs.at(-1)?.[1]).toMatchObject({
      timeoutMs: 20_000,
      machine: { wordsThreshold: 4, initialTimeoutMs: 2000, waitForEnd: true },
    })
    const detect = (params: AnyFrame) => ({ detect: { type: 'machine', params } })
    expect(await nextOf(application, 'detect')).toEqual(detect({ event: 'MACHINE' }))
    expect(await nextOf(application, 'detect')).toEqual(detect({ event: 'NOT_READY' }))
    expect(await nextOf(application, 'detect')).toEqual(detect({ event: 'READY', beep: true }))
    expect(await nextOf(application, 'detect')).toEqual(detect({ event: 'finished' }))
  })

  it.each([
    ['fax', {}, { fax: 'CED' }, { kind: 'fax', tone: 'CED' }, 'CED'],
    ['digit', { digits: '12' }, { digits: '12' }, { kind: 'digit', digit: '1' }, '1'],
    ['fax', { tone: 'CNG' }, { fax: 'CNG' }, { kind: 'none' }, 'finished'],
  ] as const)('detects a %s with %j', async (type, params, options, result, event) => {
    const { ask, application, call } = await gateway.taken()
    call.detections.push({ ...result, durationMs: 1 })
    await ask('calling.detect', { control_id: 'k', detect: { type, params } })
    expect(call.verbs.at(-1)?.[1]).toMatchObject(options)
    expect(await nextOf(application, 'detect')).toEqual({ detect: { type, params: { event } } })
  })

  it('reports a failed detection', async () => {
    const { ask, application, call } = await gateway.taken()
    call.failing.set('detect', new VerbFailed('verb_unavailable', 'no detector'))
    await ask('calling.detect', { control_id: 'k', detect: { type: 'fax', params: {} } })
    expect(await nextOf(application, 'detect')).toMatchObject({ detect: { params: { event: 'error' } } })
  })

  it.each([
    [
      { type: 'ws', params: { uri: 'wss://x.example/a', codec: 'L16', rate: 16_000 } },
      { url: 'wss://x.example/a', codec: 'L16', sampleRate: 16_000 },
    ],
    [{ type: 'ws', params: { uri: 'wss://x.example/a' } }, { url: 'wss://x.example/a' }],
    [
      { type: 'ws', params: { uri: 'wss://x.example/a', codec: 'L16', rate: 24_000 } },
      { url: 'wss://x.example/a', codec: 'L16', sampleRate: 24_000 },
    ],
    [
      { type: 'rtp', params: { addr: '2001:db8::1', port: 4000, codec: 'PCMA' } },
      { url: 'rtp://[2001:db8::1]:4000?codec=PCMA' },
    ],
  ])('taps to %j', async (device, options) => {
    const { ask, application, call } = await gateway.taken()
    const tap = { type: 'audio', params: { direction: 'both' } }
    await ask('calling.tap', { control_id: 'k', tap, device })
    expect(call.verbs.at(-1)).toEqual(['startStream', { tracks: 'both', ...options }])
    expect(await nextOf(application, 'tap')).toEqual({ state: 'tapping', tap, device })
    await ask('calling.tap.stop', { control_id: 'k' })
    expect(await nextOf(application, 'tap')).toEqual({ state: 'finished', tap, device })
  })

  it('taps only at the rates of the codec', async () => {
    const { ask } = await gateway.taken()
    const device = { type: 'ws', params: { uri: 'wss://x.example/a', codec: 'PCMA', rate: 16_000 } }
    expect(await ask('calling.tap', { control_id: 'k', tap: { type: 'audio' }, device })).toMatchObject({
      code: '400',
      message: expect.stringContaining('rate'),
    })
  })

  it('streams in a codec with its rate, and rejects an unknown codec', async () => {
    const { ask, call } = await gateway.taken()
    const stream = { control_id: 's', url: 'wss://x.example/a' }
    await ask('calling.stream', { ...stream, codec: 'L16@24000h@40i' })
    expect(call.verbs.at(-1)).toEqual([
      'startStream',
      { url: stream.url, tracks: 'inbound', codec: 'L16', sampleRate: 24_000, packetMs: 40 },
    ])
    const wrong = { ...stream, control_id: 't', codec: 'OPUS' }
    expect(await ask('calling.stream', wrong)).toMatchObject({
      code: '400',
      message: expect.stringContaining('codec'),
    })
  })

  it('sends digits, and reports a failure', async () => {
    const { ask, application, call } = await gateway.taken()
    await ask('calling.send_digits', { control_id: 'k', digits: '1w2' })
    expect(await nextOf(application, 'send_digits')).toEqual({ state: 'finished' })
    call.failing.set('sendDigits', new VerbFailed('no_audio', 'none'))
    await ask('calling.send_digits', { control_id: 'k', digits: '1' })
    expect(await nextOf(application, 'send_digits')).toEqual({ state: 'failed', error: 'no_audio' })
  })

  it('refers, and reports the outcome before the end of the call', async () => {
    const { ask, application, call } = await gateway.taken()
    const device = { type: 'sip', params: { to: 'sip:b@x.example', username: 'u', password: 'p' } }
    await ask('calling.refer', { control_id: 'k', device })
    expect(call.verbs.at(-1)?.[1]).toMatchObject({ to: 'sip:b@x.example', username: 'u', password: 'p' })
    expect(await nextOf(application, 'refer')).toMatchObject({ state: 'in_progress' })
    expect(await nextOf(application, 'refer')).toMatchObject({
      state: 'success',
      sip_refer_response_code: '202',
      sip_notify_response_code: '200',
    })
  })
})
