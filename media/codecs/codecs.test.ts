import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { AudioCodec } from '../types.ts'
import { loadCodecs } from './codecs.ts'
import { Resampler } from './resampler.ts'
import { sine, toneSnr } from './tone.ts'
import type { Codecs } from './types.ts'

let codecs: Codecs
beforeAll(async () => {
  codecs = await loadCodecs()
})
beforeEach(() => new Promise<void>((resolve) => setImmediate(resolve)))

const all: AudioCodec[] = ['PCMU', 'PCMA', 'G722', 'L16', 'opus']
/**
 * Signal-to-noise ratio of a tone in the telephone band after each codec, in dB. Limited by the steps of
 * G.711 and the bitrate of Opus.
 */
const quality: Readonly<Record<AudioCodec, number>> = { PCMU: 36, PCMA: 36, G722: 38, L16: 80, opus: 30 }
const pairs = all.flatMap((from) => all.map((to) => ({ from, to })))

/** Returns the last 300 ms of a tone of 600 ms after one codec, a resampler and the other codec. */
function transcoded(from: AudioCodec, to: AudioCodec, frequency: number): { out: Int16Array; rate: number } {
  const coders = [codecs.encoder(from, { ptimeMs: 20 }), codecs.encoder(to, { ptimeMs: 20 })] as const
  const decoders = [codecs.decoder(from), codecs.decoder(to)] as const
  const rate = coders[1].sampleRate
  const resampler = new Resampler(decoders[0].sampleRate, rate)
  const packet = new Uint8Array(4000)
  const first = new Int16Array(960)
  const second = new Int16Array(960)
  const out = new Int16Array((rate * 600) / 1000)
  const tone = sine(frequency, 600, coders[0].sampleRate)
  for (let frame = 0; frame < 30; frame++) {
    const bytes = coders[0].encode(tone, frame * coders[0].frameSamples, packet, 0)
    const samples = decoders[0].decode(packet, 0, bytes, first)
    expect(resampler.process(first, 0, samples, second, 0)).toBe(rate / 50)
    const again = coders[1].encode(second, 0, packet, 0)
    expect(decoders[1].decode(packet, 0, again, first)).toBe(rate / 50)
    out.set(first.subarray(0, rate / 50), (frame * rate) / 50)
  }
  for (const part of [...coders, ...decoders]) part.close()
  return { out: out.subarray(out.length / 2), rate }
}

describe('transcoding', () => {
  it.each(pairs)('keeps tones from $from to $to', async ({ from, to }) => {
    // Two noises of the same power are 3 dB more than one.
    const least = Math.min(quality[from], quality[to]) - 3
    for (const frequency of [437, 1009, 3001]) {
      const { out, rate } = transcoded(from, to, frequency)
      expect(toneSnr(out, frequency, rate)).toBeGreaterThan(least)
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
  })
})

describe('codecs', () => {
  it.each([10, 20, 30, 40, 50, 60])('have packets of %d ms', (ptimeMs) => {
    const sizes = (['PCMU', 'PCMA', 'G722', 'L16'] as const).map((codec) => {
      const encoder = codecs.encoder(codec, { ptimeMs })
      const bytes = new Uint8Array(encoder.maxBytes)
      return encoder.encode(sine(500, ptimeMs, encoder.sampleRate), 0, bytes, 0)
    })
    expect(sizes).toEqual([8 * ptimeMs, 8 * ptimeMs, 8 * ptimeMs, 32 * ptimeMs])
  })

  it('describe what is wrong with invalid options', () => {
    expect(() => codecs.encoder('PCMU', { ptimeMs: 25 })).toThrow('ptimeMs is 25')
    expect(() => codecs.encoder('PCMU', { ptimeMs: 70 })).toThrow('ptimeMs is 70')
    expect(() => codecs.encoder('G722', { ptimeMs: 20, sampleRate: 8000 })).toThrow('G722 is 16000, not 8000')
  })

  it.each(['PCMU', 'G722', 'L16'] as const)(
    'reject a packet of %s that exceeds the output buffer',
    (codec) => {
      const decoder = codecs.decoder(codec)
      expect(decoder.decode(new Uint8Array(400), 0, 400, new Int16Array(100))).toBe(-1)
    },
  )
})
