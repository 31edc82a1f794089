/** Half of the amplitude, -6 dB: audio below it does not count as heard. */
const audible = 0.5

/** Gain that changes linearly from sample to sample, which avoids clicks. Begins at 1. */
export class Ramp {
  #from = 1
  #to = 1
  #at = 0
  #length = 0

  /** Gain of the last sample. */
  get value(): number {
    return this.left === 0 ? this.#to : this.#from + ((this.#to - this.#from) * this.#at) / this.#length
  }

  /** Number of samples until the gain is constant. */
  get left(): number {
    return this.#length - this.#at
  }

  /** Whether the gain is 0 and remains so. */
  get isSilent(): boolean {
    return this.left === 0 && this.#to === 0
  }

  /** Whether the gain decreases. */
  get isFalling(): boolean {
    return this.left > 0 && this.#to < this.#from
  }

  /** Whether the gain is at least half. */
  get isAudible(): boolean {
    return this.value >= audible
  }

  /** Changes the gain from its current value to `to` within `length` samples. */
  start(to: number, length: number): void {
    this.#from = this.value
    this.#to = to
    this.#at = 0
    this.#length = length
  }

  /** Sets the gain at once. */
  set(value: number): void {
    this.#to = value
    this.#at = this.#length = 0
  }

  /**
   * Applies the gain to `count` samples of `frame` from `at`; during a change at most {@link left}. Returns
   * the number of them up to the last one with half of the amplitude or more.
   */
  apply(frame: Int16Array, at: number, count: number): number {
    if (this.left === 0) {
      if (this.#to !== 1)
        for (let i = 0; i < count; i++) frame[at + i] = Math.round(frame[at + i]! * this.#to)
      return this.#to >= audible ? count : 0
    }
    const step = (this.#to - this.#from) / this.#length
    let reach = 0
    for (let i = 0; i < count; i++) {
      this.#at++
      // The last value is exact, so that half of a rise is never missed by a rounding error.
      const gain = this.#at === this.#length ? this.#to : this.#from + step * this.#at
      frame[at + i] = Math.round(frame[at + i]! * gain)
      if (gain >= audible) reach = i + 1
    }
    return reach
  }
}
