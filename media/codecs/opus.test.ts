import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { OpusPreferences, PcmRate } from '../types.ts'
import { loadCodecs } from './codecs.ts'
import { carriesFec } from './opus-packet.ts'
import { dominant, sine } from './tone.ts'
import type { Codecs, EncoderOptions } from './types.ts'

let codecs: Codecs
beforeAll(async () => {
  codecs = await loadCodecs()
})
/** Waits until used spares are replaced, which takes one turn of the event loop. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
beforeEach(turn)

/**
 * Returns syllables with a varying pitch and some noise, which the encoder classifies as full-band speech.
 */
function speech(ms: number, rate: number): Int16Array {
  let state = 1
  return Int16Array.from({ length: (ms * rate) / 1000 }, (_, i) => {
    const t = i / rate
    let sum = 0
    for (let k = 1; k < 20; k++) sum += Math.sin(2 * Math.PI * k * (120 * t + 2 * Math.sin(3 * t))) / k
    state = (Math.imul(state, 1103515245) + 12345) | 0
    return (3000 * sum + (state >> 22)) * (0.5 + 0.5 * Math.sin(2 * Math.PI * 4 * t))
  })
}

async function packets(
  samples: Int16Array,
  rate: PcmRate,
  opus: OpusPreferences,
  ptimeMs = 20,
  opusFor: EncoderOptions['opusFor'] = 'call',
): Promise<Uint8Array[]> {
  await turn()
  const encoder = codecs.encoder('opus', { ptimeMs, sampleRate: rate, opus, opusFor })
  const out = new Uint8Array(encoder.maxBytes)
  const made: Uint8Array[] = []
  for (let from = 0; from + encoder.frameSamples <= samples.length; from += encoder.frameSamples) {
    made.push(out.slice(0, encoder.encode(samples, from, out, 0)))
  }
  encoder.close()
  return made
}

const bitrate = (made: readonly Uint8Array[]) =>
  (made.reduce((sum, p) => sum + p.length, 0) * 8 * 50) / made.length
/** Audio bandwidth of a packet by its configuration (RFC 6716 table 2), in Hz. */
const bandwidth = (packet: Uint8Array) => {
  const configuration = packet[0]! >> 3
  if (configuration < 12) return [8000, 12_000, 16_000][configuration >> 2]!
  if (configuration < 16) return [24_000, 48_000][(configuration - 12) >> 1]!
  return [8000, 16_000, 24_000, 48_000][(configuration - 16) >> 2]!
}

