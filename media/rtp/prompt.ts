import { encodeInto, type G711, SILENCE } from '../codecs/g711.ts'

/** A sound to be sent, frame by frame. */
export class PromptSource {
  #samples: Int16Array
  #loops: number
  #gain: number
  #position = 0
  #frame: Int16Array | undefined

  /** `loop` 0 is for ever. `volumeDb` 0 leaves the sound as it is. */
  constructor(samples: Int16Array, loop: number, volumeDb: number) {
    this.#samples = samples
    this.#loops = loop === 0 ? Number.POSITIVE_INFINITY : loop
    this.#gain = 10 ** (volumeDb / 20)
    if (samples.length === 0) this.#loops = 0
  }

  /** Whether everything was taken. */
  get ended(): boolean {
    return this.#loops <= 0
  }

  /** Encodes the next `count` samples into `to` at `at`; silence fills up behind the end. */
  take(law: G711, count: number, to: Uint8Array, at: number): void {
    let done = 0
    while (done < count && !this.ended) {
      const part = Math.min(count - done, this.#samples.length - this.#position)
      this.#encode(law, part, to, at + done)
      done += part
      this.#position += part
      if (this.#position < this.#samples.length) continue
      this.#position = 0
      this.#loops--
    }
    to.fill(SILENCE[law], at + done, at + count)
  }

  #encode(law: G711, count: number, to: Uint8Array, at: number): void {
    if (this.#gain === 1) {
      encodeInto(law, this.#samples, this.#position, count, to, at)
      return
    }
    if (!this.#frame || this.#frame.length < count) this.#frame = new Int16Array(count)
    for (let i = 0; i < count; i++) {
      const sample = Math.round(this.#samples[this.#position + i]! * this.#gain)
      this.#frame[i] = Math.max(-32768, Math.min(32767, sample))
    }
    encodeInto(law, this.#frame, 0, count, to, at)
  }
}
