import { beforeEach, describe, expect, it } from 'vitest'
import { silenceByte } from '../codecs/g711.ts'
import { dominant, goertzel, sine } from '../codecs/tone.ts'
import type { AudioCodec } from '../types.ts'
import type { AudioSink } from './audio-sinks.ts'
import { SpeechQueue } from './speech-queue.ts'
import { allCodecs, payloadTypeOf, rateOf, TestVoice, testCodecs, unitsOf } from './testing/codecs.ts'
import { discontinuities, type TestLine, TestTime } from './testing/session-line.ts'
import { levelDb } from './voice-activity.ts'

/** Sink that keeps its audio. */
class TestSink implements AudioSink {
  readonly rate
  readonly tracks
  readonly input: number[] = []
  readonly output: number[] = []
  readonly digits: string[] = []
  closed = false
  frames = 0

  constructor(tracks: AudioSink['tracks'], rate: AudioSink['rate'] = 8000) {
    this.tracks = tracks
    this.rate = rate
  }

  write(input: Int16Array | undefined, output: Int16Array | undefined): void {
    this.frames++
    this.input.push(...(input ?? new Int16Array(this.rate / 50)))
    this.output.push(...(output ?? new Int16Array(this.rate / 50)))
  }

  digit(digit: string): void {
    this.digits.push(digit)
  }

  close(): void {
    this.closed = true
  }
}

/** Returns the end of the samples, after transients. */
const tail = (samples: ArrayLike<number>, rate: number) =>
  Array.prototype.slice.call(samples, -rate / 2) as number[]

const payload = (codec: AudioCodec) => ({ codec, payloadType: payloadTypeOf(codec) })

const encoderOf = (codec: AudioCodec) => {
  const encoder = testCodecs.encoder(codec, { ptimeMs: 20 })
  return (samples: Int16Array) => {
    const out = Buffer.alloc(encoder.maxBytes)
    return out.subarray(0, encoder.encode(samples, 0, out, 0))
  }
}

