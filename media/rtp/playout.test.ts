import fc from 'fast-check'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { codecInfo } from '../codecs/codec-info.ts'
import { loadCodecs } from '../codecs/codecs.ts'
import { carriesFec } from '../codecs/opus-packet.ts'
import { sine, toneSnr } from '../codecs/tone.ts'
import type { Codecs } from '../codecs/types.ts'
import type { AudioCodec, PcmRate } from '../types.ts'
import type { RtpView } from './packet.ts'
import { Playout, type PlayoutStats } from './playout.ts'

let codecs: Codecs
beforeAll(async () => {
  codecs = await loadCodecs()
})
const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
beforeEach(turn)

const startTime = 50_000

interface Sent {
  readonly at: number
  readonly codec: AudioCodec
  readonly view: RtpView
  readonly bytes: Uint8Array
}

interface Way {
  readonly ptimeMs?: number
  /** Whether a packet is lost. */
  readonly lost?: (n: number) => boolean
  /** Additional delay of a packet, in ms. */
  readonly late?: (n: number) => number
  /** Start, in ms. */
  readonly from?: number
  readonly sequence?: number
  readonly timestamp?: number
  readonly fec?: boolean
}

/** Returns packets of `sound` (at the codec's own rate), as a far side sends them. */
function send(codec: AudioCodec, sound: Int16Array, way: Way = {}): Sent[] {
  const { ptimeMs = 20, lost = () => false, late = () => 0, from = 0, fec = false } = way
  const encoder = codecs.encoder(codec, { ptimeMs, opus: { fec } })
  const sent: Sent[] = []
  const out = new Uint8Array(encoder.maxBytes)
  const span = encoder.frameSamples / encoder.sampleRate
  for (let n = 0; (n + 1) * encoder.frameSamples <= sound.length; n++) {
    const bytes = out.slice(0, encoder.encode(sound, n * encoder.frameSamples, out, 0))
    if (lost(n)) continue
    const sequence = ((way.sequence ?? 65_000) + n) & 0xffff
    const timestamp = ((way.timestamp ?? 0xfffff000) + n * span * codecInfo[codec].clockRate) >>> 0
    const view = { payloadType: 0, marker: false, sequence, timestamp, ssrc: 1, start: 0, end: bytes.length }
    sent.push({ at: startTime + from + n * span * 1000 + late(n), codec, view, bytes })
  }
  encoder.close()
  return sent
}

interface Heard {
  readonly samples: Int16Array
  /** Return values of the reads. */
  readonly reported: boolean[]
  readonly stats: PlayoutStats
}

/** Plays all packets, read every 20 ms for `ms`. */
function play(
  sent: readonly Sent[],
  rate: PcmRate,
  ms: number,
  each?: (playout: Playout, n: number) => void,
): Heard {
  const playout = new Playout({ codecs, rate, noiseSeed: 1 })
  const sorted = sent.toSorted((a, b) => a.at - b.at)
  const samples = new Int16Array((48_000 * ms) / 1000)
  const reported: boolean[] = []
  let at = 0
  let next = 0
  for (let n = 0; n < ms / 20; n++) {
    const now = startTime + 3 + 20 * n
    for (; next < sorted.length && sorted[next]!.at <= now; next++) {
      const { codec, view, bytes } = sorted[next]!
      playout.receive(sorted[next]!.at, codec, view, bytes)
    }
    each?.(playout, n)
    reported.push(playout.read(now, samples.subarray(at)))
    at += playout.rate / 50
  }
  const stats = playout.stats()
  playout.close()
  return { samples: samples.subarray(0, at), reported, stats }
}

const own = (codec: AudioCodec) => codecInfo[codec].sampleRate
const rates: PcmRate[] = [8000, 16000, 48000]
const quality: Readonly<Record<AudioCodec, number>> = { PCMU: 36, PCMA: 36, G722: 38, L16: 60, opus: 28 }
const all = Object.keys(quality) as AudioCodec[]

