import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Call } from './call.ts'
import { type Collected, SignalWire } from './index.ts'
import { TestGateway } from './testing.ts'
import type { Values } from './wire.ts'

let gateway: TestGateway
let call: Call

beforeEach(async () => {
  gateway = await TestGateway.open()
  const client = await SignalWire({ project: 'demo', token: 'x', host: gateway.host })
  onTestFinished(() => client.disconnect())
  const { promise, resolve } = Promise.withResolvers<Call>()
  await client.voice.listen({ topics: ['office'], onCallReceived: resolve })
  gateway.tell('receive', { call_id: 'c1', node_id: 'n1', context: 'office', direction: 'inbound' })
  call = await promise
})
afterEach(() => gateway.close())

/** Returns a started operation's request and a function that sends its events. */
const asked = async (method: string) => {
  const { params } = await gateway.next(`calling.${method}`)
  const { control_id, call_id, node_id, ...given } = params
  expect([call_id, node_id]).toEqual(['c1', 'n1'])
  const tell = (type: string, about: Values) => gateway.tell(type, { call_id, control_id, ...about })
  return { given, tell, control_id }
}

describe('playing', () => {
  it('ends when the sounds have ended', async () => {
    const playing = call.play(
      [
        { type: 'tts', text: 'Hello', voice: 'slt' },
        { type: 'silence', duration: 1 },
        { type: 'ringtone', name: 'us', duration: 2 },
        { type: 'audio', url: 'https://x/a.wav' },
      ],
      { volume: 3 },
    )
    const { given, tell, control_id } = await asked('play')
    expect(given).toEqual({
      volume: 3,
      play: [
        { type: 'tts', params: { text: 'Hello', voice: 'slt' } },
        { type: 'silence', params: { duration: 1 } },
        { type: 'ringtone', params: { name: 'us', duration: 2 } },
        { type: 'audio', params: { url: 'https://x/a.wav' } },
      ],
    })
    tell('play', { state: 'playing' })
    await playing.started
    await playing.pause()
    await playing.resume()
    await playing.setVolume(-3)
    await playing.stop()
    for (const what of ['pause', 'resume', 'volume', 'stop'])
      expect((await gateway.next(`calling.play.${what}`)).params.control_id).toBe(control_id)
    tell('play', { state: 'finished' })
    expect(await playing).toBeUndefined()
  })

  it('rejects if a sound cannot be fetched, and if the request is rejected', async () => {
    const playing = call.playAudio({ url: 'https://x/a.wav' })
    const { tell } = await asked('play')
    tell('play', { state: 'error', error: 'sound_failed' })
    await expect(playing).rejects.toMatchObject({ code: 'sound_failed' })
    await expect(playing.started).rejects.toMatchObject({ code: 'sound_failed' })
    gateway.answers.set('calling.play', () => ({ code: '400', message: 'play[0]: …' }))
    await expect(call.playSilence({ duration: 1 })).rejects.toMatchObject({ code: '400' })
  })
})

it('recording ends with its URL', async () => {
  const recording = call.record({ endSilenceTimeout: 0, direction: 'both', stereo: true })
  const { given, tell } = await asked('record')
  expect(given).toEqual({ record: { audio: { end_silence_timeout: 0, direction: 'both', stereo: true } } })
  tell('record', { state: 'recording', url: 'u' })
  await recording.started
  await recording.pause('skip')
  expect((await gateway.next('calling.record.pause')).params).toMatchObject({ behavior: 'skip' })
  tell('record', { state: 'finished', url: 'u', duration: 1.5, size: 9 })
  expect(await recording).toEqual({ url: 'u', duration: 1.5, size: 9 })
  const silent = call.record()
  const again = await asked('record')
  again.tell('record', { state: 'no_input' })
  await expect(silent).rejects.toMatchObject({ name: 'RealtimeError' })
})

describe('collecting', () => {
  it.each<[Values, Collected]>([
    [
      { type: 'digit', params: { digits: '12', terminator: '#' } },
      { type: 'digits', digits: '12', terminator: '#' },
    ],
    [
      { type: 'speech', params: { text: 'yes', confidence: 50 } },
      { type: 'speech', text: 'yes', confidence: 50 },
    ],
    [{ type: 'no_input' }, { type: 'none' }],
  ])('reads %j', async (result, expected) => {
    const partial: Collected[] = []
    const collecting = call.collect({
      digits: { max: 2, digitTimeout: 3 },
      onPartial: (input) => void partial.push(input),
    })
    const { given, tell } = await asked('collect')
    expect(given).toEqual({
      digits: { max: 2, digit_timeout: 3 },
      start_input_timers: true,
      partial_results: true,
    })
    tell('collect', { state: 'collecting', final: false, result })
    tell('collect', { state: 'finished', final: true, result })
    expect(await collecting).toEqual(expected)
    expect(partial).toEqual([expected])
  })

  it('prompts, and rejects unrecognised input', async () => {
    const prompting = call.promptTTS({ text: 'Say it', volume: 2, speech: { endSilenceTimeout: 1 } })
    const { given, tell, control_id } = await asked('play_and_collect')
    expect(control_id).toMatch(/\.prompt$/)
    expect(given).toEqual({
      volume: 2,
      play: [{ type: 'tts', params: { text: 'Say it' } }],
      collect: { speech: { end_silence_timeout: 1 }, partial_results: false },
    })
    tell('play', { state: 'playing' })
    await prompting.started
    await prompting.setVolume(1)
    tell('play', { state: 'finished' })
    tell('collect', { state: 'finished', final: true, result: { type: 'error' } })
    await expect(prompting).rejects.toMatchObject({ code: 'error' })
  })
})

it('detecting collects the findings', async () => {
  const detecting = call.detect({ type: 'machine', timeout: 20, machineWordsThreshold: 3 })
  const { given, tell } = await asked('detect')
  expect(given).toEqual({ timeout: 20, detect: { type: 'machine', params: { machine_words_threshold: 3 } } })
  const found = (params: Values) => tell('detect', { detect: { type: 'machine', params } })
  found({ event: 'MACHINE' })
  found({ event: 'READY', beep: true })
  found({ event: 'finished' })
  expect(await detecting).toEqual({ findings: ['MACHINE', 'READY'], beep: true })
})

it('tapping, digits, hold and events are requested as the gateway reads them', async () => {
  const tapping = call.tap({ direction: 'both', device: { type: 'rtp', addr: '10.0.0.1', port: 4000 } })
  const { given, tell } = await asked('tap')
  expect(given).toEqual({
    tap: { type: 'audio', params: { direction: 'both' } },
    device: { type: 'rtp', params: { addr: '10.0.0.1', port: 4000 } },
  })
  tell('tap', { state: 'tapping' })
  tell('tap', { state: 'finished' })
  await tapping
  const pressing = call.sendDigits('1w2')
  const keys = await asked('send_digits')
  expect(keys.given).toEqual({ digits: '1w2' })
  keys.tell('send_digits', { state: 'finished' })
  await pressing
  await call.hold()
  await call.unhold()
  await call.userEvent({ a: 1 })
  expect((await gateway.next('calling.user_event')).params).toMatchObject({ event: { a: 1 } })
})
