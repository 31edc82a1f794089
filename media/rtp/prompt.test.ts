import { describe, expect, it } from 'vitest'
import { decode, encode, SILENCE } from '../codecs/g711.ts'
import { PromptSource } from './prompt.ts'

const ramp = Int16Array.from({ length: 250 }, (_, i) => i * 100)
const take = (source: PromptSource, count: number) => {
  const bytes = new Uint8Array(count)
  source.take('PCMU', count, bytes, 0)
  return bytes
}

describe('a prompt', () => {
  it('is taken frame by frame, and filled up with silence', () => {
    const source = new PromptSource(ramp, 1, 0)
    expect([...take(source, 160)]).toEqual([...encode('PCMU', ramp.subarray(0, 160))])
    expect(source.ended).toBe(false)
    const last = take(source, 160)
    expect([...last.subarray(0, 90)]).toEqual([...encode('PCMU', ramp.subarray(160))])
    expect(last.subarray(90).every((byte) => byte === SILENCE.PCMU)).toBe(true)
    expect(source.ended).toBe(true)
  })

  it('is repeated without a gap, as often as was asked', () => {
    const source = new PromptSource(ramp, 3, 0)
    const whole = Buffer.concat(Array.from({ length: 5 }, () => take(source, 150)))
    const once = Buffer.from(encode('PCMU', ramp))
    expect(whole.equals(Buffer.concat([once, once, once]))).toBe(true)
    expect(source.ended).toBe(true)
  })

  it('goes on for ever with a loop of 0', () => {
    const source = new PromptSource(ramp, 0, 0)
    for (let i = 0; i < 10_000; i++) take(source, 160)
    expect(source.ended).toBe(false)
  })

  it('is made louder and quieter, and clipped', () => {
    const [quiet, loud] = [-6.0206, 20].map((db) => decode('PCMU', take(new PromptSource(ramp, 1, db), 250)))
    expect(quiet![100]! / 5000).toBeCloseTo(1, 1)
    expect(loud![200]).toBeGreaterThan(32_000)
  })

  it('that is empty is at its end at once', () => {
    expect(new PromptSource(new Int16Array(0), 0, 0).ended).toBe(true)
  })
})
