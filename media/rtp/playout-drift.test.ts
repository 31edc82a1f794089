import { beforeAll, describe, expect, it } from 'vitest'
import { loadCodecs } from '../codecs/codecs.ts'
import { encode } from '../codecs/g711.ts'
import { goertzel, sine } from '../codecs/tone.ts'
import type { Codecs } from '../codecs/types.ts'
import { Playout, type PlayoutStats } from './playout.ts'

let codecs: Codecs
beforeAll(async () => {
  codecs = await loadCodecs()
})

const hourMs = 3_600_000
/** A second of a tone, seamless in a loop. */
const toneHz = encode('PCMU', sine(440, 1000))

interface Hours {
  readonly stats: PlayoutStats
  readonly shortest: number
  readonly longest: number
  /** Minimum share of the tone in the last second of a minute, over all minutes. */
  readonly purest: number
  readonly silent: number
}

/**
 * Simulates a call of two hours with a far side whose clock is `ppm` faster. `late` is the delay of a packet
 * relative to the fastest, in ms.
 */
function twoHours(ppm: number, late: (n: number) => number): Hours {
  const playout = new Playout({ codecs, rate: 8000, noiseSeed: 1 })
  const view = { payloadType: 0, marker: false, sequence: 0, timestamp: 0, ssrc: 1, start: 0, end: 0 }
  const last = new Int16Array(8000)
  const delays: number[] = []
  const shares: number[] = []
  let silent = 0
  let n = 0
  let comes = late(0)
  for (let tick = 1; tick <= (2 * hourMs) / 20; tick++) {
    const now = tick * 20
    for (; comes <= now; n++, comes = (n * 20) / (1 + ppm / 1e6) + late(n)) {
      view.sequence = n & 0xffff
      view.timestamp = (160 * n) >>> 0
      view.start = (160 * n) % 8000
      view.end = view.start + 160
      playout.receive(comes, 'PCMU', view, toneHz)
    }
    if (!playout.read(now, last.subarray((tick % 50) * 160)) && tick > 10) silent++
    if (tick % 3000 !== 2999) continue
    delays.push(playout.stats().delayMs)
    shares.push(goertzel(last, 440))
  }
  const stats = playout.stats()
  playout.close()
  const shortest = Math.min(...delays)
  const longest = Math.max(...delays)
  return { stats, shortest, longest, purest: Math.min(...shares), silent }
}

describe.each([100, -100])('two hours with a far side that is %d ppm fast', (ppm) => {
  it('neither drain nor fill the buffer', () => {
    const { stats, shortest, longest, purest, silent } = twoHours(ppm, () => 0)
    expect([stats.lost, stats.late, stats.concealedMs, stats.duplicate, silent]).toEqual([0, 0, 0, 0, 0])
    expect(shortest).toBeGreaterThan(10)
    expect(longest).toBeLessThan(70)
    expect(purest).toBeGreaterThan(0.9)
  })

  it('are played completely with jitter', () => {
    // Between 0 and 40 ms, uniformly.
    const { stats, longest, silent } = twoHours(ppm, (n) => (n * 7919) % 41)
    expect([stats.lost, stats.late, silent]).toEqual([0, 0, 0])
    expect(stats.concealedMs).toBeLessThan(100)
    expect(longest).toBeLessThan(100)
  })
})
