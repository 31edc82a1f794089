import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FakeCall, testCallee } from '../../../handlers/common/fake-call.ts'
import {
  type CollectOptions,
  type ConnectOptions,
  type DetectOptions,
  VerbFailed,
} from '../../../handlers/verbs.ts'
import type { AnyFrame } from '../testing.ts'
import { Harness, type TestApplication } from './harness.ts'

let gateway: Harness

beforeEach(async () => {
  gateway = await Harness.start()
})
afterEach(() => gateway.close())

const v3 = { agent: '@signalwire/nodejs/realtime-api/3.13.0', event_acks: undefined }
const tts = [{ type: 'tts', params: { text: 'Hello' } }]

/** The next event of a type, without its ids. */
const next = async (application: TestApplication, type: string): Promise<AnyFrame> => {
  const { call_id, node_id, control_id, ...rest } = await application.event(`calling.call.${type}`)
  expect([call_id, node_id]).toEqual(['c-1', 'node-1'])
  if (control_id !== undefined) expect(control_id).toBe('k')
  return rest
}

describe('every request', () => {
  it('is refused with the field that is wrong', async () => {
    const { ask } = await gateway.taken()
    const bad: [string, AnyFrame, string][] = [
      ['play', { play: tts }, 'control_id'],
      ['play', { control_id: 'k', play: [] }, 'play'],
      ['play', { control_id: 'k', play: [{ type: 'mime' }] }, 'play[0].type'],
      ['play', { control_id: 'k', play: [{ type: 'tts', params: {} }] }, 'play[0].params.text'],
      ['play', { control_id: 'k', play: tts, volume: 41 }, 'volume'],
      ['play', { control_id: 'k', play: [{ type: 'silence', params: { duration: 'x' } }] }, 'duration'],
      ['record', { control_id: 'k', record: { audio: { format: 'ogg' } } }, 'record.audio.format'],
      ['collect', { control_id: 'k' }, 'digits'],
      ['collect', { control_id: 'k', digits: { max: 0 } }, 'digits.max'],
      ['collect', { control_id: 'k', digits: { max: 1.5 } }, 'digits.max'],
      ['play_and_collect', { control_id: 'k', play: tts }, 'collect'],
      ['detect', { control_id: 'k', detect: { type: 'cat' } }, 'detect.type'],
      ['tap', { control_id: 'k', device: { type: 'rtp', params: { addr: '10.0.0.1' } } }, 'port'],
      ['send_digits', { control_id: 'k', digits: '1x' }, 'digits'],
      ['connect', { tag: 't', devices: [] }, 'devices'],
      ['connect', { tag: 't', devices: [[{ type: 'fax', params: {} }]] }, 'devices[0][0].type'],
      ['connect', { tag: 't', devices: [[{ type: 'sip', params: { to: 'sip:a@b' } }]] }, 'from'],
      ['refer', { control_id: 'k' }, 'device'],
      ['user_event', { event: 'x' }, 'event'],
    ]
    for (const [verb, params, field] of bad) {
      const answer = await ask(`calling.${verb}`, params)
      expect([verb, answer.code], JSON.stringify(answer)).toEqual([verb, '400'])
      expect(answer.message).toContain(field)
    }
  })

  it('is refused for what is not there', async () => {
    const { ask, application } = await gateway.taken()
    expect(await ask('calling.play.stop', { control_id: 'k' })).toMatchObject({ code: '404' })
    expect(await ask('calling.disconnect')).toMatchObject({ code: '409' })
    expect(await application.ask('calling.answer', { call_id: 'c-7' })).toMatchObject({ code: '404' })
  })

  it('tells the code of a verb that fails at once', async () => {
    const call = new FakeCall()
    const { ask } = await gateway.taken(call)
    call.failing.set('hold', new VerbFailed('no_audio', 'nothing to hold'))
    expect(await ask('calling.hold')).toEqual({ code: '409', message: 'no_audio: nothing to hold' })
    expect(await ask('calling.unhold')).toMatchObject({ code: '200' })
    expect(await ask('calling.user_event', { event: { a: 1 } })).toMatchObject({ code: '200' })
    expect(call.verbs).toContainEqual(['userEvent', { a: 1 }])
  })

  it('that is repeated under the same id does its work once', async () => {
    const { ask, call } = await gateway.taken()
    for (let i = 0; i < 2; i++)
      expect(await ask('calling.play', { control_id: 'k', play: tts })).toMatchObject({ code: '200' })
    expect(call.names).toEqual(['startPlay'])
  })

  it('is refused when fifty operations are under way', async () => {
    const { ask } = await gateway.taken()
    for (let i = 0; i < 50; i++) await ask('calling.record', { control_id: `k${i}` })
    expect(await ask('calling.record', { control_id: 'one more' })).toMatchObject({ code: '429' })
  })
})

