import { describe, expect, it } from 'vitest'
import { goertzel, sine } from '../codecs/tone.ts'
import { payloadTypeOf, testCodecs } from '../rtp/testing/codecs.ts'
import { discontinuities, TestTime } from '../rtp/testing/session-line.ts'
import { ThreadMixer } from './thread-mixer.ts'

const toneHz = 10_000

/** Opus packets of a tone of 10 kHz, as from a browser. */
const packets = (count: number): Uint8Array[] => {
  const encoder = testCodecs.encoder('opus', { ptimeMs: 20, sampleRate: 48_000 })
  const samples = sine(toneHz, count * 20, 48_000)
  const out = new Uint8Array(encoder.maxBytes)
  const made = Array.from({ length: count }, (_, i) => out.slice(0, encoder.encode(samples, i * 960, out, 0)))
  encoder.close()
  return made
}

const decodeFullBand = (payloads: readonly Uint8Array[]): number[] => {
  const decoder = testCodecs.decoder('opus', 48_000)
  const out = new Int16Array(5760)
  const samples = payloads.flatMap((payload) =>
    Array.from(out.subarray(0, decoder.decode(payload, 0, payload.length, out))),
  )
  decoder.close()
  return samples
}

const setUp = async (rate: 16_000 | 48_000) => {
  const time = new TestTime()
  const nothing = () => {}
  const mixer = new ThreadMixer({
    rate,
    onPlayed: nothing,
    onWake: nothing,
    onSpeaker: nothing,
    onTalking: nothing,
  })
  const [speaker, browser, phone] = ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((address, i) => {
    const line = time.line(address)
    line.set({ codec: i === 2 ? 'PCMU' : 'opus' })
    mixer.add(i, {}, line.session)
    return line
  })
  time.between = () => mixer.mix()
  for (const payload of packets(75)) {
    time.pass(20, () => speaker!.hear(payload, { payloadType: payloadTypeOf('opus'), advance: 960 }))
    // Encoders are made between the turns of the event loop.
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect([browser!, phone!].flatMap((line) => discontinuities(line.sent))).toEqual([])
  const full = decodeFullBand(browser!.sent.map(({ payload }) => payload)).slice(-24_000)
  return { full, narrow: phone!.audio('PCMU').slice(-4000) }
}

describe('a tone of 10 kHz', () => {
  it('passes a mixer of 48 kHz to Opus, and leaves no alias in PCMU', async () => {
    const { full, narrow } = await setUp(48_000)
    expect(goertzel(full, toneHz, 48_000)).toBeGreaterThan(0.8)
    expect(Math.max(...narrow.map(Math.abs))).toBeLessThan(64)
  })

  it('does not pass a mixer of 16 kHz', async () => {
    const { full } = await setUp(16_000)
    expect(Math.max(...full.map(Math.abs))).toBeLessThan(200)
  })
})
