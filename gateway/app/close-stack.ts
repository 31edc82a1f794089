import type { Log } from '../core/log.ts'

/** Stack of opened components; closes them in reverse order. */
export class CloseStack {
  #log: Pick<Log, 'error'>
  #parts: { readonly name: string; readonly close: () => unknown }[] = []
  #closing: Promise<void> = Promise.resolve()

  constructor(log: Pick<Log, 'error'>) {
    this.#log = log
  }

  /** Adds a component with the function that closes it. Returns the component. */
  add<T>(name: string, part: T, close: (part: T) => unknown): T {
    this.#parts.push({ name, close: () => close(part) })
    return part
  }

  /**
   * Closes every component, the most recently opened first. Logs a failure and continues with the others.
   * Idempotent: each call resolves when all components are closed.
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
        this.#log.error({ event: 'gateway.close-failed', err: error, part: name }, 'component not closed')
      }
    }
  }
}

/**
 * Like `Promise.all`, but settles only once every promise has settled, so that no component is still opening
 * after a rejection.
 */
export const allOrNone = async <T extends readonly unknown[]>(
  work: { [K in keyof T]: Promise<T[K]> },
): Promise<T> => {
  await Promise.allSettled(work)
  return Promise.all(work) as unknown as Promise<T>
}