describe('play', () => {
  it('plays a list, is paused, changed and stopped', async () => {
    const { ask, application, call } = await gateway.taken()
    const play = [
      { type: 'tts', params: { text: 'Hello', voice: 'slt', language: 'en-US', gender: 'female' } },
      { type: 'audio', params: { url: 'https://x.example/a.mp3' } },
      { type: 'silence', params: { duration: 1.5 } },
      { type: 'ringtone', params: { name: 'it', duration: 3 } },
    ]
    await ask('calling.play', { control_id: 'k', volume: 4, play })
    expect(call.verbs.at(-1)).toMatchObject([
      'startPlay',
      {
        sounds: [
          { kind: 'speech', text: 'Hello', voice: 'slt', language: 'en-US' },
          { kind: 'audio', url: 'https://x.example/a.mp3' },
          { kind: 'silence', ms: 1500 },
          { kind: 'ringtone', country: 'it', ms: 3000 },
        ],
        volumeDb: 4,
      },
    ])
    const about = { control_id: 'k' }
    for (const what of ['pause', 'resume']) await ask(`calling.play.${what}`, about)
    await ask('calling.play.volume', { ...about, volume: -6 })
    await ask('calling.play.stop', about)
    expect(call.verbs.slice(1).map(([name]) => name)).toEqual(['pause', 'resume', 'setVolume', 'stop'])
    for (const state of ['playing', 'paused', 'playing', 'finished'])
      expect(await next(application, 'play')).toEqual({ state })
  })

  it('answers a call with what it tells, and says so', async () => {
    const application = await gateway.listener()
    gateway.arrives()
    const { call_id } = await application.event('calling.call.receive')
    await application.ask('calling.play', { call_id, control_id: 'k', play: tts })
    await next(application, 'play')
    expect(application.story).toEqual(['receive created', 'state answered', 'play playing'])
  })

  it('tells that it failed', async () => {
    const { ask, application, call } = await gateway.taken()
    call.failing.set('startPlay', new VerbFailed('sound_failed', 'not there'))
    await ask('calling.play', { control_id: 'k', play: tts })
    expect(await next(application, 'play')).toEqual({ state: 'error', error: 'sound_failed' })
  })
})

