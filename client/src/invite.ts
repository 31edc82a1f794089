import type { Call } from './call.ts'
import { ClientError } from './errors.ts'
import type { CallOptions, IncomingInvite } from './types.ts'

/** What an {@link Invite} can ask of the client. */
export interface InviteActions {
  /** Makes the call; it is not answered yet. */
  makeCall(details: IncomingInvite, options: CallOptions): Call
  /** Tells the server that this device declines. */
  decline(details: IncomingInvite): Promise<void>
  /** The invite is settled. */
  gone(callID: string): void
}

/** An incoming call that waits for a decision. */
export class Invite {
  readonly details: IncomingInvite
  /**
   * Resolves when the call stopped waiting through no doing of ours: code `canceled` (the caller gave up), `answered_elsewhere`,
   * `no_answer`, `session_lost` … Stays pending for ever when the invite was accepted or rejected here.
   */
  readonly canceled: Promise<ClientError>
  /** Resolves when the call waits for no decision any more: accepted, rejected, or {@link canceled}. */
  readonly settled: Promise<void>
  readonly #actions: InviteActions
  readonly #cancel: (reason: ClientError) => void
  readonly #settle: () => void
  #state: 'pending' | 'accepting' | 'settled' = 'pending'
  /** That is being answered. */
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

  /** True while nobody has decided; a call that is being accepted can be rejected still. */
  get isPending(): boolean {
    return this.#state === 'pending'
  }

  /**
   * Opens the microphone, answers, and resolves with the answered call. Rejects with the reason for which that failed. After a failure of
   * the microphone the invite still waits, and can be accepted again or rejected. {@link reject} meanwhile wins: `declined`.
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
   * Declines the call: to the caller it is `declined` (SIP 603), not busy. One that is being accepted is given up, and its microphone closed.
   * Rejects with `bad_state` once it was accepted, rejected or cancelled, or with the server's error.
   */
  async reject(): Promise<void> {
    const accepting = this.#state === 'accepting' ? this.#call : undefined
    if (this.#state !== 'pending' && !accepting)
      throw new ClientError('bad_state', 'The call does not wait for an answer any more.')
    this.settle()
    accepting?.drop(new ClientError('declined', 'The call was rejected here.'))
    await this.#actions.decline(this.details)
  }

  /** For the client alone: the call is gone. */
  cancel(reason: ClientError): void {
    if (this.#state === 'settled') return
    this.settle()
    this.#cancel(reason)
  }

  /** For the client alone: it was decided otherwise, through the call that a push notification gave. */
  settle(): void {
    if (this.#state === 'settled') return
    this.#state = 'settled'
    this.#settle()
    this.#actions.gone(this.details.callID)
  }
}

const isMicrophone = (error: unknown): boolean =>
  error instanceof ClientError && (error.code.startsWith('microphone_') || error.code === 'insecure_page')