describe('Opus', () => {
  it.each([
    [10, 10],
    [20, 20],
    [30, 20],
    [40, 40],
    [50, 40],
    [60, 60],
  ])('makes packets for a ptime of %d ms: %d ms', async (ptimeMs, expected) => {
    const decoder = codecs.decoder('opus', 16000)
    const out = new Int16Array(16000 / 5)
    for (const packet of await packets(sine(700, 400, 8000), 8000, {}, ptimeMs)) {
      expect(decoder.decode(packet, 0, packet.length, out)).toBe(expected * 16)
    }
    expect(dominant(out.subarray(0, expected * 16), 16000)).toBeCloseTo(700, -2)
    decoder.close()
  })

  it('uses the bitrate and bandwidth that the far side prefers', async () => {
    const sound = speech(3000, 48000)
    expect(bitrate(await packets(sound, 48000, { bitrate: 10_000 }))).toBeLessThan(11_000)
    expect(bitrate(await packets(sound, 48000, {}))).toBeGreaterThan(20_000)
    for (const rate of [8000, 12_000, 16_000, 24_000]) {
      const made = await packets(sound, 48000, { maxPlaybackRate: rate })
      const widest = Math.max(...made.map(bandwidth))
      expect(widest).toBeLessThanOrEqual(rate)
    }
    const made = await packets(sound, 48000, {})
    expect(Math.max(...made.map(bandwidth))).toBe(48_000)
  })

  it('has the full band and 48 kbit/s for a file, without the speech coder and redundancy', async () => {
    const made = await packets(speech(3000, 48_000), 48_000, { fec: true, bitrate: 10_000 }, 20, 'file')
    expect(Math.abs(bitrate(made) - 48_000)).toBeLessThan(5000)
    // Configuration 31 (RFC 6716 table 2): CELT alone, full band, 20 ms.
    expect([...new Set(made.map((packet) => packet[0]! >> 3))]).toEqual([31])
    expect(made.some((packet) => carriesFec(packet, 0, packet.length))).toBe(false)
  })

  it('makes packets of constant size if the far side prefers that', async () => {
    const sizes = async (cbr: boolean) =>
      new Set((await packets(speech(1000, 16000), 16000, { cbr })).map((p) => p.length)).size
    expect(await sizes(true)).toBe(1)
    expect(await sizes(false)).toBeGreaterThan(5)
  })

  it('sends nothing in silence if the far side prefers that', async () => {
    const silence = new Int16Array(16000 * 2)
    const sent = async (dtx: boolean) =>
      (await packets(silence, 16000, { dtx })).filter((p) => p.length > 0).length
    expect(await sent(false)).toBe(100)
    expect(await sent(true)).toBeLessThan(30)
  })

  it('restores a lost packet from the next, better than concealment', async () => {
    const rate = 16000
    const made = await packets(speech(3000, rate), rate, { fec: true })
    const carrying = made.filter((p) => carriesFec(p, 0, p.length)).length
    expect(carrying).toBeGreaterThan(made.length / 2)
    expect(errorOfEveryTenth(made, true)).toBeLessThan(errorOfEveryTenth(made, false) / 2)
  })

  it('reports a packet that restores nothing', async () => {
    const rate = 16000
    const out = new Int16Array(320)
    const plain = await packets(speech(1000, rate), rate, { fec: false })
    const decoder = codecs.decoder('opus', rate)
    expect(plain.some((p) => decoder.recover!(p, 0, p.length, 320, out))).toBe(false)
    decoder.close()
  })

  it('survives packets that are not Opus', async () => {
    const decoder = codecs.decoder('opus', 8000)
    const out = new Int16Array(960)
    const broken = Uint8Array.of(0x0b, 0xff, 0xff, 0xff)
    expect(decoder.decode(broken, 0, 4, out)).toBe(-1)
    expect(decoder.decode(broken, 2, 2, out)).toBe(-1)
    expect(decoder.recover!(broken, 0, 4, 160, out)).toBe(false)
    const [packet] = await packets(sine(700, 20, 8000), 8000, {})
    expect(decoder.decode(packet!, 0, packet!.length, out.subarray(0, 80))).toBe(-1)
    expect(decoder.decode(packet!, 0, packet!.length, out)).toBe(160)
    decoder.close()
    expect(decoder.decode(packet!, 0, packet!.length, out)).toBe(-1)
    decoder.conceal(160, out.fill(7))
    expect(out.subarray(0, 160).every((sample) => sample === 0)).toBe(true)
  })

  it('provides more handles than spares, in later turns', async () => {
    const many = Array.from({ length: 20 }, () => codecs.encoder('opus', { ptimeMs: 20, sampleRate: 8000 }))
    const out = new Uint8Array(1275)
    const tone = sine(700, 20, 8000)
    expect(many.filter((encoder) => encoder.encode(tone, 0, out, 0) > 0).length).toBeLessThan(20)
    await new Promise<void>((resolve) => setImmediate(resolve))
    expect(many.filter((encoder) => encoder.encode(tone, 0, out, 0) > 0)).toHaveLength(20)
    for (const encoder of many) encoder.close()
  })
})

/** Mean square error with every tenth packet lost, compared with no loss. */
function errorOfEveryTenth(made: readonly Uint8Array[], fec: boolean): number {
  const whole = codecs.decoder('opus', 16000)
  const lossy = codecs.decoder('opus', 16000)
  const right = new Int16Array(320)
  const out = new Int16Array(320)
  let error = 0
  for (const [i, packet] of made.entries()) {
    whole.decode(packet, 0, packet.length, right)
    const next = made[i + 1]
    if (i % 10 !== 5 || !next) {
      lossy.decode(packet, 0, packet.length, out)
      continue
    }
    if (!fec || !lossy.recover!(next, 0, next.length, 320, out)) lossy.conceal(320, out)
    for (let k = 0; k < 320; k++) error += (out[k]! - right[k]!) ** 2
  }
  whole.close()
  lossy.close()
  return error
}
