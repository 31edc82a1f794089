/**
 * Scales a frame by a factor that changes from `from` to `to` over its length, which avoids clicks. Clips
 * samples out of range. `out` may be the frame itself.
 */
export const fade = (frame: Int16Array, from: number, to: number, out: Int16Array): void => {
  const step = (to - from) / frame.length
  let gain = from
  for (let i = 0; i < frame.length; i++) {
    gain += step
    const sample = Math.round(frame[i]! * gain)
    out[i] = Math.max(-32768, Math.min(32767, sample))
  }
}

/** Returns the factor of a gain in dB. */
export const gainFactor = (db: number): number => 10 ** (db / 20)

/** Volume control of one stream of frames. */
export class Gain {
  #target = 1
  /** Factor at the end of the last frame. */
  #last = 1
  #out = new Int16Array(0)

  /** Sets the gain from the next frame on, in dB; 0 leaves frames unchanged. */
  set(db: number): void {
    this.#target = gainFactor(db)
  }

  /** Whether {@link apply} leaves the next frame unchanged. */
  get isNeutral(): boolean {
    return this.#last === 1 && this.#target === 1
  }

  /**
   * Applies the gain. Returns the frame itself if unchanged, else a frame that is valid until the next call.
   */
  apply(frame: Int16Array): Int16Array
  apply(frame: Int16Array | undefined): Int16Array | undefined
  apply(frame: Int16Array | undefined): Int16Array | undefined {
    const from = this.#last
    const to = this.#target
    this.#last = to
    if (!frame || (from === 1 && to === 1)) return frame
    if (this.#out.length !== frame.length) this.#out = new Int16Array(frame.length)
    fade(frame, from, to, this.#out)
    return this.#out
  }
}
