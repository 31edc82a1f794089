/** Piece of audio: the first `length` of `samples` are stored. */
interface Chunk {
  readonly samples: Int16Array
  length: number
}

/**
 * Samples in the order of their arrival, in pieces of any length. Short pieces are collected in blocks, which
 * bounds their number.
 */
export class SpeechStore {
  #block: number
  #chunks: Chunk[] = []
  /** Position of the first sample in the first chunk. */
  #at = 0
  /** Number of stored samples. */
  length = 0

  /** `block`: size of a block in samples. */
  constructor(block: number) {
    this.#block = block
  }

  /** Number of arrays: at most two for each block. */
  get pieces(): number {
    return this.#chunks.length
  }

  /** Appends `samples`, which must not be changed afterwards. */
  push(samples: Int16Array): void {
    this.length += samples.length
    if (samples.length >= this.#block) {
      this.#chunks.push({ samples, length: samples.length })
      return
    }
    const last = this.#chunks.at(-1)
    const room = last ? last.samples.length - last.length : 0
    const part = Math.min(room, samples.length)
    if (last) {
      last.samples.set(samples.subarray(0, part), last.length)
      last.length += part
    }
    if (part === samples.length) return
    const next = { samples: new Int16Array(this.#block), length: samples.length - part }
    next.samples.set(samples.subarray(part))
    this.#chunks.push(next)
  }

  /** Copies `count` samples from position `from` to `out`, beginning at `at`. All of them must be stored. */
  copy(from: number, out: Int16Array, at: number, count: number): void {
    let skipped = this.#at + from
    let done = 0
    for (let i = 0; done < count; i++) {
      const { samples, length } = this.#chunks[i]!
      const part = Math.min(count - done, Math.max(0, length - skipped))
      for (let k = 0; k < part; k++) out[at + done + k] = samples[skipped + k]!
      done += part
      skipped = Math.max(0, skipped - length)
    }
  }

  /** Removes the first `count` samples. All of them must be stored. */
  drop(count: number): void {
    this.length -= count
    this.#at += count
    while (this.#chunks[0] && this.#at >= this.#chunks[0].length) this.#at -= this.#chunks.shift()!.length
  }

  clear(): void {
    this.#chunks = []
    this.#at = 0
    this.length = 0
  }
}
