import type { Clock, Timer } from '../../core/clock.ts'
import type { Refusal, SipDialog, SipRequest, SrfLike, UacOptions } from '../../sip/srf.ts'

/** Longest wait for an answer, in ms. */
const maxRingMs = 60_000
/** Longest wait for the response to a BYE or a CANCEL, in ms. */
const maxEndMs = 3000

/** Call that was not answered. The message is the end of a sentence. */
export class CallRefused extends Error {
  override readonly name = 'CallRefused'
}

/** SIP side of one call of a caller: its INVITE, and its dialog after the answer. */
export class OutgoingCall {
  readonly #clock: Clock
  readonly #answer = Promise.withResolvers<SipDialog>()
  readonly #ended = Promise.withResolvers<void>()
  readonly #gone = Promise.withResolvers<void>()
  #ringing: Timer | undefined
  #request: SipRequest | undefined
  #dialog: SipDialog | undefined
  #isEnded = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Settles when either side begins to end the call. */
  get ended(): Promise<void> {
    return this.#ended.promise
  }

  /** Settles when the far side has no call any more, or does not answer within 3 s. */
  get gone(): Promise<void> {
    return this.#gone.promise
  }

  /** Sends the INVITE. Resolves with the dialog. Rejects with {@link CallRefused}. */
  invite(srf: Pick<SrfLike, 'createUAC'>, uri: string, options: UacOptions): Promise<SipDialog> {
    this.#ringing = this.#clock.after(maxRingMs, () => void this.end('was not answered within 60 s'))
    const progress = {
      cbRequest: (_error: unknown, request?: SipRequest) => {
        this.#request = request
        if (this.#isEnded) this.#cancel()
      },
      cbProvisional: () => {},
    }
    try {
      srf.createUAC(uri, options, progress, (error, answer) => {
        if (answer && 'id' in answer) this.#answered(answer)
        else this.#over(refusalText(error))
      })
    } catch (error) {
      this.#over(`failed: ${error instanceof Error ? error.message : String(error)}`)
    }
    return this.#answer.promise
  }

  /**
   * Cancels the INVITE, or hangs up. Resolves like {@link gone}. Idempotent. `why`: message of
   * {@link CallRefused} if the call was not answered.
   */
  end(why = 'was ended by the test'): Promise<void> {
    if (this.#isEnded) return this.gone
    this.#isEnded = true
    this.#ended.resolve()
    this.#ringing?.cancel()
    this.#answer.reject(new CallRefused(why))
    const limit = this.#clock.after(maxEndMs, () => this.#over(why))
    void this.gone.then(() => limit.cancel())
    if (this.#dialog) this.#bye(this.#dialog)
    else this.#cancel()
    return this.gone
  }

  #answered(dialog: SipDialog): void {
    this.#dialog = dialog
    this.#ringing?.cancel()
    dialog.on('destroy', () => this.#over('has ended'))
    // The answer has crossed the CANCEL: only a BYE ends the dialog now (RFC 3261 section 9.1).
    if (this.#isEnded) this.#bye(dialog)
    else this.#answer.resolve(dialog)
  }

  #cancel(): void {
    try {
      this.#request?.cancel({}, () => {})
    } catch {
      this.#over('failed: the connection to the SIP agent is lost')
    }
  }

  #bye(dialog: SipDialog): void {
    try {
      dialog.destroy({}, () => this.#over('has ended'))
    } catch {
      this.#over('failed: the connection to the SIP agent is lost')
    }
  }

  /** Takes note that there is no call any more. */
  #over(why: string): void {
    this.#isEnded = true
    this.#ringing?.cancel()
    this.#answer.reject(new CallRefused(why))
    this.#ended.resolve()
    this.#gone.resolve()
  }
}

const refusalText = (refusal: Refusal | null): string => {
  const { status, reason, message } = refusal ?? {}
  if (status === undefined) return `failed: ${message ?? 'no response'}`
  return status === 408 || status === 503
    ? `was not answered: ${status} ${reason ?? ''}`.trim()
    : `was refused with ${status} ${reason ?? ''}`.trim()
}
