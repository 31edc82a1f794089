import { VoiceActivityDetector } from '../rtp/voice-activity.ts'
import { FRAME_MS } from './tone-follower.ts'

/** All in frames. Shorter than this is a click, and no word. */
const SHORTEST_WORD = 5
/** Silence between two words; between the sounds of one it is shorter. */
const WORD_GAP = 3
/** A silence that is heard as a pause. */
const PAUSE = 8
/** What is no louder than the quietest of the last second by this, in dB, is no voice: noise that begins at once, a ringing tone. */
const ABOVE_QUIETEST_DB = 6
const QUIETEST_OF = 50
/** Digital silence, which says nothing of what is heard else: A-law has no zero, and lies at -72 dBov then. */
const SILENT_DB = -70

/** Follows how somebody speaks: how many words, how long without a pause, how long silent. */
export class SpeechMeter {
  /** Words so far; what is spoken without a gap counts as one. */
  words = 0
  #level = new VoiceActivityDetector()
  /** Levels of the last second in dBov, in a ring; 0 stands for digital silence. */
  #levels = new Float64Array(QUIETEST_OF)
  #now = 0
  /** Voiced frames of the present word. */
  #word = 0
  #lastVoiced = 0
  /** Of what was spoken without a pause last: first and last frame. */
  #runFrom = 0
  #runTo = 0

  /** Since the last word, or since the beginning. */
  get silentMs(): number {
    return (this.#now - this.#runTo) * FRAME_MS
  }

  /** How long was spoken without a pause, last. */
  get runMs(): number {
    return (this.#runTo - this.#runFrom) * FRAME_MS
  }

  /** Takes 20 ms; undefined is silence. What is `tonal` is no voice. */
  update(frame: Int16Array | undefined, tonal: boolean): void {
    const loud = this.#level.update(frame)
    const { levelDb } = this.#level
    this.#levels[this.#now % QUIETEST_OF] = levelDb < SILENT_DB ? 0 : levelDb
    this.#now++
    if (loud && !tonal && levelDb > Math.min(...this.#levels) + ABOVE_QUIETEST_DB) this.#voiced()
    else if (this.#now - this.#lastVoiced === WORD_GAP) this.#word = 0
  }

  #voiced(): void {
    this.#word++
    this.#lastVoiced = this.#now
    if (this.#word < SHORTEST_WORD) return
    if (this.#word === SHORTEST_WORD) this.words++
    if (this.#now - this.#runTo >= PAUSE + SHORTEST_WORD) this.#runFrom = this.#now - SHORTEST_WORD
    this.#runTo = this.#now
  }
}
