import type { Log } from '../core/log.ts'

/** What has been opened, to be closed in reverse. */
export class Closing {
  #log: Pick<Log, 'error'>
  #parts: { readonly name: string; readonly close: () => unknown }[] = []
  #closing: Promise<void> = Promise.resolve()

  constructor(log: Pick<Log, 'error'>) {
    this.#log = log
  }

  /** Remembers how to close a part, and gives the part back. */
  add<T>(name: string, part: T, close: (part: T) => unknown): T {
    this.#parts.push({ name, close: () => close(part) })
    return part
  }

  /**
   * Closes everything, the last one first; one that fails is logged and does not keep the others open.
   * Idempotent: whoever asks waits for the end.
   */
  close(): Promise<void> {
    this.#closing = this.#closing.then(() => this.#closeAll())
    return this.#closing
  }

  async #closeAll(): Promise<void> {
    for (const { name, close } of this.#parts.splice(0).reverse()) {
      try {
        await close()
      } catch (error) {
        this.#log.error({ err: error, part: name }, 'a part could not be closed')
      }
    }
  }
}

/**
 * Like `Promise.all`, but rejects only when every promise has settled: nothing is still opening when the rest
 * is closed again.
 */
export const allOrNone = async <T extends readonly unknown[]>(
  work: { [K in keyof T]: Promise<T[K]> },
): Promise<T> => {
  await Promise.allSettled(work)
  return Promise.all(work) as unknown as Promise<T>
}
