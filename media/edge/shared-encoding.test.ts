import { beforeEach, describe, expect, it } from 'vitest'
import { goertzel } from '../codecs/tone.ts'
import { rateOf, TestVoice } from '../rtp/testing/codecs.ts'
import { discontinuities, type TestLine, TestTime } from '../rtp/testing/session-line.ts'
import type { AudioCodec, FarEnd } from '../types.ts'
import { ThreadMixer } from './thread-mixer.ts'

/** Tones of the speaker, and of a listener that speaks. */
const speakerTone = 440
const listenerTone = 1000

/** Room with one speaker and several listeners; the last listener keeps an encoder of its own. */
class TestRoom {
  readonly time = new TestTime()
  readonly speaker: TestLine
  readonly listeners: readonly TestLine[]
  readonly alone: TestLine
  readonly mixer = new ThreadMixer({
    onPlayed: () => {},
    onWake: () => {},
    onSpeaker: () => {},
    onTalking: () => {},
  })
  readonly #codec: AudioCodec
  readonly #voice = new TestVoice('L16', speakerTone)
  readonly #own: TestVoice

  constructor(codec: AudioCodec, options: Partial<FarEnd> = {}) {
    this.#codec = codec
    this.#own = new TestVoice(codec, listenerTone)
    const line = (number: number, far: Partial<FarEnd>): TestLine => {
      const made = this.time.line(`192.0.2.${number}`)
      made.set(far)
      this.mixer.add(number, {}, made.session)
      return made
    }
    this.speaker = line(1, { codec: 'L16' })
    this.listeners = [2, 3, 4].map((number) => line(number, { codec, ...options }))
    this.alone = line(5, { codec, ...options })
    // A volume of its own excludes sharing; this one is inaudible.
    this.alone.session.setVolumes({ inDb: 0, outDb: 0.0001 })
    this.time.between = () => this.mixer.mix()
  }

  /** Lets the speaker speak for `ms`, and the first listener too if `both`. */
  async pass(ms: number, both = false): Promise<void> {
    for (let gone = 0; gone < ms; gone += 20) {
      this.time.pass(20, () => {
        this.speaker.say(this.#voice)
        if (both) this.listeners[0]!.say(this.#own)
      })
      // Encoders are made between the turns of the event loop.
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  /** Whether the listeners receive equal payloads, by listener, in packets from `from` on. */
  equals(from: number): readonly boolean[] {
    const payloads = (line: TestLine) => line.sent.slice(from).map(({ payload }) => payload.toString('hex'))
    const [first, ...others] = [...this.listeners, this.alone].map(payloads)
    return others.map((other) => other.length > 0 && other.every((payload, i) => payload === first![i]))
  }

  audio(line: TestLine): Int16Array {
    return line.audio(this.#codec)
  }
}

describe.each(['opus', 'G722', 'PCMU'] as const)('listeners of %s', (codec) => {
  let room: TestRoom

  beforeEach(() => {
    room = new TestRoom(codec)
  })

  it('share one encoding, in streams of their own', async () => {
    await room.pass(1000)
    expect(room.equals(0).slice(0, 2)).toEqual([true, true])
    for (const line of room.listeners) {
      expect(line.sent).toHaveLength(50)
      expect(discontinuities(line.sent)).toEqual([])
      expect(goertzel(room.audio(line).slice(-4000), speakerTone, rateOf(codec))).toBeGreaterThan(0.9)
    }
  })

  it('leave it while they speak, do not hear themselves, and return', async () => {
    await room.pass(1000)
    const from = room.listeners[0]!.sent.length
    await room.pass(1000, true)
    expect(room.equals(from)).toEqual([false, false, false])
    const heard = room.audio(room.listeners[0]!).slice(-rateOf(codec) / 2)
    expect(goertzel(heard, speakerTone, rateOf(codec))).toBeGreaterThan(0.9)
    expect(goertzel(heard, listenerTone, rateOf(codec))).toBeLessThan(0.01)
    const other = room.audio(room.listeners[1]!).slice(-rateOf(codec) / 2)
    expect(goertzel(other, listenerTone, rateOf(codec))).toBeGreaterThan(0.3)
    await room.pass(8000)
    expect(room.equals(room.listeners[0]!.sent.length - 50).slice(0, 2)).toEqual([true, true])
    for (const line of room.listeners) expect(discontinuities(line.sent)).toEqual([])
  })

  it('hear no step in the audio when they leave and return', async () => {
    await room.pass(1000)
    for (let i = 0; i < 3; i++) {
      await room.pass(620, true)
      await room.pass(7000)
    }
    const samples = room.audio(room.listeners[0]!)
    let most = 0
    for (let i = rateOf(codec) / 2; i < samples.length; i++)
      most = Math.max(most, Math.abs(samples[i]! - samples[i - 1]!))
    // An encoder without the audio before would cause steps of 4 to 15 times those of the tone.
    expect(most / toneStep(codec)).toBeLessThan(2)
  })

  it('use their own encoder while a sound is played to them', async () => {
    await room.pass(1000)
    const [first] = room.listeners
    first!.session.promptMixer.play(1, new Int16Array(16_000).fill(500), 16_000, 1, 0)
    const from = first!.sent.length
    await room.pass(500)
    expect(room.equals(from)).toEqual([false, false, false])
    await room.pass(8000)
    expect(room.equals(first!.sent.length - 50).slice(0, 2)).toEqual([true, true])
    expect(discontinuities(first!.sent)).toEqual([])
  })
})

/** Largest step between two samples of the speaker's tone. */
const toneStep = (codec: AudioCodec): number => 8000 * ((2 * Math.PI * speakerTone) / rateOf(codec))

describe('listeners that cannot share', () => {
  it.each([
    ['another duration', { ptime: 40 }],
    ['omitted silence', { opus: { dtx: true } }],
  ] as const)('hear the same: %s', async (_, options) => {
    const room = new TestRoom('opus', options)
    await room.pass(1000)
    for (const line of room.listeners) {
      expect(discontinuities(line.sent)).toEqual([])
      expect(goertzel(room.audio(line).slice(-4000), speakerTone, rateOf('opus'))).toBeGreaterThan(0.9)
    }
    room.mixer.close()
  })
})
