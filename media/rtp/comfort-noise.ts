/** Comfort noise (RFC 3389): a noise level in place of silent audio, and noise generated from it. */
import { minLevelDb } from './voice-activity.ts'

/**
 * Returns the noise level of a payload in dBov, -127 to 0; undefined if malformed. Ignores spectral
 * information.
 */
export function readComfortNoise(packet: Uint8Array, start: number, end: number): number | undefined {
  if (start >= end || end > packet.length) return undefined
  const level = packet[start]!
  // The first bit is unused and must be 0 (section 3).
  return level > 127 ? undefined : 0 - level
}

/**
 * Writes a one-byte payload with the level at `at`. The level is rounded and limited to -127 to 0 dBov.
 * Returns the number of bytes.
 */
export function writeComfortNoise(level: number, out: Uint8Array, at: number): number {
  out[at] = Math.round(-Math.min(0, Math.max(minLevelDb, level)))
  return 1
}

/** Ratio of peak to root mean square of uniformly distributed noise. */
const peakFactor = Math.sqrt(3)

/** White noise generator; one per stream. A new level is reached over one frame to avoid clicks. */
export class ComfortNoise {
  #state: number
  #gain: number | undefined

  /** `seed` is any number but 0; different seeds give different noise. */
  constructor(seed = 0x2545f491) {
    this.#state = seed | 0 || 1
  }

  /**
   * Fills `out` with noise of `level` dBov. Clips above -4.8 dBov, the maximum of uniformly distributed
   * noise.
   */
  fill(level: number, out: Int16Array): void {
    const target = level <= minLevelDb ? 0 : peakFactor * 10 ** (level / 20)
    let gain = this.#gain ?? target
    const step = (target - gain) / out.length
    let state = this.#state
    for (let i = 0; i < out.length; i++) {
      // Marsaglia's xorshift. As a signed number, its 32 bits have 2^16 times the range of samples.
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
