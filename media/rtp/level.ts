/** Levels of linear audio in dBov: root mean square against full scale, so that the loudest sine is at -3 (RFC 3389 section 3). */

/** The lowest level that is told, as in RFC 3389 and RFC 6464; digital silence is at it as well. */
export const LOWEST_DB = -127

/** Level of a frame in dBov, {@link LOWEST_DB} to 0. */
export function levelDb(samples: Int16Array): number {
  // Two sums, as one alone waits for itself: this is most of what a silent member of a mixer costs.
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

/** The floor in the beginning: with {@link ABOVE_FLOOR_DB} it makes a threshold of -45 dBov. */
const START_FLOOR_DB = -54
/** Louder than the floor by this is no noise any more. */
const ABOVE_FLOOR_DB = 9
/** Quieter than this is never a voice, and louder never noise, whatever the floor is. */
const LOWEST_THRESHOLD_DB = -60
const HIGHEST_THRESHOLD_DB = -30
/** How fast the floor rises while everything is louder, in dB per frame: 2 dB a second, so that pauses between words hold it down. */
const RISE_DB = 0.04
/** Share of the way down to a quieter frame that the floor goes at once. */
const FALL = 0.25

/**
 * Tells voices from the noise of the room, frame by frame of 20 ms. The threshold begins at -45 dBov and follows the noise: it lies 9 dB
 * above a floor that falls within some frames to what is quieter, and rises by 2 dB a second under what is louder; never below -60 dBov
 * nor above -30. So a steady noise of -40 dBov counts as noise after 2.5 s, and music or a tone of -30 dBov or more never does.
 * Digital silence is silence, and teaches nothing about the noise: it stands for packets that did not come.
 */
export class VoiceLevel {
  /** Of the last frame, in dBov. */
  levelDb = LOWEST_DB
  /** The noise of the room, in dBov. */
  floorDb = START_FLOOR_DB
  readonly #raisedDb: number

  /** `raisedDb` lies the threshold above where it is told to lie, and all of its bounds with it; default 0. */
  constructor(raisedDb = 0) {
    this.#raisedDb = raisedDb
  }

  /** Frames louder than this, in dBov, are taken for a voice. */
  get thresholdDb(): number {
    const usual = Math.min(HIGHEST_THRESHOLD_DB, Math.max(LOWEST_THRESHOLD_DB, this.floorDb + ABOVE_FLOOR_DB))
    return usual + this.#raisedDb
  }

  /** Takes 20 ms; undefined is digital silence. True: louder than the noise. */
  update(frame: Int16Array | undefined): boolean {
    this.levelDb = frame ? levelDb(frame) : LOWEST_DB
    if (this.levelDb === LOWEST_DB) return false
    const isVoice = this.levelDb > this.thresholdDb
    if (this.levelDb < this.floorDb) this.floorDb += (this.levelDb - this.floorDb) * FALL
    else this.floorDb = Math.min(this.levelDb, this.floorDb + RISE_DB)
    return isVoice
  }
}
