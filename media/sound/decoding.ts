import type { PcmRate } from '../types.ts'
import type { AudioJob } from './audio-thread.ts'
import type { Timers } from './clock.ts'
import { SoundError } from './errors.ts'
import { JobThread, type Samples, type StartWorker, type Waiter } from './job-thread.ts'

/** How a {@link Decoding} is set up. */
export interface DecodingOptions {
  readonly timers: Timers
  readonly start: StartWorker<AudioJob>
  /** Largest audio, in bytes; default 16 MiB. */
  readonly maxBytes?: number
  /** Longest audio; default 600. */
  readonly maxSeconds?: number
}

/** What is at most so large has a thread of its own, and need not wait for somebody's hold music: a minute of telephone audio. */
const smallBytes = 512 * 1024

/**
 * Decodes audio in two threads, one for what is small and one for what is large; customers take turns in each. Each job has a time limit that ends its thread, so that
 * no file, however it was made, takes more than that.
 */
export class Decoding {
  readonly #small: JobThread<AudioJob>
  readonly #large: JobThread<AudioJob>
  readonly #maxBytes: number
  readonly #maxSeconds: number

  constructor({ timers, start, maxBytes = 16 * 1024 * 1024, maxSeconds = 600 }: DecodingOptions) {
    const common = { name: 'Audio', timers, start }
    this.#small = new JobThread({ ...common, jobMs: 15_000, mostWaiting: 200 })
    this.#large = new JobThread({ ...common, jobMs: 30_000, mostWaiting: 10 })
    this.#maxBytes = maxBytes
    this.#maxSeconds = maxSeconds
  }

  /** Throws a {@link SoundError} for what is too large. */
  check(bytes: Uint8Array): void {
    if (bytes.length <= this.#maxBytes) return
    throw new SoundError(`Audio: at most ${this.#maxBytes} bytes expected, found ${bytes.length}`)
  }

  /** Mono, 16 bit, at `rate`. Rejects with a {@link SoundError} that says what is wrong with the audio. */
  async decode(bytes: Uint8Array, rate: PcmRate, waiter?: Waiter): Promise<Samples> {
    this.check(bytes)
    const thread = bytes.length <= smallBytes ? this.#small : this.#large
    return thread.run({ bytes, rate, maxSeconds: this.#maxSeconds }, waiter)
  }

  /** Rejects what is under way and ends the threads. Idempotent. */
  async close(): Promise<void> {
    await Promise.all([this.#small.close(), this.#large.close()])
  }
}
