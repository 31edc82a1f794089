/**
 * Levels of linear audio in dBov: root mean square against full scale, which puts the loudest sine at -3 (RFC
 * 3389 section 3).
 */

/** Minimum level, as in RFC 3389 and RFC 6464, also used for digital silence. */
export const LOWEST_DB = -127

/** Returns the level of a frame in dBov, {@link LOWEST_DB} to 0. */
export function levelDb(samples: Int16Array): number {
  // Two sums avoid waiting for the previous addition: this is most of the cost of a silent mixer input.
  let even = 0
  let odd = 0
  const end = samples.length - 1
  for (let i = 0; i < end; i += 2) {
    const a = samples[i]!
    const b = samples[i + 1]!
    even += a * a
    odd += b * b
  }
  if (samples.length % 2 === 1) even += samples[end]! * samples[end]!
  const power = even + odd
  if (power === 0) return LOWEST_DB
  return Math.max(LOWEST_DB, 10 * Math.log10(power / samples.length) - FULL_SCALE_DB)
}

const FULL_SCALE_DB = 20 * Math.log10(32_768)

/** Initial noise floor: with {@link ABOVE_FLOOR_DB} it gives a threshold of -45 dBov. */
const START_FLOOR_DB = -54
/** Distance of the threshold from the noise floor. */
const ABOVE_FLOOR_DB = 9
/** Bounds of the threshold, independent of the noise floor. */
const LOWEST_THRESHOLD_DB = -60
const HIGHEST_THRESHOLD_DB = -30
/**
 * Rise of the floor while everything is louder, in dB per frame: 2 dB a second, so that pauses between words
 * keep it low.
 */
const RISE_DB = 0.04
/** Share of the distance to a quieter frame that the floor falls at once. */
const FALL = 0.25

/**
 * Voice activity detection by level, in frames of 20 ms. The threshold starts at -45 dBov and lies 9 dB above
 * the noise floor, within -60 to -30 dBov. The floor falls within some frames to quieter audio, and rises by
 * 2 dB a second under louder audio.
 *
 * So a steady noise of -40 dBov counts as noise after 2.5 s; music or a tone of -30 dBov or more never does.
 * Digital silence is silence and does not change the floor: it stands for missing packets.
 */
export class VoiceLevel {
  /** Level of the last frame, in dBov. */
  levelDb = LOWEST_DB
  /** Noise floor, in dBov. */
  floorDb = START_FLOOR_DB
  readonly #raisedDb: number

  /** `raisedDb` raises the threshold and its bounds; default 0. */
  constructor(raisedDb = 0) {
    this.#raisedDb = raisedDb
  }

  /** Level in dBov above which a frame counts as voice. */
  get thresholdDb(): number {
    const usual = Math.min(HIGHEST_THRESHOLD_DB, Math.max(LOWEST_THRESHOLD_DB, this.floorDb + ABOVE_FLOOR_DB))
    return usual + this.#raisedDb
  }

  /** Processes 20 ms; undefined is digital silence. Returns whether the frame is voice. */
  update(frame: Int16Array | undefined): boolean {
    this.levelDb = frame ? levelDb(frame) : LOWEST_DB
    if (this.levelDb === LOWEST_DB) return false
    const isVoice = this.levelDb > this.thresholdDb
    if (this.levelDb < this.floorDb) this.floorDb += (this.levelDb - this.floorDb) * FALL
    else this.floorDb = Math.min(this.levelDb, this.floorDb + RISE_DB)
    return isVoice
  }
}
