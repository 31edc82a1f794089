import { VoiceActivityDetector } from '../rtp/voice-activity.ts'
import { frameMs } from './tone-tracker.ts'

/** Minimum length of a word; shorter sounds are clicks. All lengths in frames. */
const minWordFrames = 5
/** Minimum silence between two words; silence within a word is shorter. */
const minGapFrames = 3
/** Minimum silence that counts as a pause. */
const minPauseFrames = 8
/**
 * Distance in dB from the quietest frame of the last second below which audio is no voice: excludes sudden
 * noise and ringing tones.
 */
const aboveQuietestDb = 6
const levelFrames = 50
/**
 * Level below which a frame counts as digital silence and not as the quietest frame. A-law has no zero: its
 * silence is at -72 dBov.
 */
const silentDb = -70

/** Measures speech: number of words, duration without a pause, duration of silence. */
export class SpeechMeter {
  /** Number of words so far; speech without gaps counts as one. */
  words = 0
  #level = new VoiceActivityDetector()
  /** Levels of the last second in dBov, as a ring; 0 for digital silence. */
  #levels = new Float64Array(levelFrames)
  #now = 0
  /** Voiced frames of the current word. */
  #word = 0
  #lastVoiced = 0
  /** First and last frame of the last speech without a pause. */
  #runFrom = 0
  #runTo = 0

  /** Time since the last word or the start. */
  get silentMs(): number {
    return (this.#now - this.#runTo) * frameMs
  }

  /** Duration of the last speech without a pause. */
  get runMs(): number {
    return (this.#runTo - this.#runFrom) * frameMs
  }

  /** Processes 20 ms; undefined is silence. `tonal` audio is no voice. */
  update(frame: Int16Array | undefined, tonal: boolean): void {
    const loud = this.#level.update(frame)
    const { levelDb } = this.#level
    this.#levels[this.#now % levelFrames] = levelDb < silentDb ? 0 : levelDb
    this.#now++
    if (loud && !tonal && levelDb > Math.min(...this.#levels) + aboveQuietestDb) this.#voiced()
    else if (this.#now - this.#lastVoiced === minGapFrames) this.#word = 0
  }

  #voiced(): void {
    this.#word++
    this.#lastVoiced = this.#now
    if (this.#word < minWordFrames) return
    if (this.#word === minWordFrames) this.words++
    if (this.#now - this.#runTo >= minPauseFrames + minWordFrames) this.#runFrom = this.#now - minWordFrames
    this.#runTo = this.#now
  }
}
