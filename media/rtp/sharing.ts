import type { SharedAudio } from './shared-audio.ts'

/**
 * Kind of a far end's own encoder. With `none`, no encoder is in use. The packets of a `stateless` encoder do
 * not depend on each other. The far end's decoder follows an `adaptive` one.
 */
export type OwnEncoder = 'none' | 'stateless' | 'adaptive'

/** Number of equal frames after which a stateless encoder gives way: its filters hold 7 ms. */
const statelessFrames = 2
/** Number of equal frames after which an adaptive encoder gives way in a quiet frame: 0.5 s. */
const adaptiveFrames = 25
/** Number of equal frames after which it gives way in any frame: 5 s. */
const maxAdaptiveFrames = 250

/**
 * Chooses between a far end's own encoder and the encoding that it shares with others. Leaving the shared
 * encoding is immediate, since the far end must hear something else. Returning waits until both encoders have
 * encoded the same audio for a while, and then for a quiet frame.
 */
export class Sharing {
  /** Audio that was shared in the last frame; undefined if the own encoder was used. */
  audio: SharedAudio | undefined
  #equalFrames = 0

  /** Whether this frame is sent from the shared encoding. Undefined `audio`: the far end cannot share now. */
  permits(audio: SharedAudio | undefined, encoder: OwnEncoder): boolean {
    if (!audio) {
      this.#equalFrames = 0
      return false
    }
    if (this.audio === audio) return true
    this.#equalFrames++
    return this.#isReady(audio, encoder)
  }

  #isReady(audio: SharedAudio, encoder: OwnEncoder): boolean {
    if (encoder === 'none') return true
    if (encoder === 'stateless') return this.#equalFrames > statelessFrames
    if (this.#equalFrames <= adaptiveFrames) return false
    return audio.isQuiet || this.#equalFrames > maxAdaptiveFrames
  }
}
