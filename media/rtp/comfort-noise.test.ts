import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ComfortNoise, readComfortNoise, writeComfortNoise } from './comfort-noise.ts'
import { levelDb } from './voice-activity.ts'

describe('the payload', () => {
  it('restores the level', () => {
    const property = fc.property(fc.integer({ min: -127, max: 0 }), fc.nat(9), (db, at) => {
      const packet = new Uint8Array(20).fill(0xff)
      expect(writeComfortNoise(db, packet, at)).toBe(1)
      expect(readComfortNoise(packet, at, at + 1)).toBe(db)
    })
    fc.assert(property)
  })

  it('limits levels to the range', () => {
    const packet = new Uint8Array(1)
    writeComfortNoise(-200, packet, 0)
    expect(packet[0]).toBe(127)
    writeComfortNoise(3, packet, 0)
    expect(packet[0]).toBe(0)
    writeComfortNoise(-55.6, packet, 0)
    expect(packet[0]).toBe(56)
  })

  it('ignores spectral information', () => {
    expect(readComfortNoise(Uint8Array.of(60, 127, 3, 200), 0, 4)).toBe(-60)
  })

  it.each([
    ['nothing', Uint8Array.of(), 0, 0],
    ['an end before the start', Uint8Array.of(1, 2), 1, 1],
    ['an end behind the packet', Uint8Array.of(1), 0, 2],
    ['the first bit set', Uint8Array.of(0x80), 0, 1],
  ])('rejects %s', (_, packet, start, end) => {
    expect(readComfortNoise(packet, start, end)).toBeUndefined()
  })
})

describe('ComfortNoise', () => {
  it.each([160, 320])('has the requested level, in frames of %i', (samples) => {
    for (const level of [-10, -30, -50, -65, -75]) {
      const noise = new ComfortNoise(7)
      const second = new Int16Array(samples * 50)
      for (let i = 0; i < 50; i++) noise.fill(level, second.subarray(i * samples, (i + 1) * samples))
      expect(Math.abs(levelDb(second) - level)).toBeLessThan(0.7)
    }
  })

  it('is white: neighbouring samples do not correlate', () => {
    const out = new Int16Array(16_000)
    new ComfortNoise().fill(-20, out)
    const power = out.reduce((sum, v) => sum + v * v, 0)
    for (const lag of [1, 2, 3, 8, 160]) {
      let product = 0
      for (let i = lag; i < out.length; i++) product += out[i]! * out[i - lag]!
      expect(Math.abs(product / power)).toBeLessThan(0.03)
    }
  })

  it('reaches a new level within a frame', () => {
    const noise = new ComfortNoise()
    const frame = new Int16Array(160)
    noise.fill(-70, frame)
    noise.fill(-20, frame)
    expect(levelDb(frame.subarray(0, 20))).toBeLessThan(levelDb(frame.subarray(140)) - 6)
    noise.fill(-20, frame)
    expect(Math.abs(levelDb(frame) + 20)).toBeLessThan(1)
    noise.fill(-127, frame)
    noise.fill(-127, frame)
    expect(frame.every((v) => v === 0)).toBe(true)
  })

  it('does not wrap at the loudest level', () => {
    const frame = new Int16Array(16_000)
    new ComfortNoise().fill(0, frame)
    expect(levelDb(frame)).toBeGreaterThan(-3)
  })
})
