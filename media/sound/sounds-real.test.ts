import { afterAll, describe, expect, it } from 'vitest'
import { goertzel } from '../codecs/tone.ts'
import { createSounds } from './sounds.ts'

describe('the real voice', () => {
  const sounds = createSounds({ voice: 'slt' })
  afterAll(() => sounds.close())

  it.each(['slt', 'rms', 'awb', 'kal', 'kal16'])('%s says a sentence', { timeout: 20_000 }, async (voice) => {
    const text = 'Hello, welcome to Trunkline. Press one for sales.'
    const { samples } = await sounds.prepare({ kind: 'speech', text, voice })
    expect(samples.buffer).toBeInstanceOf(SharedArrayBuffer)
    expect(samples.length / 8000).toBeGreaterThan(2.5)
    expect(samples.length / 8000).toBeLessThan(6)
    const level = Math.sqrt(samples.reduce((sum, v) => sum + v * v, 0) / samples.length)
    expect(level).toBeGreaterThan(800)
    expect(level).toBeLessThan(8000)
  })

  it('does not speak the markup', { timeout: 20_000 }, async () => {
    const plain = await sounds.prepare({ kind: 'speech', text: 'Hello there' })
    const marked = await sounds.prepare({
      kind: 'speech',
      text: '<speak><voice name="x">Hello there</voice></speak>',
    })
    expect(marked.samples).toBe(plain.samples)
  })

  it('uses the bandwidth of the port', { timeout: 20_000 }, async () => {
    const { samples } = await sounds.prepare({ kind: 'speech', text: 'Six sizzling sausages' }, 16_000)
    // Share of the power between 4.5 and 7.5 kHz in each 20 ms: most of an s is there.
    const shares = Array.from({ length: Math.floor(samples.length / 320) }, (_, frame) => {
      const part = samples.subarray(frame * 320, frame * 320 + 320)
      let sum = 0
      for (let frequency = 4500; frequency <= 7500; frequency += 50) sum += goertzel(part, frequency, 16_000)
      return sum
    })
    expect(shares.filter((share) => share > 0.3).length).toBeGreaterThan(10)
  })
})
