import type { Clock, Timer } from './clock.ts'
import { ClientError } from './errors.ts'
import { type Json, unwrap } from './frames.ts'

interface Pending {
  readonly frame: string
  readonly resolve: (result: Json) => void
  readonly reject: (error: ClientError) => void
  timer: Timer | undefined
}

/**
 * Pending requests. A request that is made without a connection, or interrupted by its loss, waits. Once the
 * connection is restored, the request is sent (again) under the same id. Servers treat a repeat as the same
 * request. The time-out runs only while the connection is up.
 */
export class Requests {
  #pending = new Map<string | number, Pending>()
  #clock: Clock
  #timeout: number
  #silent: () => void
  #send: ((frame: string) => void) | undefined

  /** `silent` is called if no reply arrived within `timeout` ms: the connection is considered half open. */
  constructor(clock: Clock, timeout: number, silent: () => void) {
    this.#clock = clock
    this.#timeout = timeout
    this.#silent = silent
  }

  /** Number of requests that wait for a reply. */
  get size(): number {
    return this.#pending.size
  }

  /** Adds a request. Rejects with `timeout`, `disconnected`, or the error given to {@link fail}. */
  add(id: string, method: string, params: Json): Promise<Json> {
    return new Promise((resolve, reject) => {
      const frame = JSON.stringify({ jsonrpc: '2.0', id, method, params })
      const pending: Pending = { frame, resolve, reject, timer: undefined }
      this.#pending.set(id, pending)
      if (this.#send) this.#dispatch(id, pending)
    })
  }

  /** Sends all waiting requests after the connection was established. */
  resume(send: (frame: string) => void): void {
    this.#send = send
    for (const [id, pending] of this.#pending) this.#dispatch(id, pending)
  }

  /** Stops the time-outs after the connection was lost. */
  suspend(): void {
    this.#send = undefined
    for (const pending of this.#pending.values()) {
      pending.timer?.cancel()
      pending.timer = undefined
    }
  }

  /** Settles a request by its reply; returns false if no request has the id. */
  settle(
    id: string | number,
    outcome: { readonly result: unknown } | { readonly error: ClientError },
  ): boolean {
    const pending = this.#take(id)
    if (!pending) return false
    if ('error' in outcome) pending.reject(outcome.error)
    else {
      try {
        pending.resolve(unwrap(outcome.result))
      } catch (error) {
        pending.reject(error as ClientError)
      }
    }
    return true
  }

  /** Rejects all requests. */
  fail(error: ClientError): void {
    for (const id of [...this.#pending.keys()]) this.#take(id)?.reject(error)
  }

  #take(id: string | number): Pending | undefined {
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    pending?.timer?.cancel()
    return pending
  }

  #dispatch(id: string | number, pending: Pending): void {
    pending.timer = this.#clock.after(this.#timeout, () => {
      this.#take(id)?.reject(new ClientError('timeout', 'The server did not reply in time.'))
      this.#silent()
    })
    this.#send?.(pending.frame)
  }
}
