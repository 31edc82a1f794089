/** Frames of 20 ms over which an echo may return: 400 ms on the line, and 100 ms in the jitter buffer. */
const windowFrames = 25
/** Strongest echo that is expected, as a share of power: -18 dB. Louder audio is always a voice. */
const maxShare = 10 ** -1.8
/** Share that is assumed before anything is known: -20 dB. */
const startShare = 0.01
/** Distance of the accepted echo from the mean one: 2 dB. */
const margin = 1.6
/** Weight of the assumption: 160 ms of the loudest sent audio. */
const startFrames = 8
/** Weakest sent audio from which the echo is learnt: -45 dBov. */
const minPower = 10 ** -4.5
/** Share of the knowledge that remains after a frame: it fades within some 4 s of speech. */
const memory = 0.995

/**
 * Tells voice from an echo of the sent audio by the levels of frames of 20 ms. It compares a frame with the
 * loudest audio sent in the last 500 ms, and learns the share of the power that returns.
 *
 * Before it has learnt, audio of 15 dB below the sent one or less counts as an echo. After two or three
 * seconds of speech without an echo, this distance is some 25 dB. No audio is cancelled.
 */
export class EchoGuard {
  /** Power of the sent frames, as a ring. Full scale is 1. */
  #sent = new Float64Array(windowFrames)
  /** Number of sent frames since the last one with speech. */
  #silentFrames = windowFrames
  #at = 0
  /** Loudest power so far, and the sums of the received and the sent power that fade with time. */
  #loudest = 0
  #received = 0
  #given = 0

  /**
   * Processes the level of the next sent frame, in dBov. `isSpeech`: false for audio without end, such as a
   * background. A caller speaks over it undisturbed, so that nothing is learnt from it alone.
   */
  sent(levelDb: number, isSpeech = true): void {
    this.#silentFrames = isSpeech ? 0 : this.#silentFrames + 1
    this.#sent[this.#at] = 10 ** (levelDb / 10)
    this.#at = (this.#at + 1) % windowFrames
  }

  /**
   * Returns whether a frame of that level in dBov may be an echo. Must be called for every received frame,
   * before {@link sent}.
   */
  isEcho(levelDb: number): boolean {
    let loudest = 0
    for (let i = 0; i < windowFrames; i++) if (this.#sent[i]! > loudest) loudest = this.#sent[i]!
    if (loudest < minPower) return false
    const power = 10 ** (levelDb / 10)
    if (this.#silentFrames < windowFrames) this.#learn(power, loudest)
    const share = this.#given === 0 ? startShare : Math.min(maxShare, this.#received / this.#given)
    return power <= loudest * margin * share
  }

  /** Forgets the learnt share: an echo may have begun, for instance of a loudspeaker. */
  forget(): void {
    this.#loudest = 0
    this.#received = 0
    this.#given = 0
  }

  /** Compares with the oldest frame, so that the beginning of an echo is not missing. */
  #learn(power: number, loudest: number): void {
    const oldest = this.#sent[this.#at]!
    if (loudest > this.#loudest) {
      const weight = startFrames * (loudest - this.#loudest)
      this.#given += weight
      this.#received += startShare * weight
      this.#loudest = loudest
    }
    this.#received = this.#received * memory + Math.min(power, loudest * maxShare)
    this.#given = this.#given * memory + oldest
  }
}
