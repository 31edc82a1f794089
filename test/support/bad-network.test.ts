import { expect, it, vi } from 'vitest'
import { BadNetwork } from './bad-network.ts'

const badness = { loss: 0.05, jitterMs: 30, seed: 1 }
const fates = (count: number, more: Partial<typeof badness> = {}): (number | undefined)[] => {
  const network = new BadNetwork({ ...badness, ...more })
  return Array.from({ length: count }, () => network.fate())
}

it('the bad network loses and delays packets at the configured rates', () => {
  const all = fates(20_000)
  const delays = all.filter((delay) => delay !== undefined)
  expect(1 - delays.length / all.length).toBeCloseTo(0.05, 2)
  expect(Math.min(...delays)).toBeGreaterThanOrEqual(0)
  expect(Math.min(...delays)).toBeLessThan(1)
  expect(Math.max(...delays)).toBeLessThan(60)
  expect(Math.max(...delays)).toBeGreaterThan(59)
  expect(delays.reduce((sum, delay) => sum + delay, 0) / delays.length).toBeCloseTo(30, 0)
})

it('the bad network repeats its losses and delays with the same seed, and differs with another seed', () => {
  expect(fates(500)).toEqual(fates(500))
  expect(fates(500, { seed: 2 })).not.toEqual(fates(500))
})

it('the bad network loses the same packets with any jitter', () => {
  const lost = (jitterMs: number): boolean[] => fates(500, { jitterMs }).map((delay) => delay === undefined)
  expect(lost(0)).toEqual(lost(30))
})

it('the bad network delivers packets after their delays, out of order, and counts lost ones', () => {
  vi.useFakeTimers()
  try {
    const network = new BadNetwork(badness)
    const arrived: { readonly packet: number; readonly at: number }[] = []
    const began = Date.now()
    for (let packet = 0; packet < 200; packet++)
      network.carry(() => arrived.push({ packet, at: Date.now() - began }))
    vi.advanceTimersByTime(60)
    expect(network.taken).toBe(200)
    expect(network.lost).toBeGreaterThan(0)
    expect(arrived).toHaveLength(200 - network.lost)
    const order = arrived.map(({ packet }) => packet)
    expect(order).not.toEqual(order.toSorted((a, b) => a - b))
    const expected = fates(200)
    for (const { packet, at } of arrived) expect(Math.abs(at - expected[packet]!)).toBeLessThanOrEqual(1)
  } finally {
    vi.useRealTimers()
  }
})

it('the bad network delivers nothing after it was closed', () => {
  vi.useFakeTimers()
  try {
    const network = new BadNetwork({ ...badness, loss: 0 })
    let arrived = 0
    network.carry(() => arrived++)
    network.close()
    vi.advanceTimersByTime(100)
    expect(arrived).toBe(0)
  } finally {
    vi.useRealTimers()
  }
})
