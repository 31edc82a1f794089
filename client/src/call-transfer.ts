import { ClientError, refusalOf, transferFailure } from './errors.ts'
import type { Json } from './frames.ts'

/** Progress of a transfer, or of the addition of a person. */
export interface TransferProgress {
  /**
   * `ringing`: the target rings. `failed`: the call continues as before. `completed`: a transferred call
   * ends; an added person has joined.
   */
  readonly state: 'ringing' | 'completed' | 'failed'
}

/** Transfer of a call, or addition of a person; one at a time. */
export class CallTransfer {
  readonly #kind: 'transfer' | 'add'
  #pending: PromiseWithResolvers<void> | undefined
  #isCompleted = false

  constructor(kind: 'transfer' | 'add') {
    this.#kind = kind
  }

  /** Whether the server has reported a success. */
  get isCompleted(): boolean {
    return this.#isCompleted
  }

  /**
   * Sends the request, and resolves when the server reports the success. Rejects with `bad_state` during
   * another request, and with the reason of a failure.
   */
  async run(send: () => Promise<unknown>): Promise<void> {
    if (this.#pending) throw new ClientError('bad_state', `${this.#kind}: another one is in progress.`)
    const pending = Promise.withResolvers<void>()
    this.#pending = pending
    // The call may end while the request is on its way.
    pending.promise.catch(() => {})
    try {
      await send().catch((error: unknown) => {
        throw refusalOf(error)
      })
      await pending.promise
    } finally {
      this.#pending = undefined
    }
  }

  /** Handles the event of the server; returns the progress, or undefined for an unexpected shape. */
  notify({ [`${this.#kind}_state`]: state, sip_status: status }: Json): TransferProgress | undefined {
    if (state !== 'ringing' && state !== 'completed' && state !== 'failed') return undefined
    if (state === 'completed') {
      this.#isCompleted = true
      this.#pending?.resolve()
    }
    if (state === 'failed') this.#pending?.reject(transferFailure(typeof status === 'number' ? status : 0))
    return { state }
  }

  /** Handles the end of the call. */
  ended(reason: ClientError): void {
    this.#pending?.reject(reason)
  }
}
