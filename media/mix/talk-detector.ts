import { minLevelDb } from '../rtp/voice-activity.ts'
import type { Talk } from '../types.ts'

/** Minimum level of a voice, in dBov. */
const minVoiceDb = -55
/** Distance of a voice from the noise floor, in dB. */
const aboveFloorDb = 7
/** Noise floor before any audio, in dBov. */
const startFloorDb = -60
/** Window of the noise floor: 5 parts of 12 frames, 1.2 s. */
const windowParts = 5
const partFrames = 12
/** Weight of a new frame in the level whose minimum is the floor: 60 ms. */
const newFrameShare = 0.33
/** Voice in frames after which an input talks: 200 ms. A frame without voice takes one back. */
const minVoiceFrames = 10
/** Frames without voice after which it no longer talks: 700 ms. */
const maxPauseFrames = 35
/** Frames without voice after which it pauses: 100 ms, more than between two syllables. */
const minPauseFrames = 5
/** Voice in frames that ends a pause: single loud frames of noise do not. */
const minResumeFrames = 3
/** Voice in frames that no pause between syllables takes back before talking: 100 ms. */
const firmVoiceFrames = 5
/** Frames without voice that may lie between two syllables or words of one sentence: 160 ms. */
const maxGapFrames = 8
/**
 * Frames after which talking is speech and no short word, with the pauses between syllables. The voice of
 * 400 ms touches up to 21 frames.
 */
const minSpeechFrames = 22

/**
 * Detects whether an input talks, from the levels of its frames of 20 ms. It talks after 200 ms of voice,
 * and no longer after 700 ms without. It speaks after 440 ms of talking with the pauses between its
 * syllables; a word of less than 400 ms is not enough.
 *
 * Voice is 7 dB louder than the noise floor, the minimum of the last 1.2 s. Speech has pauses between its
 * syllables, so its floor stays low. Noise, hum and tones of any level have none, and count as noise after
 * 1.2 s.
 */
export class TalkDetector {
  /** Whether the input talks. */
  talk: Talk = 'silent'
  /** Minimum levels of the parts of the window, in dBov. */
  readonly #parts = new Float64Array(windowParts).fill(startFloorDb)
  #part = 0
  #frames = 0
  #smoothDb = startFloorDb
  #voiceFrames = 0
  #pauseFrames = 0
  /** Frames of the present talking, up to its last voice, without longer pauses. */
  #speechFrames = 0

  /** Noise floor in dBov: the minimum of the last 1.2 s. */
  get floorDb(): number {
    const parts = this.#parts
    let least = parts[0]!
    for (let i = 1; i < windowParts; i++) if (parts[i]! < least) least = parts[i]!
    return least
  }

  /**
   * Processes the level of 20 ms, in dBov. {@link minLevelDb} is digital silence, which stands for missing
   * packets and leaves the floor as it is.
   */
  update(levelDb: number): void {
    const isVoice = levelDb > Math.max(minVoiceDb, this.floorDb + aboveFloorDb)
    if (levelDb > minLevelDb) this.#follow(levelDb)
    this.#count(isVoice)
    const isTalking = this.#voiceFrames >= minVoiceFrames || this.talk !== 'silent'
    if (!isTalking || this.#pauseFrames >= maxPauseFrames) this.talk = 'silent'
    else if (this.#pauseFrames >= minPauseFrames) this.talk = 'pausing'
    else this.talk = this.#speechFrames >= minSpeechFrames ? 'speaking' : 'talking'
  }

  #count(isVoice: boolean): void {
    const isBetweenSyllables = this.#pauseFrames <= maxGapFrames
    if (isVoice) {
      this.#voiceFrames = Math.min(minVoiceFrames, this.#voiceFrames + 1)
      const resumes = this.#voiceFrames >= minResumeFrames
      this.#speechFrames += 1 + (resumes && isBetweenSyllables ? this.#pauseFrames : 0)
      this.#pauseFrames = resumes ? 0 : this.#pauseFrames + 1
      return
    }
    const isFirm = this.talk === 'silent' && isBetweenSyllables && this.#voiceFrames >= firmVoiceFrames
    if (this.#voiceFrames > 0 && !isFirm) this.#voiceFrames--
    this.#pauseFrames++
    if (this.#pauseFrames >= maxPauseFrames) this.#speechFrames = 0
  }

  /** Ends talking at once: the input is muted. The noise floor stays. */
  stop(): void {
    this.talk = 'silent'
    this.#voiceFrames = 0
    this.#speechFrames = 0
  }

  #follow(levelDb: number): void {
    this.#smoothDb += (levelDb - this.#smoothDb) * newFrameShare
    this.#frames++
    if (this.#frames > partFrames) {
      this.#frames = 1
      this.#part = (this.#part + 1) % windowParts
      this.#parts[this.#part] = this.#smoothDb
    } else if (this.#smoothDb < this.#parts[this.#part]!) this.#parts[this.#part] = this.#smoothDb
  }
}
