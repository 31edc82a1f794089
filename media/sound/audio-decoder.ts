import type { Timers } from '../clock.ts'
import type { PcmRate } from '../types.ts'
import type { AudioJob } from './audio-thread.ts'
import { SoundError } from './errors.ts'
import { type JobOptions, JobThread, type Samples, type StartWorker } from './job-thread.ts'

/** Options of an {@link AudioDecoder}. */
export interface AudioDecoderOptions {
  readonly timers: Timers
  readonly start: StartWorker<AudioJob>
  /** Maximum size of audio, in bytes; default 16 MiB. */
  readonly maxBytes?: number
  /** Maximum duration of audio, in seconds; default 600. */
  readonly maxSeconds?: number
}

/**
 * Maximum size of audio for the thread that decodes small files, which never wait for large ones: a minute of
 * telephone audio.
 */
const maxSmallBytes = 512 * 1024

/**
 * Decodes audio in two threads, one for small and one for large files; customers take turns in each. A time
 * limit per job ends its thread, which bounds the work for malicious files.
 */
export class AudioDecoder {
  readonly #small: JobThread<AudioJob>
  readonly #large: JobThread<AudioJob>
  readonly #maxBytes: number
  readonly #maxSeconds: number

  constructor({ timers, start, maxBytes = 16 * 1024 * 1024, maxSeconds = 600 }: AudioDecoderOptions) {
    const common = { name: 'Audio', timers, start }
    this.#small = new JobThread({ ...common, maxJobMs: 15_000, maxWaiting: 200 })
    this.#large = new JobThread({ ...common, maxJobMs: 30_000, maxWaiting: 10 })
    this.#maxBytes = maxBytes
    this.#maxSeconds = maxSeconds
  }

  /** Throws a {@link SoundError} if the audio is too large. */
  check(bytes: Uint8Array): void {
    if (bytes.length <= this.#maxBytes) return
    throw new SoundError(`Audio: at most ${this.#maxBytes} bytes expected, found ${bytes.length}`)
  }

  /** Decodes to mono 16-bit samples at `rate`. Rejects with a descriptive {@link SoundError}. */
  async decode(bytes: Uint8Array, rate: PcmRate, waiter?: JobOptions): Promise<Samples> {
    this.check(bytes)
    const thread = bytes.length <= maxSmallBytes ? this.#small : this.#large
    return thread.run({ bytes, rate, maxSeconds: this.#maxSeconds }, waiter)
  }

  /** Rejects the pending jobs and ends the threads. Idempotent. */
  async close(): Promise<void> {
    await Promise.all([this.#small.close(), this.#large.close()])
  }
}
