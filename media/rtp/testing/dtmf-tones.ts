/** Sounds for tests of the DTMF detector. */
import { dtmfFrequencies } from '../tone-bank.ts'

/** Keys in the order of rows and columns. */
export const dtmfKeys = '123A456B789C*0#D'

/** One key press and the silence after it. */
export interface ToneBurst {
  readonly key: string
  readonly ms: number
  readonly pauseMs: number
  /** Level of the row's tone in dBm0, and level of the column relative to it. */
  readonly rowDb: number
  readonly twistDb: number
  /** Relative deviation of the frequencies. */
  readonly rowOff: number
  readonly columnOff: number
}

/** Returns the amplitude of a sine by its level in dBm0. */
export const amplitudeOf = (dbm0: number): number => 32_768 * 10 ** ((dbm0 - 3.17) / 20)

/** Returns a generator of random numbers from 0 to 1, reproducible by `seed` (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Returns the 16-bit samples of a sound given as a function of time. */
export function render(rate: number, ms: number, at: (seconds: number) => number): Int16Array {
  return Int16Array.from({ length: Math.round((ms * rate) / 1000) }, (_, i) =>
    Math.max(-32_768, Math.min(32_767, Math.round(at(i / rate)))),
  )
}

/** Returns key presses in sequence, with noise `snrDb` below the power of each. */
export function dial(rate: number, presses: readonly ToneBurst[], snrDb: number, seed: number): Int16Array {
  const random = randomFrom(seed)
  const noise = (deviation: number): number =>
    deviation * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  const parts = presses.flatMap((press) => {
    const at = dtmfKeys.indexOf(press.key)
    const row = amplitudeOf(press.rowDb)
    const column = amplitudeOf(press.rowDb + press.twistDb)
    const rowTurns = 2 * Math.PI * dtmfFrequencies[at >> 2]! * (1 + press.rowOff)
    const columnTurns = 2 * Math.PI * dtmfFrequencies[(at & 3) + 4]! * (1 + press.columnOff)
    const phase = 2 * Math.PI * random()
    const deviation = Math.sqrt((row ** 2 + column ** 2) / 2) * 10 ** (-snrDb / 20)
    const tones = (t: number) => row * Math.sin(rowTurns * t + phase) + column * Math.sin(columnTurns * t)
    return [
      render(rate, press.ms, (t) => tones(t) + noise(deviation)),
      render(rate, press.pauseMs, () => noise(deviation)),
    ]
  })
  return joined(parts)
}

/** Concatenates samples. */
export function joined(parts: readonly Int16Array[]): Int16Array {
  const all = new Int16Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