describe('record', () => {
  it('records as the clients ask, is paused and stopped', async () => {
    const { ask, application, call } = await gateway.taken()
    const audio = { beep: true, format: 'mp3', stereo: true, end_silence_timeout: 0, initial_timeout: 0 }
    await ask('calling.record', { control_id: 'k', record: { audio } })
    expect(call.verbs.at(-1)?.[1]).toMatchObject({
      ...{ beep: true, format: 'mp3', tracks: 'stereo', initialSilenceMs: Number.POSITIVE_INFINITY },
      terminators: '#*',
    })
    expect(call.verbs.at(-1)?.[1]).not.toHaveProperty('endSilenceMs')
    await ask('calling.record.pause', { control_id: 'k', behavior: 'skip' })
    await ask('calling.record.resume', { control_id: 'k' })
    await ask('calling.record.stop', { control_id: 'k' })
    const url = 'https://gw.example/r-1'
    for (const state of ['recording', 'paused', 'recording'])
      expect(await next(application, 'record')).toEqual({ state, url: url, record: { audio } })
    expect(await next(application, 'record')).toMatchObject({ state: 'finished', duration: 2, size: 32_044 })
  })

  it('has the defaults of the hosted service, and each direction', async () => {
    const { ask, call } = await gateway.taken()
    const directions = [undefined, 'speak', 'listen', 'both']
    for (const [i, direction] of directions.entries())
      await ask('calling.record', { control_id: `k${i}`, record: { audio: { direction } } })
    const options = call.verbs.map(([, given]) => given)
    expect(options[0]).toMatchObject({ initialSilenceMs: 5000, endSilenceMs: 1000, terminators: '#*' })
    expect(options.map((o) => (o as AnyFrame).tracks)).toEqual(['in', 'in', 'out', 'both'])
  })

  it('that cannot be made ends as one without input', async () => {
    const { ask, application, call } = await gateway.taken()
    call.failing.set('startRecording', new VerbFailed('recording_no_space', 'full'))
    await ask('calling.record', { control_id: 'k' })
    expect(await next(application, 'record')).toMatchObject({
      state: 'no_input',
      error: 'recording_no_space',
    })
  })
})

