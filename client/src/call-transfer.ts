import { ClientError, refusalOf, transferFailure } from './errors.ts'
import type { Json } from './frames.ts'

/** Progress of a transfer. */
export interface TransferProgress {
  /** `ringing`: the target rings. `failed`: the call continues. `completed`: the call ends. */
  readonly state: 'ringing' | 'completed' | 'failed'
}

/** Transfer of one call at a time. */
export class CallTransfer {
  #pending: PromiseWithResolvers<void> | undefined
  #isCompleted = false

  /** Whether the server has transferred the call. */
  get isCompleted(): boolean {
    return this.#isCompleted
  }

  /**
   * Sends the request, and resolves when the server reports the success. Rejects with `bad_state` during
   * another transfer, and with the reason of a failure.
   */
  async run(send: () => Promise<unknown>): Promise<void> {
    if (this.#pending) throw new ClientError('bad_state', 'transfer: another transfer is in progress.')
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

  /** Handles the event `call.transfer`; returns the progress, or undefined for an unexpected shape. */
  notify({ transfer_state: state, sip_status: status }: Json): TransferProgress | undefined {
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