describe.each(all)('playout of %s', (codec) => {
  it.each(rates)('is clean at %d Hz', (rate) => {
    const { samples, reported, stats } = play(send(codec, sine(437, 1000, own(codec))), rate, 900)
    expect(toneSnr(samples.subarray(rate * 0.3, rate * 0.8), 437, rate)).toBeGreaterThan(quality[codec])
    expect(reported.indexOf(true)).toBeLessThanOrEqual(3)
    expect(reported.slice(3).every(Boolean)).toBe(true)
    expect([stats.lost, stats.late, stats.concealedMs, stats.undecodable]).toEqual([0, 0, 0, 0])
  })

  it.each([10, 20, 30, 40, 50, 60])('accepts packets of %d ms', (ptimeMs) => {
    const { samples, stats } = play(send(codec, sine(437, 1500, own(codec)), { ptimeMs }), 8000, 1400)
    expect(toneSnr(samples.subarray(4000, 10_000), 437)).toBeGreaterThan(Math.min(quality[codec], 36) - 1)
    expect(stats.concealedMs).toBe(0)
  })

  it('plays every sound with jitter and loss', () => {
    const sent = send(codec, sine(437, 6000, own(codec)), {
      lost: (n) => n % 20 === 7 && n < 280,
      late: (n) => (n * 7919) % 31,
    })
    const { samples, reported, stats } = play(sent, 16000, 5800)
    expect(reported.slice(5).every(Boolean)).toBe(true)
    expect(stats.lost).toBe(14)
    expect(stats.concealedMs).toBe(280)
    expect(stats.late).toBe(0)
    // A twentieth of the sound is concealed: silence instead would give 13 dB. Concealment by Opus loses the
    // tone's phase.
    const least = codec === 'opus' ? 9 : 15
    expect(toneSnr(samples.subarray(16_000, 80_000), 437, 16000)).toBeGreaterThan(least)
  })
})

