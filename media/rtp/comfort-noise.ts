/** Comfort noise (RFC 3389): a level in place of silence, and noise made from it. */
import { LOWEST_DB } from './level.ts'

/** Reads the noise level of a payload, in dBov, -127 to 0; undefined when it is malformed. Spectral information is passed over. */
export function readComfortNoise(packet: Uint8Array, start: number, end: number): number | undefined {
  if (start >= end || end > packet.length) return undefined
  const level = packet[start]!
  // The first bit is not used, and has to be 0 (section 3).
  return level > 127 ? undefined : 0 - level
}

/** Writes a payload of one byte, level only, at `at`; the level is rounded, and brought to -127 to 0 dBov. Gives the bytes written. */
export function writeComfortNoise(level: number, out: Uint8Array, at: number): number {
  out[at] = Math.round(-Math.min(0, Math.max(LOWEST_DB, level)))
  return 1
}

/** Peak of evenly distributed noise by its root mean square. */
const PEAK = Math.sqrt(3)

/** White noise of a given level. One per stream: a new level is reached over one frame, so that nothing clicks. */
export class ComfortNoise {
  #state: number
  #gain: number | undefined

  /** `seed` is any number but 0: streams with different ones have different noise. */
  constructor(seed = 0x2545f491) {
    this.#state = seed | 0 || 1
  }

  /** Fills `out` with noise of `level` dBov. Clipped where the level is louder than evenly distributed noise can be, -4.8 dBov. */
  fill(level: number, out: Int16Array): void {
    const target = level <= LOWEST_DB ? 0 : PEAK * 10 ** (level / 20)
    let gain = this.#gain ?? target
    const step = (target - gain) / out.length
    let state = this.#state
    for (let i = 0; i < out.length; i++) {
      // Marsaglia's xorshift: its 32 bits, as a signed number, are 2^16 times the samples' range.
      state ^= state << 13
      state ^= state >>> 17
      state ^= state << 5
      gain += step
      out[i] = Math.max(-32_768, Math.min(32_767, Math.round((state / 65_536) * gain)))
    }
    this.#state = state
    this.#gain = target
  }
}
