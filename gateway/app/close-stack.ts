import type { Log } from '../core/log.ts'

/** Opened parts, in order; closes them in reverse order. */
export class CloseStack {
  #log: Pick<Log, 'error'>
  #parts: { readonly name: string; readonly close: () => unknown }[] = []
  #closing: Promise<void> = Promise.resolve()

  constructor(log: Pick<Log, 'error'>) {
    this.#log = log
  }

  /** Adds a part with the function that closes it. Returns the part. */
  add<T>(name: string, part: T, close: (part: T) => unknown): T {
    this.#parts.push({ name, close: () => close(part) })
    return part
  }

  /**
   * Closes every part, the most recent first. A failure is logged, and the other parts are closed all the
   * same. Idempotent: each call resolves when all parts are closed.
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
        this.#log.error({ event: 'gateway.close-failed', err: error, part: name }, 'part not closed')
      }
    }
  }
}

/**
 * As `Promise.all`, but settles only when every promise has, so that no part is still opening after a
 * rejection.
 */
export const allOrNone = async <T extends readonly unknown[]>(
  work: { [K in keyof T]: Promise<T[K]> },
): Promise<T> => {
  await Promise.allSettled(work)
  return Promise.all(work) as unknown as Promise<T>
}
