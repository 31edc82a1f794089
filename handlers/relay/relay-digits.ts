import type { CallControl } from '../verbs.ts'

/** Maximum number of keys that wait to be sent. */
const maxWaiting = 256

/** Keys of a server: sent message by message, until the session ends. */
export class RelayDigits {
  readonly #call: Pick<CallControl, 'sendDigits'>
  readonly #onError: (error: unknown) => void
  readonly #over = new AbortController()
  #work: Promise<void> = Promise.resolve()
  /** Number of keys that wait, with those of the message in progress. */
  #waiting = 0

  /** `onError` receives the failures. */
  constructor(call: Pick<CallControl, 'sendDigits'>, onError: (error: unknown) => void) {
    this.#call = call
    this.#onError = onError
  }

  /** Sends keys after those before them. Throws an Error if too many wait. */
  send(digits: string): void {
    if (this.#waiting + digits.length > maxWaiting) throw new Error('too many digits wait')
    this.#waiting += digits.length
    this.#work = this.#work.then(() => this.#next(digits))
  }

  /** Resolves when all keys so far were sent, or failed. */
  sent(): Promise<void> {
    return this.#work
  }

  /** Drops the keys that wait. */
  close(): void {
    this.#over.abort()
  }

  async #next(digits: string): Promise<void> {
    const { signal } = this.#over
    try {
      if (!signal.aborted) await this.#call.sendDigits(digits, { signal })
    } catch (error) {
      this.#onError(error)
    } finally {
      this.#waiting -= digits.length
    }
  }
}
