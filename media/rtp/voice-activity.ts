/**
 * Levels of linear audio in dBov: root mean square against full scale, which puts the loudest sine at -3 (RFC
 * 3389 section 3).
 */

/** Minimum level, as in RFC 3389 and RFC 6464, also used for digital silence. */
export const minLevelDb = -127

/** Returns the level of a frame in dBov, {@link minLevelDb} to 0. */
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
  if (power === 0) return minLevelDb
  return Math.max(minLevelDb, 10 * Math.log10(power / samples.length) - fullScaleDb)
}

const fullScaleDb = 20 * Math.log10(32_768)

/** Initial noise floor: with {@link aboveFloorDb} it gives a threshold of -45 dBov. */
const startFloorDb = -54
/** Distance of the threshold from the noise floor. */
const aboveFloorDb = 9
/** Bounds of the threshold, independent of the noise floor. */
const minThresholdDb = -60
const maxThresholdDb = -30
/**
 * Rise of the floor under louder audio, in dB per frame: 2 dB a second, slow enough that pauses between words
 * keep the floor low.
 */
const riseDb = 0.04
/** Share of the distance to a quieter frame that the floor falls at once. */
const fallShare = 0.25

/**
 * Voice activity detection by level, in frames of 20 ms. The threshold starts at -45 dBov and lies 9 dB above
 * the noise floor, within -60 to -30 dBov. The floor falls within some frames to quieter audio, and rises by
 * 2 dB a second under louder audio.
 *
 * So a steady noise of -40 dBov counts as noise after 2.5 s; music or a tone of -30 dBov or more never does.
 * Digital silence is silence and does not change the floor: it stands for missing packets.
 */
export class VoiceActivityDetector {
  /** Level of the last frame, in dBov. */
  levelDb = minLevelDb
  /** Noise floor, in dBov. */
  floorDb = startFloorDb
  readonly #raisedDb: number

  /** `raisedDb` raises the threshold and its bounds; default 0. */
  constructor(raisedDb = 0) {
    this.#raisedDb = raisedDb
  }

  /** Level in dBov above which a frame counts as voice. */
  get thresholdDb(): number {
    const usual = Math.min(maxThresholdDb, Math.max(minThresholdDb, this.floorDb + aboveFloorDb))
    return usual + this.#raisedDb
  }

  /** Processes 20 ms; undefined is digital silence. Returns whether the frame is voice. */
  update(frame: Int16Array | undefined): boolean {
    this.levelDb = frame ? levelDb(frame) : minLevelDb
    if (this.levelDb === minLevelDb) return false
    const isVoice = this.levelDb > this.thresholdDb
    if (this.levelDb < this.floorDb) this.floorDb += (this.levelDb - this.floorDb) * fallShare
    else this.floorDb = Math.min(this.levelDb, this.floorDb + riseDb)
    return isVoice
  }
}