describe('playout', () => {
  it('restores a lost packet from the next if Opus carries it', () => {
    const speech = Int16Array.from({ length: 48_000 * 4 }, (_, i) => {
      const t = i / 48_000
      let sum = 0
      for (let k = 1; k < 20; k++) sum += Math.sin(2 * Math.PI * k * (120 * t + 2 * Math.sin(3 * t))) / k
      return 3000 * sum * (0.6 + 0.4 * Math.sin(2 * Math.PI * 4 * t))
    })
    const sent = send('opus', speech, { fec: true, lost: (n) => n % 10 === 5 })
    const { stats } = play(sent, 16000, 3900)
    // None in the pauses between syllables.
    const behind = sent.filter(({ view }) => (view.sequence - 65_006 + 0x10000) % 10 === 0)
    const carrying = behind.filter(({ bytes }) => carriesFec(bytes, 0, bytes.length)).length
    expect(stats.lost).toBe(19)
    expect(carrying).toBeGreaterThan(10)
    expect(stats.recovered).toBe(carrying)
  })

  it.each(['PCMU', 'PCMA', 'G722'] as const)(
    'takes packets of 200 ms (RFC 3551 section 4.2) of %s',
    (codec) => {
      const few = send(codec, sine(437, 4000, own(codec)))
      const sent = few.flatMap(({ at, view }, n) => {
        const bytes = Buffer.concat(few.slice(n, n + 10).map((one) => one.bytes))
        const sequence = (65_000 + n / 10) & 0xffff
        return n % 10 === 0 ? [{ at, codec, bytes, view: { ...view, sequence, end: bytes.length } }] : []
      })
      const { samples, stats } = play(sent, 8000, 3900)
      expect([stats.undecodable, stats.lost, stats.late, stats.concealedMs]).toEqual([0, 0, 0, 0])
      expect(toneSnr(samples.subarray(8000, 30_000), 437)).toBeGreaterThan(35)
    },
  )

  it('changes the codec within the audio', () => {
    const first = send('PCMU', sine(437, 1000), { timestamp: 5000, sequence: 100 })
    const second = send('G722', sine(437, 1000, 16000), { timestamp: 13_000, sequence: 150, from: 1000 })
    const third = send('opus', sine(437, 1000, 48000), { timestamp: 96_000, sequence: 200, from: 2000 })
    const { samples, stats, reported } = play([...first, ...second, ...third], 16000, 2900)
    expect([stats.lost, stats.late, stats.concealedMs]).toEqual([0, 0, 0])
    expect(reported.slice(3).every(Boolean)).toBe(true)
    for (const from of [0.4, 1.4, 2.4])
      expect(toneSnr(samples.subarray(from * 16_000, (from + 0.4) * 16_000), 437, 16000)).toBeGreaterThan(28)
  })

  it('reports silence, and is silent then', () => {
    const talk = send('PCMU', sine(437, 500))
    const more = send('PCMU', sine(437, 500), {
      from: 5000,
      sequence: 65_025,
      timestamp: 0xfffff000 + 8 * 5000,
    })
    const { samples, reported, stats } = play([...talk, ...more], 8000, 5600)
    expect([stats.lost, stats.late, stats.concealedMs]).toEqual([0, 0, 0])
    expect(reported[0]).toBe(false)
    // Certain 2 s after the last packet.
    expect(reported.slice(130, 250).some(Boolean)).toBe(false)
    expect(samples.subarray(130 * 160, 250 * 160).every((sample) => sample === 0)).toBe(true)
    expect(toneSnr(samples.subarray(42_500, 43_500), 437)).toBeGreaterThan(36)
  })

  it('fills the gap after comfort noise with noise of its level', () => {
    const talk = send('PCMU', sine(437, 500))
    const at = startTime + 500
    const view = { ...talk.at(-1)!.view, sequence: 65_025, timestamp: (0xfffff000 + 4000) >>> 0, end: 1 }
    const { samples, reported } = play(talk, 8000, 40_000, (playout, n) => {
      if (n === 25) playout.receiveNoise(at, view, Uint8Array.of(50))
    })
    const part = samples.subarray(8000, 80_000)
    const level = 10 * Math.log10(part.reduce((sum, s) => sum + s * s, 0) / part.length / 32_768 ** 2)
    expect(level).toBeCloseTo(-50, 0)
    expect(reported.slice(10, 1500).every(Boolean)).toBe(true)
    expect(reported.at(-1)).toBe(false)
  })

  it('changes its rate without losing audio', () => {
    const { samples, stats } = play(
      send('PCMU', sine(437, 2000), { ptimeMs: 60 }),
      8000,
      1900,
      (playout, n) => {
        if (n === 50) playout.setRate(16000)
      },
    )
    expect(stats.concealedMs).toBe(0)
    expect(samples.length).toBe(50 * 160 + 45 * 320)
    expect(toneSnr(samples.subarray(4000, 8000), 437)).toBeGreaterThan(36)
    expect(toneSnr(samples.subarray(9000, 22_000), 437, 16000)).toBeGreaterThan(36)
  })

  it('counts packets that fail to decode, and continues', () => {
    const sent = send('L16', sine(437, 1000, 16000)).map((one, n) =>
      n === 20 ? { ...one, view: { ...one.view, end: 639 } } : one,
    )
    const { stats, reported } = play(sent, 16000, 900)
    expect(stats.undecodable).toBe(1)
    expect(reported.slice(3).every(Boolean)).toBe(true)
  })

  it('increases the delay with jitter, and reduces it later in pauses of speech', () => {
    // Half a second of voice and half a second of silence in turn; 100 ms of jitter from 5 to 10 s.
    const sound = sine(200, 40_000).map((sample, i) => (i % 8000 < 4000 ? sample : 0))
    const delays: number[] = []
    const late = (n: number) => (n >= 250 && n < 500 ? (n * 7919) % 101 : 0)
    const { stats } = play(send('PCMU', sound, { late }), 8000, 39_000, (playout, n) => {
      if (n % 250 === 249) delays.push(playout.stats().delayMs)
    })
    expect(delays[0]).toBeLessThan(60)
    // Relative to arrival, whose mean is 50 ms after the fastest.
    expect(delays[1]).toBeGreaterThan(50)
    expect(delays.at(-1)).toBeLessThan(45)
    expect(stats.targetMs).toBe(20)
    expect(stats.late).toBeLessThan(12)
  })

  it('reports the delay', () => {
    const { stats } = play(
      send('PCMU', sine(437, 10_000), { late: (n) => (n % 4 === 3 ? 60 : 0) }),
      8000,
      9000,
    )
    expect(stats.targetMs).toBe(70)
    // Three in four arrive 60 ms before their time.
    expect(stats.delayMs).toBeGreaterThan(55)
    expect(stats.delayMs).toBeLessThan(90)
  })

  it('always gives 20 ms', () => {
    const packets = fc.array(
      fc.record({
        wait: fc.integer({ min: 0, max: 60 }),
        codec: fc.constantFrom(...all),
        sequence: fc.integer({ min: 0, max: 30 }),
        timestamp: fc.integer({ min: 0, max: 40_000 }),
        bytes: fc.uint8Array({ maxLength: 4200, size: 'max' }),
        noise: fc.boolean(),
        rate: fc.constantFrom(...rates),
      }),
      { maxLength: 40 },
    )
    fc.assert(
      fc.property(packets, (all) => {
        const playout = new Playout({ codecs, rate: 8000, noiseSeed: 1 })
        const out = new Int16Array(960)
        let now = startTime
        for (const { wait, codec, sequence, timestamp, bytes, noise, rate } of all) {
          const view = {
            payloadType: 0,
            marker: false,
            sequence,
            timestamp,
            ssrc: 1,
            start: 0,
            end: bytes.length,
          }
          if (noise) playout.receiveNoise(now, view, bytes)
          else playout.receive(now, codec, view, bytes)
          playout.setRate(rate)
          for (const until = now + wait; now < until; now += 20) {
            out.fill(12_345)
            playout.read(now, out)
            expect(out.subarray(rate / 50).every((sample) => sample === 12_345)).toBe(true)
          }
        }
        // Silence at the end, with the whole frame written.
        let heard = true
        for (const until = now + 40_000; now < until; now += 20) heard = playout.read(now, out.fill(12_345))
        expect(heard).toBe(false)
        expect(out.subarray(0, playout.rate / 50).every((sample) => sample === 0)).toBe(true)
        playout.close()
      }),
      { numRuns: 60 },
    )
  })
})
