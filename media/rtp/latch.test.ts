import { describe, expect, it } from 'vitest'
import { Latch } from './latch.ts'

const target = { address: '192.0.2.1', port: 4000 }

describe('the latch', () => {
  it('accepts nobody before it has a target', () => {
    expect(new Latch(true).agrees('192.0.2.1', 4000)).toBe(false)
  })

  it('accepts the announced address with any port, and sends to the announced one until it has learnt', () => {
    const latch = new Latch(true)
    latch.aim(target)
    expect([latch.agrees('192.0.2.1', 4000), latch.agrees('192.0.2.1', 61000)]).toEqual([true, true])
    expect(latch.agrees('192.0.2.2', 4000)).toBe(false)
    expect([latch.address, latch.port]).toEqual(['192.0.2.1', 4000])
  })

  it('once latched refuses the same address with another port, and everybody else', () => {
    const latch = new Latch(true)
    latch.aim(target)
    expect(latch.learn('192.0.2.1', 61000)).toBe(true)
    expect(latch.agrees('192.0.2.1', 61000)).toBe(true)
    expect([latch.agrees('192.0.2.1', 4000), latch.agrees('198.51.100.9', 61000)]).toEqual([false, false])
    expect([latch.address, latch.port]).toEqual(['192.0.2.1', 61000])
    expect(latch.learn('192.0.2.1', 4000)).toBe(false)
    expect(latch.port).toBe(61000)
  })

  it('learns once more after being aimed again, and keeps the learnt source meanwhile if nothing changed', () => {
    const latch = new Latch(true)
    latch.aim(target)
    latch.learn('192.0.2.1', 61000)
    latch.aim({ ...target })
    expect([latch.port, latch.latched]).toEqual([61000, false])
    expect(latch.learn('192.0.2.1', 62000)).toBe(true)
    expect(latch.agrees('192.0.2.1', 61000)).toBe(false)
  })

  it('goes to a new target at once', () => {
    const latch = new Latch(true)
    latch.aim(target)
    latch.learn('192.0.2.1', 61000)
    latch.aim({ address: '203.0.113.5', port: 5000 })
    expect([latch.address, latch.port]).toEqual(['203.0.113.5', 5000])
    expect(latch.agrees('192.0.2.1', 61000)).toBe(false)
  })

  it('learns from a further address that was vouched for', () => {
    const latch = new Latch(true)
    latch.aim({ address: '10.0.0.4', port: 4000, learnFrom: ['198.51.100.1'] })
    expect([latch.agrees('198.51.100.1', 9), latch.agrees('198.51.100.2', 9)]).toEqual([true, false])
  })

  it('wants the very port where the far end is on the same host', () => {
    const latch = new Latch(false)
    latch.aim({ address: '127.0.0.1', port: 4000 })
    expect([latch.agrees('127.0.0.1', 4000), latch.agrees('127.0.0.1', 4001)]).toEqual([true, false])
  })
})
