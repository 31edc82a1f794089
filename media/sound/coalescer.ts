import { SoundError } from './errors.ts'

interface RunningTask<T> {
  readonly result: Promise<T>
  readonly controller: AbortController
  users: number
}

/** Coalesces concurrent requests for the same key into one task. */
export class Coalescer<T> {
  readonly #running = new Map<string, RunningTask<T>>()

  /** Number of running tasks. */
  get size(): number {
    return this.#running.size
  }

  /** Whether a task for the key is running. */
  has(key: string): boolean {
    return this.#running.has(key)
  }

  /**
   * Waits for the running task of the key, or starts it. `signal` ends the wait with a {@link SoundError};
   * the task is aborted when no request waits.
   */
  async run(key: string, make: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (signal?.aborted) throw new SoundError('Sound: cancelled')
    const running = this.#running.get(key) ?? this.#begin(key, make)
    running.users++
    try {
      return await unless(signal, running.result)
    } finally {
      running.users--
      if (running.users === 0) {
        running.controller.abort()
        this.#end(key, running)
      }
    }
  }

  #begin(key: string, make: (signal: AbortSignal) => Promise<T>): RunningTask<T> {
    const controller = new AbortController()
    const running: RunningTask<T> = { result: make(controller.signal), controller, users: 0 }
    this.#running.set(key, running)
    running.result.then(
      () => this.#end(key, running),
      () => this.#end(key, running),
    )
    return running
  }

  #end(key: string, running: RunningTask<T>): void {
    // Another task may have started after this one was aborted.
    if (this.#running.get(key) === running) this.#running.delete(key)
  }
}

/** Settles like the promise, or rejects with a {@link SoundError} when the signal fires. */
const unless = <T>(signal: AbortSignal | undefined, promise: Promise<T>): Promise<T> => {
  if (!signal) return promise
  const { promise: given, reject } = Promise.withResolvers<never>()
  const cancel = () => reject(new SoundError('Sound: cancelled'))
  signal.addEventListener('abort', cancel, { once: true })
  return Promise.race([promise, given]).finally(() => signal.removeEventListener('abort', cancel))
}
