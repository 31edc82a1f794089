import type { Call } from './call.ts'
import { ClientError } from './errors.ts'
import type { CallOptions, IncomingInvite } from './types.ts'

/** Actions that an {@link Invite} requests of the client. */
export interface InviteActions {
  /** Creates the call without answering it. */
  makeCall(details: IncomingInvite, options: CallOptions): Call
  /** Declines the call on this device. */
  decline(details: IncomingInvite): Promise<void>
  /** Removes the invite after it was settled. */
  gone(callID: string): void
}

/** Incoming call that waits for a decision. */
export class Invite {
  readonly details: IncomingInvite
  /**
   * Resolves if the invite ends without a decision here. Codes: `canceled` (by the caller),
   * `answered_elsewhere`, `no_answer`, `session_lost`, …
   * Stays pending if the invite is accepted or rejected here.
   */
  readonly canceled: Promise<ClientError>
  /** Resolves when the invite is settled: accepted, rejected, or {@link canceled}. */
  readonly settled: Promise<void>
  readonly #actions: InviteActions
  readonly #cancel: (reason: ClientError) => void
  readonly #settle: () => void
  #state: 'pending' | 'accepting' | 'settled' = 'pending'
  /** The call that is being answered. */
  #call: Call | undefined

  constructor(details: IncomingInvite, actions: InviteActions) {
    const canceled = Promise.withResolvers<ClientError>()
    const settled = Promise.withResolvers<void>()
    this.details = details
    this.canceled = canceled.promise
    this.settled = settled.promise
    this.#cancel = canceled.resolve
    this.#settle = settled.resolve
    this.#actions = actions
  }

  /** Whether the invite is not settled; while it is being accepted it can still be rejected. */
  get isPending(): boolean {
    return this.#state === 'pending'
  }

  /**
   * Opens the microphone, answers, and resolves with the answered call. Rejects with the reason if that
   * fails.
   * After a failure of the microphone the invite still waits and can be accepted again or rejected. If {@link
   * reject} is called meanwhile, the promise rejects with `declined`.
   */
  async accept(options: CallOptions = {}): Promise<Call> {
    if (this.#state !== 'pending')
      throw new ClientError('bad_state', 'The call does not wait for an answer any more.')
    this.#state = 'accepting'
    const call = this.#actions.makeCall(this.details, options)
    this.#call = call
    try {
      await call.answer()
    } catch (error) {
      if (this.#state === 'accepting' && isMicrophone(error)) this.#state = 'pending'
      else this.settle()
      throw error
    }
    this.settle()
    return call
  }

  /**
   * Declines the call: the caller receives `declined` (SIP 603), not busy. A call that is being accepted is
   * abandoned and its microphone closed. Rejects with `bad_state` after the invite was accepted, rejected or
   * cancelled, or with the server's error.
   */
  async reject(): Promise<void> {
    const accepting = this.#state === 'accepting' ? this.#call : undefined
    if (this.#state !== 'pending' && !accepting)
      throw new ClientError('bad_state', 'The call does not wait for an answer any more.')
    this.settle()
    accepting?.drop(new ClientError('declined', 'The call was rejected here.'))
    await this.#actions.decline(this.details)
  }

  /** For the client only: the call has ended. */
  cancel(reason: ClientError): void {
    if (this.#state === 'settled') return
    this.settle()
    this.#cancel(reason)
  }

  /** For the client only: the call was decided through a push notification. */
  settle(): void {
    if (this.#state === 'settled') return
    this.#state = 'settled'
    this.#settle()
    this.#actions.gone(this.details.callID)
  }
}

const isMicrophone = (error: unknown): boolean =>
  error instanceof ClientError && (error.code.startsWith('microphone_') || error.code === 'insecure_page')
