import { describe, expect, it } from 'vitest'
import type { AudioSink } from './audio-sinks.ts'
import { type TestLine, TestTime } from './testing/session-line.ts'

/** µ-law octets of a loud level and of silence. */
const loud = Buffer.alloc(160, 0x90)
const silent = Buffer.alloc(160, 0xff)

/** Sink that notes the times of loud frames. */
class Ear implements AudioSink {
  readonly rate = 8000
  readonly tracks = 'in'
  readonly isPrompt: boolean
  readonly heardAt: number[] = []
  readonly #time: TestTime

  constructor(time: TestTime, isPrompt: boolean) {
    this.#time = time
    this.isPrompt = isPrompt
  }

  write(input: Int16Array | undefined): void {
    if (input?.some((sample) => Math.abs(sample) > 8000)) this.heardAt.push(this.#time.now)
  }
}

interface Run {
  readonly ears: readonly Ear[]
  /** Time at which the first loud packet arrived, in ms. */
  readonly saidAt: number
}

/**
 * Plays `seconds` of silence and then 1 s of a loud level. Packets are `late(n)` ms later than the fastest.
 * `phase`: time from a frame to the arrival of a packet, in ms.
 */
const play = (kinds: readonly boolean[], phase: number, late: (n: number) => number, seconds = 2): Run => {
  const time = new TestTime()
  const line: TestLine = time.line('192.0.2.1')
  line.set()
  const ears = kinds.map((isPrompt) => new Ear(time, isPrompt))
  for (const ear of ears) line.session.addSink(ear)
  const first = seconds * 50
  const arrivals = new Map<number, (() => void)[]>()
  line.way = (packet, arrive) => {
    const at = time.now + late(line.next.sequence - 101)
    arrivals.set(at, [...(arrivals.get(at) ?? []), () => arrive(packet)])
  }
  let saidAt = 0
  for (let ms = 0; ms < (first + 100) * 20; ms++, time.now++) {
    const n = Math.floor(ms / 20)
    if (ms % 20 === phase) {
      if (n === first) saidAt = time.now
      line.hear(n >= first && n < first + 50 ? loud : silent)
    }
    for (const arrive of arrivals.get(time.now) ?? []) arrive()
    if (ms % 10 === 0) line.session.tick(time.now)
    if (ms % 20 === 0) time.frame()
  }
  return { ears, saidAt }
}

const phases = Array.from({ length: 20 }, (_, phase) => phase)

describe('a prompt sink', () => {
  it('hears a packet within 24 ms, the next frame but for 4 ms', () => {
    const delays = phases.map((phase) => {
      const { ears, saidAt } = play([true], phase, () => 0)
      return ears[0]!.heardAt[0]! - saidAt
    })
    expect(Math.max(...delays)).toBeLessThanOrEqual(24)
    expect(delays.reduce((sum, delay) => sum + delay, 0) / delays.length).toBeLessThan(16)
  })

  it('changes nothing for the other sinks', () => {
    for (const phase of [1, 9, 17]) {
      const alone = play([false], phase, (n) => (n * 7) % 30)
      const beside = play([false, true], phase, (n) => (n * 7) % 30)
      expect(beside.ears[0]!.heardAt).toEqual(alone.ears[0]!.heardAt)
      expect(alone.ears[0]!.heardAt[0]! - alone.saidAt).toBeGreaterThanOrEqual(20)
    }
  })

  it('hears everything over an uneven path, with the delay that it needs', () => {
    for (const phase of [3, 12]) {
      const { ears, saidAt } = play([true, false], phase, (n) => (n % 5 === 4 ? 45 : (n * 3) % 8), 20)
      const [prompt, even] = ears
      expect(prompt!.heardAt.length).toBeGreaterThanOrEqual(49)
      expect(prompt!.heardAt.length).toBeLessThanOrEqual(even!.heardAt.length + 3)
      expect(prompt!.heardAt[0]! - saidAt).toBeLessThanOrEqual(80)
    }
  })
})
