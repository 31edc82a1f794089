/**
 * Makes a frame louder or quieter by a factor that goes from `from` to `to` over its length, so that nothing clicks; what is too loud is clipped.
 * `out` may be the frame itself.
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

/** The factor of a gain in dB. */
export const factorOf = (db: number): number => 10 ** (db / 20)

/** Makes one row of frames louder or quieter. */
export class Gain {
  #target = 1
  /** Of the last frame's last sample. */
  #last = 1
  #out = new Int16Array(0)

  /** From the next frame on, in dB; 0 leaves frames as they are. */
  set(db: number): void {
    this.#target = factorOf(db)
  }

  /** Gives the frame itself where nothing is changed of it, else one that is valid until the next call. */
  apply(frame: Int16Array): Int16Array
  apply(frame: Int16Array | undefined): Int16Array | undefined
  apply(frame: Int16Array | undefined): Int16Array | undefined {
    const [from, to] = [this.#last, this.#target]
    this.#last = to
    if (!frame || (from === 1 && to === 1)) return frame
    if (this.#out.length !== frame.length) this.#out = new Int16Array(frame.length)
    fade(frame, from, to, this.#out)
    return this.#out
  }
}