describe('collect', () => {
  it('reads what is to be collected, and tells digits', async () => {
    const { ask, application, call } = await gateway.taken()
    call.collects.push({ reason: 'terminator', digits: '12', terminator: '#' })
    const speech = { end_silence_timeout: 2, speech_timeout: 20, language: 'de-DE', hints: ['ja'] }
    const digits = { max: 4, digit_timeout: 3, terminators: '#' }
    await ask('calling.collect', { control_id: 'k', digits, speech, initial_timeout: 7 })
    expect(call.verbs.at(-1)?.[1]).toMatchObject({
      ...{ maxDigits: 4, interDigitTimeoutMs: 3000, terminators: '#', digits: true, holdTimers: true },
      initialTimeoutMs: 7000,
      speech: { language: 'de-DE', hints: ['ja'], endSilenceMs: 2000, maxSpeechMs: 20_000 },
    })
    expect(await next(application, 'collect')).toEqual({
      ...{ state: 'finished', final: true },
      result: { type: 'digit', params: { digits: '12', terminator: '#' } },
    })
  })

  it('tells what was understood, in per cent', async () => {
    const { ask, application, call } = await gateway.taken()
    call.collects.push({ reason: 'speech', digits: '', speech: { text: 'yes', confidence: 0.5 } })
    await ask('calling.collect', { control_id: 'k', speech: {}, start_input_timers: true })
    expect(call.verbs.at(-1)?.[1]).toMatchObject({ digits: false, holdTimers: false })
    expect(await next(application, 'collect')).toMatchObject({
      result: { type: 'speech', params: { text: 'yes', confidence: 50 } },
    })
  })

  it('tells parts and the beginning of input when it is asked to', async () => {
    const { ask, application, call } = await gateway.taken()
    call.during.set('startCollect', (options: CollectOptions) => {
      options.onInput?.('digits')
      options.onDigits?.('1')
      options.speech?.onPartial?.('ye')
    })
    const wishes = { digits: { max: 2 }, speech: {}, partial_results: true, send_start_of_input: true }
    await ask('calling.collect', { control_id: 'k', ...wishes })
    expect(await next(application, 'collect')).toEqual({
      ...{ state: 'collecting', result: { type: 'start_of_input', params: { type: 'digits' } } },
    })
    expect(await next(application, 'collect')).toMatchObject({
      ...{ state: 'collecting', final: false, result: { type: 'digit', params: { digits: '1' } } },
    })
    expect(await next(application, 'collect')).toMatchObject({
      ...{ state: 'collecting', final: false, result: { type: 'speech', params: { text: 'ye' } } },
    })
  })

  it.each([
    ['no-input', 'no_input'],
    ['error', 'error'],
  ] as const)('tells %s to 3.x, and no digits to 4.2, which would wait for ever', async (reason, type) => {
    const old = new FakeCall()
    old.collects.push({ reason, digits: '' })
    const three = await gateway.taken(old, v3)
    await three.ask('calling.collect', { control_id: 'k', digits: { max: 1 } })
    expect(await next(three.application, 'collect')).toMatchObject({ state: 'finished', result: { type } })
    await three.application.socket.close()
    const four = await gateway.taken(new FakeCall())
    four.call.collects.push({ reason, digits: '' })
    await four.ask('calling.collect', { control_id: 'k', digits: { max: 1 } })
    expect(await next(four.application, 'collect')).toMatchObject({
      result: { type: 'digit', params: { digits: '', terminator: '' } },
    })
  })

  it('goes on until it is stopped when it is continuous', async () => {
    const { ask, application, call } = await gateway.taken(new FakeCall(), v3)
    for (const digits of ['1', '2']) call.collects.push({ reason: 'complete', digits })
    await ask('calling.collect', { control_id: 'k', digits: { max: 1 }, continuous: true })
    for (const digits of ['1', '2'])
      expect(await next(application, 'collect')).toMatchObject({
        ...{ state: 'collecting', final: true, result: { type: 'digit', params: { digits } } },
      })
    await ask('calling.collect.start_input_timers', { control_id: 'k' })
    await ask('calling.collect.stop', { control_id: 'k' })
    expect(await next(application, 'collect')).toMatchObject({
      state: 'finished',
      result: { type: 'no_input' },
    })
    expect(call.names).toEqual([...Array(3).fill('startCollect'), 'startTimers', 'stop'])
  })

  it('prompts, under the id of the prompt', async () => {
    const { ask, application, call } = await gateway.taken()
    call.collects.push({ reason: 'complete', digits: '7' })
    const id = 'x.prompt'
    await ask('calling.play_and_collect', {
      ...{ control_id: id, play: tts, volume: 2, collect: { digits: { max: 1 } } },
    })
    expect(call.verbs.at(-1)?.[1]).toMatchObject({
      prompt: { sounds: [{ kind: 'speech', text: 'Hello' }], volumeDb: 2 },
    })
    expect(await application.event('calling.call.collect')).toMatchObject({ control_id: id, final: true })
    expect(await ask('calling.play_and_collect.stop', { control_id: id })).toMatchObject({ code: '404' })
  })
})