describe('a bridge', () => {
  let time: TestTime
  let a: TestLine
  let b: TestLine

  beforeEach(() => {
    time = new TestTime()
    a = time.line('192.0.2.1')
    b = time.line('198.51.100.1')
  })

  const join = (first: AudioCodec, second: AudioCodec, more: { ptime?: number } = {}) => {
    a.set({ codec: first })
    b.set({ codec: second, ...more })
    time.pass(200)
    a.session.join(b.session)
    a.sent.length = 0
    b.sent.length = 0
  }

  it.each(allCodecs.flatMap((from) => allCodecs.map((to) => [from, to] as const)))(
    'carries %s to %s and back',
    (from, to) => {
      join(from, to)
      const here = new TestVoice(from, 700)
      const there = new TestVoice(to, 1000)
      time.pass(1500, () => {
        a.say(here)
        b.say(there)
      })
      for (const [line, codec, frequency] of [
        [b, to, 700],
        [a, from, 1000],
      ] as const) {
        const heard = tail(line.audio(codec), rateOf(codec))
        expect(goertzel(heard, frequency, rateOf(codec))).toBeGreaterThan(0.97)
        expect(discontinuities(line.sent)).toEqual([])
        expect(line.sent.filter(({ marker }) => marker)).toHaveLength(1)
        const { sent } = line
        const units = (sent.at(-1)!.timestamp - sent[0]!.timestamp) >>> 0
        expect(units).toBe((sent.length - 1) * unitsOf(codec))
      }
      a.session.detach()
      time.pass(2000)
      expect([a.session.isFramed, b.session.isFramed]).toEqual([false, false])
    },
  )

  it.each([10, 20, 30, 40, 50, 60])('sends packets of %i ms to a far end that requests them', (ptime) => {
    join('G722', 'PCMA', { ptime })
    const voice = new TestVoice('G722', 700)
    time.pass(3000, () => a.say(voice))
    expect(new Set(b.sent.map(({ payload }) => payload.length))).toEqual(new Set([ptime * 8]))
    expect(discontinuities(b.sent)).toEqual([])
    const gaps = b.sent.slice(1).map(({ at }, i) => at - b.sent[i]!.at)
    // Frames come every 20 ms: packets leave with the frame that completes them, two short ones not at once.
    expect(Math.max(...gaps)).toBeLessThanOrEqual(ptime + 10)
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(Math.min(10, ptime))
    expect(goertzel(tail(b.audio('PCMA'), 8000), 700)).toBeGreaterThan(0.97)
  })

  it('forwards packets unchanged although a sink reads both directions', () => {
    join('PCMU', 'PCMU')
    const sink = new TestSink('both', 16_000)
    b.session.addSink(sink)
    const here = new TestVoice('PCMU', 700)
    const there = new TestVoice('PCMU', 1000)
    const said: Uint8Array[] = []
    time.pass(1500, () => {
      a.say(here)
      said.push(b.sent.at(-1)!.payload)
      b.say(there)
    })
    const same = new TestVoice('PCMU', 700)
    expect(said.every((payload) => Buffer.from(payload).equals(same.say()))).toBe(true)
    expect(b.sent.filter(({ marker }) => marker)).toHaveLength(1)
    expect([dominant(tail(sink.input, 16_000), 16_000), dominant(tail(sink.output, 16_000), 16_000)]).toEqual(
      [1000, 700],
    )
    b.session.removeSink(sink)
    time.pass(100)
    expect([a.session.isFramed, b.session.isFramed]).toEqual([false, false])
  })

  describe('with other volumes', () => {
    const level = (line: TestLine, codec: AudioCodec) =>
      levelDb(Int16Array.from(tail(line.audio(codec), rateOf(codec))))
    const loud = { inDb: 0, outDb: 0 }
    const volumes = (inDb: number, outDb: number) => {
      a.session.setVolumes({ ...loud, inDb })
      b.session.setVolumes({ ...loud, outDb })
    }

    /** Returns the volume change of the received audio for these volumes. */
    const levels = (first: AudioCodec, second: AudioCodec, each: readonly (readonly [number, number])[]) => {
      join(first, second)
      const voice = new TestVoice(first, 700)
      const heard = () => {
        b.sent.length = 0
        time.pass(1500, () => a.say(voice))
        return level(b, second)
      }
      const before = heard()
      return each.map(([inDb, outDb]) => {
        volumes(inDb, outDb)
        return Math.round(heard() - before) || 0
      })
    }
    const some = [
      [-20, 0],
      [0, -10],
      [-6, -6],
      [-10, 10],
      [0, 0],
    ] as const

    it.each([
      ['PCMU', 'PCMU', some, [-20, -10, -12, 0, 0]],
      ['G722', 'PCMA', some, [-20, -10, -12, 0, 0]],
      ['opus', 'opus', some.slice(0, 1), [-20]],
    ] as const)('goes from %s to %s with the configured volume', (first, second, each, expected) => {
      expect(levels(first, second, each)).toEqual(expected)
      const rate = rateOf(second)
      expect(goertzel(tail(b.audio(second), rate), 700, rate)).toBeGreaterThan(0.9)
      expect(discontinuities(b.sent)).toEqual([])
    })

    it('decodes only while the volume is not 0 dB, and in that direction only', () => {
      join('PCMU', 'PCMU')
      volumes(-20, 0)
      expect([a.session.isFramed, b.session.isFramed]).toEqual([true, true])
      const said: Uint8Array[] = []
      const there = new TestVoice('PCMU', 1000)
      time.pass(500, () => {
        b.say(there)
        said.push(a.sent.at(-1)!.payload)
      })
      const same = new TestVoice('PCMU', 1000)
      expect(said.every((payload) => Buffer.from(payload).equals(same.say()))).toBe(true)
      volumes(0, 0)
      time.pass(200)
      expect([a.session.isFramed, b.session.isFramed]).toEqual([false, false])
    })

    it('applies to a channel too, in both directions', () => {
      a.set({ codec: 'L16' })
      time.pass(200)
      const tone = sine(700, 20, 16_000)
      const peaks = { said: 0, heard: 0 }
      const peakOf = (samples: ArrayLike<number>) => Math.max(...Array.from(samples))
      const say = (frame: Int16Array | undefined) => {
        if (frame) peaks.said = peakOf(frame)
      }
      a.session.connect({ rate: 16_000, isContinuous: false, write: say, read: () => tone, close: () => {} })
      a.session.setVolumes({ inDb: -20, outDb: -6 })
      const voice = new TestVoice('L16', 700)
      time.pass(1000, () => a.say(voice))
      peaks.heard = peakOf(tail(a.audio('L16'), rateOf('L16')))
      expect(peaks.said / 8000).toBeCloseTo(0.1, 1)
      expect(peaks.heard / peakOf(tone)).toBeCloseTo(0.5, 1)
    })

    it('keeps the volumes for later partners, and does not change prompts', () => {
      join('PCMU', 'PCMU')
      volumes(0, -20)
      a.session.detach()
      const c = time.line('203.0.113.9')
      c.set({ codec: 'PCMU' })
      c.session.join(b.session)
      const voice = new TestVoice('PCMU', 700)
      time.pass(1000, () => c.say(voice))
      const quiet = level(b, 'PCMU')
      b.session.setVolumes(loud)
      time.pass(1000, () => c.say(voice))
      expect(Math.round(level(b, 'PCMU') - quiet)).toBe(20)
      b.session.promptMixer.play(1, sine(440, 1000), 8000, 1, 0)
      time.pass(1000)
      const prompt = level(b, 'PCMU')
      volumes(0, -20)
      b.session.promptMixer.play(2, sine(440, 1000), 8000, 1, 0)
      time.pass(1000)
      expect(Math.round(level(b, 'PCMU') - prompt)).toBe(0)
    })
  })

  it('passes prompts to sinks in place of the audio they interrupt, and nothing while the far end hears nothing', () => {
    join('PCMU', 'PCMU')
    const sink = new TestSink('out')
    b.session.addSink(sink)
    const voice = new TestVoice('PCMU', 700)
    time.pass(500, () => a.say(voice))
    b.session.promptMixer.play(1, sine(440, 500), 8000, 1, 0)
    sink.output.length = 0
    time.pass(500, () => a.say(voice))
    expect(dominant(sink.output)).toBe(440)
    b.set({ direction: 'inactive' })
    sink.output.length = 0
    time.pass(500, () => a.say(voice))
    expect(new Set(sink.output)).toEqual(new Set([0]))
    b.session.close(time.now)
    expect(sink.closed).toBe(true)
  })

  it('changes codecs within the audio, also to another clock, in one stream', () => {
    join('PCMU', 'PCMU')
    let voice = new TestVoice('PCMU', 700)
    time.pass(1000, () => a.say(voice))
    for (const codec of ['opus', 'G722', 'L16', 'PCMA', 'PCMU'] as const) {
      b.set({ codec })
      time.pass(1000, () => a.say(voice))
      expect(dominant(tail(b.audio(codec), rateOf(codec)), rateOf(codec))).toBe(700)
    }
    a.set({ codec: 'opus' })
    voice = new TestVoice('opus', 700)
    time.pass(1000, () => a.say(voice))
    expect(dominant(tail(b.audio('PCMU'), 8000))).toBe(700)
    expect(discontinuities(b.sent)).toEqual([])
    // One for each change of codec or path.
    expect(b.sent.filter(({ marker }) => marker).length).toBeLessThanOrEqual(8)
  })

  it('is not disturbed by a refresh without changes, nor by another payload type', () => {
    for (const [first, second] of [
      ['PCMU', 'PCMU'],
      ['PCMU', 'G722'],
    ] as const) {
      join(first, second)
      const voice = new TestVoice(first, 700)
      time.pass(500, () => a.say(voice))
      b.set({ codec: second })
      time.pass(500, () => a.say(voice))
      b.set({ codec: second, payloadType: 120 })
      time.pass(500, () => a.say(voice))
      expect(b.sent.at(-1)!.payloadType).toBe(120)
      expect(b.sent.filter(({ marker }) => marker)).toHaveLength(1)
      expect(discontinuities(b.sent)).toEqual([])
      a.session.detach()
    }
  })

  it('plays remaining audio when the partner is closed within a word', () => {
    join('L16', 'PCMA')
    const voice = new TestVoice('L16', 700)
    time.pass(500, () => a.say(voice))
    a.session.close(time.now)
    const before = b.sent.length
    b.session.promptMixer.play(1, sine(440, 500), 8000, 1, 0)
    time.pass(2000)
    expect(dominant(b.audio('PCMA', before).slice(0, 4000))).toBe(440)
    expect([b.session.isFramed, discontinuities(b.sent)]).toEqual([false, []])
  })

  it('follows a far end that sends another announced codec than it receives', () => {
    a.set({ codec: 'PCMU' }, { codecs: [payload('PCMU'), payload('G722')] })
    b.set({ codec: 'PCMA' })
    a.session.join(b.session)
    const narrow = new TestVoice('PCMU', 700)
    const wide = new TestVoice('G722', 1200)
    time.pass(500, () => a.say(narrow))
    expect(b.session.isFramed).toBe(false)
    time.pass(1000, () => a.say(wide))
    expect(dominant(tail(b.audio('PCMA'), 8000))).toBe(1200)
    time.pass(1000, () => a.say(narrow))
    expect([dominant(tail(b.audio('PCMA'), 8000)), b.session.isFramed]).toEqual([700, false])
    expect(discontinuities(b.sent)).toEqual([])
  })

  it('resumes after a hold of ten minutes, without decoding in between', () => {
    join('PCMU', 'G722')
    const voice = new TestVoice('PCMU', 700)
    time.pass(1000, () => a.say(voice))
    b.set({ codec: 'G722', direction: 'inactive' })
    a.set({ direction: 'inactive' })
    const before = b.sent.length
    time.pass(600_000)
    expect(b.sent).toHaveLength(before)
    a.set()
    b.set({ codec: 'G722' })
    time.pass(1000, () => a.say(voice))
    expect(dominant(tail(b.audio('G722', before), 16_000), 16_000)).toBe(700)
    expect(discontinuities(b.sent)).toEqual([])
  })

  it('gives speech of a tap precedence over the partner, but not over a prompt', () => {
    join('PCMU', 'G722')
    const queue = new SpeechQueue(8000)
    b.session.promptMixer.addQueue(queue)
    const voice = new TestVoice('PCMU', 700)
    time.pass(500, () => a.say(voice))
    queue.write(sine(1500, 1000))
    let spoken = false
    queue.mark(() => {
      spoken = true
    })
    const [first, second, third] = [[], [], []] as number[][]
    const heard = (into: number[]) => {
      const from = b.sent.length
      time.pass(500, () => a.say(voice))
      into.push(...tail(b.audio('G722', from), 8000))
    }
    heard(first!)
    b.session.promptMixer.play(1, sine(440, 480), 8000, 1, 0)
    heard(second!)
    heard(third!)
    expect([first, second, third].map((samples) => dominant(samples!, 16_000))).toEqual([1500, 440, 1500])
    time.pass(200)
    expect(spoken).toBe(true)
  })

  it('ends the audio of a channel completely, and starts the next without a remainder', () => {
    a.set()
    time.pass(200)
    let says: Int16Array | undefined = sine(700, 20, 16_000)
    a.session.connect({
      rate: 16_000,
      isContinuous: false,
      write: () => {},
      read: () => says,
      close: () => {},
    })
    time.pass(200)
    const end = a.sent.length
    says = undefined
    time.pass(2000)
    const next = a.sent.length
    says = new Int16Array(320)
    time.pass(40)
    const silent = ({ payload }: { payload: Buffer }) => payload.every((byte) => byte === silenceByte.PCMU)
    const silence = a.sent.slice(end).map(silent)
    // The resampling filter holds a few milliseconds.
    expect([silence.indexOf(true), silence.lastIndexOf(false)]).toEqual([1, 0])
    expect(a.sent.length).toBeGreaterThan(next)
  })

  it('reports digits of both kinds, once if both are received', () => {
    a.set({ inbandDigits: true })
    const sink = new TestSink('in')
    a.session.addSink(sink)
    const five = Int16Array.from(
      sine(770, 100, 8000, 6000),
      (sample, i) => sample + sine(1336, 100, 8000, 6000)[i]!,
    )
    const press = () => {
      const encoder = encoderOf('PCMU')
      for (let at = 0; at < 5; at++) {
        a.hear(encoder(five.subarray(at * 160, at * 160 + 160)))
        time.pass(20)
      }
      time.pass(200, () => a.hear(Buffer.alloc(160, 0xff)))
    }
    time.pass(200, () => a.hear(Buffer.alloc(160, 0xff)))
    press()
    const digits = () => a.events.flatMap((event) => (event.kind === 'digit' ? [event] : []))
    expect(digits()).toMatchObject([{ digit: '5', by: 'audio' }])
    a.hearEvent(5, a.next.timestamp, 800, true)
    press()
    expect(digits().map(({ by }) => by)).toEqual(['audio', 'event'])
    expect(sink.digits).toEqual(['5', '5'])
  })
})
