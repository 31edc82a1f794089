import { SoundError } from './errors.ts'

interface Running<T> {
  readonly result: Promise<T>
  readonly controller: AbortController
  users: number
}

/** Lets those who want the same wait for one making of it. */
export class Sharing<T> {
  readonly #running = new Map<string, Running<T>>()

  /** What is being made. */
  get size(): number {
    return this.#running.size
  }

  /** True while this is being made for somebody. */
  has(key: string): boolean {
    return this.#running.has(key)
  }

  /**
   * Waits for what is being made under the key, or begins to make it. A `signal` ends the waiting, with a {@link SoundError}; when the last
   * one is gone, the making is told to give up.
   */
  async run(key: string, make: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (signal?.aborted) throw new SoundError('Sound: given up')
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

  #begin(key: string, make: (signal: AbortSignal) => Promise<T>): Running<T> {
    const controller = new AbortController()
    const running: Running<T> = { result: make(controller.signal), controller, users: 0 }
    this.#running.set(key, running)
    running.result.then(
      () => this.#end(key, running),
      () => this.#end(key, running),
    )
    return running
  }

  #end(key: string, running: Running<T>): void {
    // Another one may have begun since this was given up.
    if (this.#running.get(key) === running) this.#running.delete(key)
  }
}

/** The promise's outcome, or a {@link SoundError} as soon as the signal fires. */
const unless = <T>(signal: AbortSignal | undefined, promise: Promise<T>): Promise<T> => {
  if (!signal) return promise
  const { promise: given, reject } = Promise.withResolvers<never>()
  const giveUp = () => reject(new SoundError('Sound: given up'))
  signal.addEventListener('abort', giveUp, { once: true })
  return Promise.race([promise, given]).finally(() => signal.removeEventListener('abort', giveUp))
}
