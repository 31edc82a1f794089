import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { VerbFailed } from '../../../handlers/verbs.ts'
import type { AnyFrame } from '../testing/test-browser.ts'
import { nextOf, RealtimeTestGateway } from './testing/realtime-test-gateway.ts'

let gateway: RealtimeTestGateway

beforeEach(async () => {
  gateway = await RealtimeTestGateway.start()
})
afterEach(() => gateway.close())

const tts = [{ type: 'tts', params: { text: 'Hello' } }]

describe('play', () => {
  it('plays a list, and can be paused, changed and stopped', async () => {
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
          { kind: 'speech', text: 'Hello', voice: 'slt', language: 'en-US', gender: 'female' },
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
      expect(await nextOf(application, 'play')).toEqual({ state })
  })

  it('reports the answer of the call that it causes', async () => {
    const application = await gateway.listener()
    gateway.arrives()
    const { call_id } = await application.event('calling.call.receive')
    await application.ask('calling.play', { call_id, control_id: 'k', play: tts })
    await nextOf(application, 'play')
    expect(application.story).toEqual(['receive created', 'state answered', 'play playing'])
  })

  it('reports a failure', async () => {
    const { ask, application, call } = await gateway.taken()
    call.failing.set('startPlay', new VerbFailed('sound_failed', 'not there'))
    await ask('calling.play', { control_id: 'k', play: tts })
    expect(await nextOf(application, 'play')).toEqual({ state: 'error', error: 'sound_failed' })
  })
})

describe('record', () => {
  it('records as requested, and can be paused and stopped', async () => {
    const { ask, application, call } = await gateway.taken()
    const audio = {
      beep: true,
      format: 'mp3',
      stereo: true,
      end_silence_timeout: 0,
      initial_timeout: 0,
      input_sensitivity: 30,
    }
    await ask('calling.record', { control_id: 'k', record: { audio } })
    expect(call.verbs.at(-1)?.[1]).toMatchObject({
      beep: true,
      format: 'mp3',
      tracks: 'stereo',
      initialSilenceMs: Number.POSITIVE_INFINITY,
      terminators: '#*',
      sensitivity: 30,
    })
    expect(call.verbs.at(-1)?.[1]).not.toHaveProperty('endSilenceMs')
    await ask('calling.record.pause', { control_id: 'k', behavior: 'skip' })
    await ask('calling.record.resume', { control_id: 'k' })
    await ask('calling.record.stop', { control_id: 'k' })
    const url = 'https://gw.example/r-1'
    for (const state of ['recording', 'paused', 'recording'])
      expect(await nextOf(application, 'record')).toEqual({ state, url: url, record: { audio } })
    expect(await nextOf(application, 'record')).toMatchObject({
      state: 'finished',
      duration: 2,
      size: 32_044,
    })
  })

  it('has the defaults of the hosted service, and supports each direction', async () => {
    const { ask, call } = await gateway.taken()
    const directions = [undefined, 'speak', 'listen', 'both']
    for (const [i, direction] of directions.entries())
      await ask('calling.record', { control_id: `k${i}`, record: { audio: { direction } } })
    const options = call.verbs.map(([, given]) => given)
    expect(options[0]).toMatchObject({ initialSilenceMs: 5000, endSilenceMs: 1000, terminators: '#*' })
    expect(options.map((o) => (o as AnyFrame).tracks)).toEqual(['in', 'in', 'out', 'both'])
  })

  it('that cannot be written ends as one without input', async () => {
    const { ask, application, call } = await gateway.taken()
    call.failing.set('startRecording', new VerbFailed('recording_no_space', 'full'))
    await ask('calling.record', { control_id: 'k' })
    expect(await nextOf(application, 'record')).toMatchObject({
      state: 'no_input',
      error: 'recording_no_space',
    })
  })
})