describe('detect, tap, digits and refer', () => {
  it('tells each finding and the end', async () => {
    const { ask, application, call } = await gateway.taken()
    call.during.set('detect', ({ onFinding }: DetectOptions) => {
      onFinding?.({ kind: 'machine' })
      onFinding?.({ kind: 'notReady' })
      onFinding?.({ kind: 'ready', beep: true })
    })
    const params = { machine_words_threshold: 4, initial_timeout: 2 }
    await ask('calling.detect', { control_id: 'k', timeout: 20, detect: { type: 'machine', params } })
    expect(call.verbs.at(-1)?.[1]).toMatchObject({
      ...{ timeoutMs: 20_000, machine: { wordsThreshold: 4, initialTimeoutMs: 2000, waitForEnd: true } },
    })
    const detect = (params: AnyFrame) => ({ detect: { type: 'machine', params } })
    expect(await next(application, 'detect')).toEqual(detect({ event: 'MACHINE' }))
    expect(await next(application, 'detect')).toEqual(detect({ event: 'NOT_READY' }))
    expect(await next(application, 'detect')).toEqual(detect({ event: 'READY', beep: true }))
    expect(await next(application, 'detect')).toEqual(detect({ event: 'finished' }))
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
    expect(await next(application, 'detect')).toEqual({ detect: { type, params: { event } } })
  })

  it('tells that detection failed', async () => {
    const { ask, application, call } = await gateway.taken()
    call.failing.set('detect', new VerbFailed('verb_unavailable', 'no detector'))
    await ask('calling.detect', { control_id: 'k', detect: { type: 'fax', params: {} } })
    expect(await next(application, 'detect')).toMatchObject({ detect: { params: { event: 'error' } } })
  })

  it.each([
    [
      { type: 'ws', params: { uri: 'wss://x.example/a', codec: 'L16', rate: 16_000 } },
      { url: 'wss://x.example/a', codec: 'L16', sampleRate: 16_000 },
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
    expect(await next(application, 'tap')).toEqual({ state: 'tapping', tap, device })
    await ask('calling.tap.stop', { control_id: 'k' })
    expect(await next(application, 'tap')).toEqual({ state: 'finished', tap, device })
  })

  it('sends digits, and tells when they could not be', async () => {
    const { ask, application, call } = await gateway.taken()
    await ask('calling.send_digits', { control_id: 'k', digits: '1w2' })
    expect(await next(application, 'send_digits')).toEqual({ state: 'finished' })
    call.failing.set('sendDigits', new VerbFailed('no_audio', 'none'))
    await ask('calling.send_digits', { control_id: 'k', digits: '1' })
    expect(await next(application, 'send_digits')).toEqual({ state: 'failed', error: 'no_audio' })
  })

  it('refers, and tells how that ended before the call is over', async () => {
    const { ask, application, call } = await gateway.taken()
    const device = { type: 'sip', params: { to: 'sip:b@x.example', username: 'u', password: 'p' } }
    await ask('calling.refer', { control_id: 'k', device })
    expect(call.verbs.at(-1)?.[1]).toMatchObject({ to: 'sip:b@x.example', username: 'u', password: 'p' })
    expect(await next(application, 'refer')).toMatchObject({ state: 'in_progress' })
    expect(await next(application, 'refer')).toMatchObject({
      ...{ state: 'success', sip_refer_response_code: '202', sip_notify_response_code: '200' },
    })
  })
})

describe('connect', () => {
  const sip = { type: 'sip', params: { from: 'sip:me@demo', to: testCallee.to, timeout: 20 } }
  const wire = { type: 'sip', params: { from: 'sip:me@demo', to: testCallee.to, headers: [] } }
  const phone = { type: 'phone', params: { from_number: '+1', to_number: '+2' } }

  it('reads devices in series and together, with all their options', async () => {
    const { ask, call } = await gateway.taken()
    const headers = [{ name: 'X-A', value: 'b' }]
    const full = { ...sip.params, headers, codecs: ['OPUS', 'VP8', 'PCMU'], session_timeout: 600 }
    const ringback = [{ type: 'ringtone', params: { name: 'us' } }]
    await ask('calling.connect', {
      ...{ tag: 't', ringback, devices: [[{ type: 'sip', params: full }, phone], [phone]] },
    })
    expect(call.verbs.at(-1)?.[1]).toMatchObject({
      steps: [
        [
          {
            ...{ to: testCallee.to, from: 'sip:me@demo', timeoutMs: 20_000, headers },
            ...{ codecs: ['opus', 'PCMU'], sessionTimerSeconds: 600 },
          },
          { to: '+2', from: '+1' },
        ],
        [{ to: '+2', from: '+1' }],
      ],
      ringback: [{ kind: 'ringtone', country: 'us' }],
      answerOnBridge: true,
    })
  })

  it('tells of every leg, of the peer, and that the two were parted', async () => {
    const { ask, application, call } = await gateway.taken()
    const parted = Promise.withResolvers<void>()
    const pressed: string[] = []
    call.during.set('connect', ({ steps, onConnected }: ConnectOptions) => {
      const told = steps[0]?.[0]?.onState
      for (const kind of ['initiated', 'ringing', 'answered'] as const) told?.({ kind, callee: testCallee })
      const sendDigits = async (digits: string) => void pressed.push(digits)
      onConnected?.({ callee: testCallee, hangup: () => parted.resolve(), sendDigits })
      return parted.promise
    })
    await ask('calling.connect', { tag: 't', devices: [[sip]] })
    expect(await next(application, 'connect')).toEqual({ tag: 't', connect_state: 'connecting' })
    for (const call_state of ['created', 'ringing', 'answered'])
      expect(
        await application.socket
          .frame((f) => ((f.params as AnyFrame)?.params as AnyFrame)?.tag === 't')
          .then((f) => (f.params as AnyFrame).params),
      ).toMatchObject({ call_id: 'c-2', tag: 't', direction: 'outbound', call_state, device: wire })
    const peer = { call_id: 'c-2', tag: 't', device: wire }
    expect(await next(application, 'connect')).toEqual({ tag: 't', connect_state: 'connected', peer })
    expect(await ask('calling.connect', { tag: 'u', devices: [[sip]] })).toMatchObject({ code: '409' })
    const ofPeer = { call_id: 'c-2', control_id: 'p' }
    await application.ask('calling.send_digits', { ...ofPeer, digits: '5' })
    expect(await application.event('calling.call.send_digits')).toMatchObject({ call_id: 'c-2' })
    expect(pressed).toEqual(['5'])
    expect(await application.ask('calling.play', { ...ofPeer, play: tts })).toMatchObject({ code: '422' })
    expect(await ask('calling.disconnect')).toMatchObject({ code: '200' })
    expect(await next(application, 'connect')).toEqual({ tag: 't', connect_state: 'disconnected', peer })
    expect(await application.ask('calling.end', { call_id: 'c-2' })).toMatchObject({ code: '404' })
  })

  it('tells why it failed', async () => {
    const { ask, application, call } = await gateway.taken()
    call.connects.push({ kind: 'failed', reason: 'no-answer', code: 'no_answer' })
    await ask('calling.connect', { tag: 't', devices: [[phone]] })
    await next(application, 'connect')
    expect(await next(application, 'connect')).toEqual({
      ...{ tag: 't', connect_state: 'failed', failed_reason: 'noAnswer', error: 'no_answer' },
    })
  })
})

describe('the end of a call', () => {
  it('comes after that of every operation', async () => {
    const { ask, application, call } = await gateway.taken(new FakeCall(), v3)
    const never = Promise.withResolvers<never>()
    call.signal.addEventListener('abort', () => never.reject(new Error('the call is over')))
    never.promise.catch(() => {})
    for (const verb of ['detect', 'connect', 'sendDigits']) call.during.set(verb, () => never.promise)
    await ask('calling.play', { control_id: 'a', play: tts })
    await ask('calling.record', { control_id: 'b' })
    await ask('calling.collect', { control_id: 'c', digits: { max: 1 } })
    await ask('calling.detect', { control_id: 'd', detect: { type: 'fax', params: {} } })
    const device = { type: 'ws', params: { uri: 'ws://x' } }
    await ask('calling.tap', { control_id: 'e', device })
    await ask('calling.send_digits', { control_id: 'f', digits: '1' })
    const to = { type: 'phone', params: { from_number: '+1', to_number: '+2' } }
    await ask('calling.connect', { tag: 't', devices: [[to]] })
    call.end()
    await application.socket.frame(
      (f) => ((f.params as AnyFrame)?.params as AnyFrame)?.call_state === 'ended',
    )
    const story = application.story
    const end = story.slice(story.indexOf('state ending') + 1)
    expect(end.at(-1)).toBe('state ended')
    expect(end.slice(0, -1).sort()).toEqual([
      'collect finished',
      'connect failed',
      'detect finished',
      'play finished',
      'record finished',
      'send_digits failed',
      'tap finished',
    ])
    expect(gateway.dialect.calls).toBe(0)
  })
})
