import { describe, expect, it } from 'vitest'
import type { VoiceEngine, VoiceRequest } from '../types.ts'
import { SoundBusy, SoundError, TextRejected } from './errors.ts'
import { SpeechSynthesizer } from './speech-synthesizer.ts'
import { parseSpeech } from './ssml.ts'
import { FakeTimers } from './testing/fake-threads.ts'

/** Engine whose samples have one value, and as many as the text has characters. */
class FakeVoice implements VoiceEngine {
  readonly asked: VoiceRequest[] = []
  failing = false
  refusing = false
  busy = false
  closed = 0
  readonly #value: number

  constructor(value: number) {
    this.#value = value
  }

  async speak(request: VoiceRequest) {
    this.asked.push(request)
    if (this.busy) throw new SoundBusy('Audio: too much is waiting')
    if (this.refusing) throw new TextRejected('The voice cloud failed: its server answered 400')
    if (this.failing) throw new SoundError('The voice cloud failed: it took longer than 5000 ms')
    return new Int16Array(new SharedArrayBuffer(request.text.length * 2)).fill(this.#value)
  }

  async close() {
    this.closed++
  }
}

const setUp = (ssml = false) => {
  const own = new FakeVoice(1)
  const cloud = new FakeVoice(2)
  const timers = new FakeTimers()
  const results: string[] = []
  const speaking = new SpeechSynthesizer({
    builtIn: own,
    engines: new Map([['cloud', { engine: cloud, ssml }]]),
    timers,
    onResult: (engine, result) => results.push(`${engine} ${result}`),
  })
  const say = (text: string, signal?: AbortSignal, engine = 'cloud') =>
    speaking.speak(parseSpeech(text), { engine, voice: 'nova', language: 'de' }, { rate: 8000 }, signal)
  return { own, cloud, timers, results, speaking, say }
}

describe('the speech synthesizer', () => {
  it('passes the customer on, for fair scheduling', async () => {
    const { own, cloud, speaking } = setUp()
    for (const engine of ['cloud', 'built-in'])
      await speaking.speak(parseSpeech('a'), { engine }, { rate: 8000, customer: 'p1' })
    expect([cloud.asked[0]?.customer, own.asked[0]?.customer]).toEqual(['p1', 'p1'])
  })

  it('uses the selected engine, part by part, with silence in between', async () => {
    const { cloud, own, say, results } = setUp()
    expect(await say('ab<break time="1ms"/>c')).toEqual({
      samples: Int16Array.of(2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 2),
    })
    expect(cloud.asked).toEqual([
      { text: 'ab', voice: 'nova', language: 'de', rate: 8000 },
      { text: 'c', voice: 'nova', language: 'de', rate: 8000 },
    ])
    expect([own.asked.length, results]).toEqual([0, ['cloud ok']])
  })

  it('passes SSML on if the engine accepts it and it is valid', async () => {
    const { cloud, say } = setUp(true)
    await say('ab<break time="1ms"/>c')
    await say('plain')
    await say('<speak>bad')
    expect(cloud.asked.map(({ text }) => text)).toEqual([
      '<speak>ab<break time="1ms"/>c</speak>',
      'plain',
      'bad',
    ])
  })

  it('reports why an engine failed', async () => {
    const { cloud, own, say, results } = setUp()
    cloud.failing = true
    const failure = 'The voice cloud failed: it took longer than 5000 ms'
    expect(await say('ab<break time="1ms"/>c')).toEqual({ failure })
    expect([own.asked.length, results]).toEqual([0, ['cloud failed']])
  })

  it('uses the built-in voice if selected', async () => {
    const { own, say, results } = setUp()
    expect(await say('ab', undefined, 'built-in')).toEqual({ samples: Int16Array.of(1, 1) })
    expect(own.asked).toEqual([{ text: 'ab', voice: 'nova', rate: 8000 }])
    own.failing = true
    await expect(say('ab', undefined, 'built-in')).rejects.toThrow('cloud failed')
    expect(results).toEqual(['built-in ok', 'built-in failed'])
  })

  it('keeps using an engine that rejects texts', async () => {
    const { cloud, say, timers, results } = setUp()
    cloud.refusing = true
    for (let i = 0; i < 4; i++) await say('a')
    expect([cloud.asked.length, timers.running]).toEqual([4, 0])
    expect(results).toEqual(Array(4).fill('cloud failed'))
  })

  it('rejects if too many jobs wait for decoding, which is no failure of the engine', async () => {
    const { cloud, say, timers, results } = setUp()
    cloud.busy = true
    for (let i = 0; i < 3; i++) await expect(say('a')).rejects.toThrow(SoundBusy)
    expect([cloud.asked.length, timers.running, results]).toEqual([3, 0, []])
  })

  it('suspends an engine after three failures, for 30 s', async () => {
    const { cloud, say, timers, results } = setUp()
    cloud.failing = true
    for (let i = 0; i < 4; i++) await say('a')
    expect(cloud.asked).toHaveLength(3)
    expect(results.at(-1)).toBe('cloud skipped')
    timers.advance(30_000)
    await say('a')
    await say('a')
    expect(cloud.asked).toHaveLength(4)
    timers.advance(30_000)
    cloud.failing = false
    expect(await say('a')).toHaveProperty('samples')
    cloud.failing = true
    await say('a')
    expect(timers.running).toBe(0)
  })

  it('does not count a cancellation as a failure', async () => {
    const { cloud, own, say, results } = setUp()
    cloud.failing = true
    await expect(say('a', AbortSignal.abort())).rejects.toThrow('cloud failed')
    expect([own.asked.length, results]).toEqual([0, []])
  })

  it('closes every engine and leaves no timer', async () => {
    const { cloud, own, say, speaking, timers } = setUp()
    cloud.failing = true
    for (let i = 0; i < 3; i++) await say('a')
    await speaking.close()
    expect([cloud.closed, own.closed, timers.running]).toEqual([1, 1, 0])
  })
})
