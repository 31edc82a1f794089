import type { LegFacts } from '../../calls/leg/leg-facts.ts'
import type { Clock, Timer } from '../../core/clock.ts'
import type { Cause } from '../../core/errors/catalogue.ts'
import { guard } from '../../core/guard.ts'
import type { Log } from '../../core/log.ts'
import { parseSipUri } from '../../core/sip-uri.ts'
import { hangUp } from '../dialog/hang-up.ts'
import type { DigestSession } from '../digest/digest-session.ts'
import { extensionHeaders, printable, reasonHeader } from '../headers.ts'
import { refusalOf } from '../media/late-offer.ts'
import type {
  Acknowledge,
  FarResponse,
  Headers,
  OfferedAnswer,
  Refusal,
  SipDialog,
  SipRequest,
  SipResponse,
  SrfLike,
} from '../srf.ts'
import type { InviteBudget } from './invite-budget.ts'

/** Collaborators that the INVITEs of one leg share. */
export interface InviteDeps {
  readonly srf: Pick<SrfLike, 'createUAC'>
  readonly clock: Clock
  readonly log: Pick<Log, 'debug' | 'info' | 'warn'>
  /** Budget of the leg. The first message of an {@link Invite} is already counted. */
  readonly budget: Pick<InviteBudget, 'take'>
}

/** Contents of one INVITE. */
export interface InviteOptions {
  /** The request-URI. */
  readonly uri: string
  /** Next hop in place of the request-URI. */
  readonly nextHop: string | undefined
  readonly headers: Headers
  /** Undefined: the peer makes the offer. */
  readonly localSdp: string | undefined
  readonly digest: DigestSession
  /** Maximum wait for the first provisional response; undefined: as long as the agent waits. */
  readonly noProgressMs: number | undefined
}

/**
 * Listener of an INVITE. Exactly one of `answered`, `refused` and `silent` is called, unless {@link
 * Invite.cancel} was called before.
 */
export interface InviteListener {
  /** Called when the INVITE was sent, with its Call-ID. */
  sent(callId: string): void
  /**
   * Called for each response above 100, with its `X-…` headers, before the method for that kind of response.
   */
  responded(response: NonNullable<LegFacts['response']>): void
  /**
   * Called for an UPDATE of the peer before its answer (RFC 3311). The listener must respond synchronously.
   */
  updated(request: SipRequest, response: SipResponse): void
  /** Called for the peer's offer in a reliable provisional response or in the 200. Returns the answer. */
  offered(response: FarResponse): string | undefined
  /** Called for each provisional response above 100. */
  provisional(response: FarResponse): void
  answered(dialog: SipDialog): void
  refused(refusal: Refusal): void
  /** Called if no provisional response came in time; the INVITE is cancelled. */
  silent(): void
  /** Called once, when nothing of the INVITE is left at the agent, or when it has become a dialog. */
  gone(): void
}

/** Maximum wait for the final response after a CANCEL. */
const maxWaitMs = 40_000

/**
 * One INVITE to one target, with its repetitions for digest challenges, until its final response. An answer
 * after a CANCEL is acknowledged and hung up here (RFC 3261 section 9.1).
 */
export class Invite {
  readonly #deps: InviteDeps
  readonly #options: InviteOptions
  readonly #listener: InviteListener
  #request: SipRequest | undefined
  #headers: Headers
  #nextHop: string | undefined
  #canceled: Cause | undefined
  #isCancelSent = false
  /** The 2xx; undefined until it arrives. */
  #accepted: FarResponse | undefined
  #progress: Timer | undefined
  #guard: Timer | undefined
  #isGone = false
  /** Wraps a listener of the INVITE: no error may reach the socket reader of drachtio-srf. */
  #guarded = <A extends unknown[]>(listener: (...args: A) => void) =>
    guard(listener, (error) =>
      this.#deps.log.warn({ event: 'invite.response-failed', err: error }, 'response not handled'),
    )
  /** No message follows a final response: an error while handling it counts as a rejection. */
  #final = <A extends unknown[]>(listener: (...args: A) => void) =>
    guard(listener, (error) => {
      this.#deps.log.warn({ event: 'invite.final-response-failed', err: error }, 'final response not handled')
      if (this.#isGone) return
      if (!this.#canceled) this.#listener.refused({ message: String(error) })
      this.#finish()
    })

  constructor(deps: InviteDeps, options: InviteOptions, listener: InviteListener) {
    this.#deps = deps
    this.#options = options
    this.#listener = listener
    this.#headers = options.headers
    this.#nextHop = options.nextHop
  }

  /**
   * Headers for a repetition of this INVITE with other contents: the same Call-ID and From tag, and the next
   * CSeq (RFC 3261 section 8.1.3.5). Empty before the INVITE was sent.
   */
  get repetition(): Headers {
    const sent = this.#request
    if (!sent) return {}
    const sequence = Number(/^\s*(\d{1,10})/.exec(sent.get('CSeq') ?? '')?.[1] ?? 1)
    return {
      From: sent.get('From') ?? this.#options.headers.From ?? '',
      'Call-ID': sent.get('Call-ID') ?? '',
      CSeq: `${sequence + 1} INVITE`,
    }
  }

  /** Sends the INVITE. Every failure is reported as a rejection. */
  send(): void {
    const { srf, clock } = this.#deps
    const { uri, localSdp, noProgressMs } = this.#options
    this.#request = undefined
    const nextHop = this.#nextHop
    const offer = localSdp === undefined ? { noAck: true as const } : { localSdp }
    if (noProgressMs !== undefined) this.#progress = clock.after(noProgressMs, () => this.#silent())
    const progress = {
      cbRequest: this.#guarded((_error: unknown, request?: SipRequest) => this.#requestSent(request)),
      cbProvisional: this.#guarded((response: FarResponse) => this.#provisional(response)),
    }
    try {
      srf.createUAC(
        uri,
        { ...offer, headers: this.#headers, ...(nextHop !== undefined && { proxy: nextHop }) },
        progress,
        this.#final((error: Refusal | null, answer?: SipDialog | OfferedAnswer) => {
          if (!answer) this.#refused(error ?? {})
          // Only a dialog has an `id`. `ack` does not distinguish the two, as dialogs of drachtio-srf have a
          // method of that name.
          else if ('id' in answer) this.#answered(answer)
          else this.#offered(answer)
        }),
      )
    } catch (error) {
      this.#refused({ message: error instanceof Error ? error.message : String(error) })
    }
  }

  /** Cancels the INVITE: only {@link InviteListener.gone} is called from now on. Idempotent. */
  cancel(cause: Cause): void {
    if (this.#isGone || this.#canceled) return
    this.#canceled = cause
    this.#progress?.cancel()
    this.#guard = this.#deps.clock.after(maxWaitMs, () => this.#finish())
    // Before the agent has accepted the INVITE, nothing can be cancelled.
    if (this.#request) this.#sendCancel(cause)
  }

  /** Called when the connection to the agent is lost. */
  lost(): void {
    this.#canceled ??= { code: 'control_lost' }
    this.#finish()
  }

  #requestSent(request: SipRequest | undefined): void {
    this.#request = request
    const callId = request?.get('Call-ID')
    // Registered before drachtio-srf's own listener, which would accept every UPDATE.
    request?.on('update', (update, response) => {
      if (!this.#canceled) this.#listener.updated(update, response)
    })
    request?.on('response', (response: FarResponse) => {
      const { status, msg } = response
      if (!this.#canceled && status > 100)
        this.#listener.responded({ status, headers: extensionHeaders(msg?.headers ?? {}) })
      if (response.status >= 200 && response.status < 300) this.#accepted = response
    })
    // Also registered first: drachtio-srf would send a PRACK without the answer.
    if (this.#options.localSdp === undefined)
      request?.on(
        'response',
        this.#guarded((response: FarResponse, acknowledge: Acknowledge) =>
          this.#offeredEarly(response, acknowledge),
        ),
      )
    if (callId && !this.#canceled) this.#listener.sent(printable(callId, 256))
    if (this.#canceled && !this.#isCancelSent) this.#sendCancel(this.#canceled)
  }

  #provisional(response: FarResponse): void {
    this.#progress?.cancel()
    if (!this.#canceled && response.status > 100) this.#listener.provisional(response)
  }

  /**
   * Answers an offer in a reliable provisional response: the PRACK carries the answer (RFC 3262 section 5).
   */
  #offeredEarly(response: FarResponse, acknowledge: Acknowledge): void {
    const { status, body } = response
    if (status >= 200 || !body || response.get('RSeq') === undefined) return
    const answer = this.#answerTo(response)
    if (answer === undefined) return
    acknowledge({ body: answer, headers: { 'Content-Type': 'application/sdp' } })
    // drachtio-srf sends its own PRACK for each response that has an RSeq header.
    response.has = () => false
  }

  /**
   * Sends the ACK of a 200 with an offer. The ACK has an answer even if the INVITE was cancelled (RFC 3261
   * section 13.2.2.4).
   */
  #offered({ res, ack }: OfferedAnswer): void {
    this.#progress?.cancel()
    ack(this.#answerTo(res)).then(
      this.#guarded((dialog: SipDialog) => this.#answered(dialog)),
      this.#guarded((error: unknown) =>
        this.#refused({
          status: res.status,
          reason: error instanceof Error ? error.message : String(error),
          res,
        }),
      ),
    )
  }

  #answerTo(response: FarResponse): string | undefined {
    return this.#isGone || this.#canceled ? refusalOf(response) : this.#listener.offered(response)
  }

  #silent(): void {
    this.cancel({ code: 'unreachable' })
    this.#listener.silent()
  }

  #answered(dialog: SipDialog): void {
    if (this.#isGone) {
      hangUp(dialog, this.#canceled ?? { code: 'normal' }, this.#deps.log)
      return
    }
    if (this.#canceled) {
      // The agent sends a BYE as well if it knows of the CANCEL. One of the two fails, and may never get a
      // response.
      dialog.on('destroy', () => this.#finish())
      hangUp(dialog, this.#canceled, this.#deps.log, () => this.#finish())
      return
    }
    this.#progress?.cancel()
    this.#options.digest.accepted()
    try {
      this.#listener.answered(dialog)
    } finally {
      this.#finish()
    }
  }

  #refused(error: Refusal): void {
    if (this.#isGone) return
    const accepted = this.#accepted
    // A party has answered, even if the answer is unusable: the next target must not be called as well.
    const refusal = accepted
      ? { status: accepted.status, reason: error.message ?? error.reason, res: accepted }
      : error
    this.#progress?.cancel()
    if (this.#canceled) {
      this.#finish()
      return
    }
    if (this.#authenticate(refusal)) return
    try {
      this.#listener.refused(refusal)
    } finally {
      this.#finish()
    }
  }

  /**
   * Repeats the INVITE if the rejection was a challenge that may be answered (RFC 3261 section 22.2). Returns
   * false otherwise.
   */
  #authenticate({ status, res }: Refusal): boolean {
    const { digest, uri, localSdp, headers } = this.#options
    const { log, budget } = this.#deps
    if (!res || !this.#request || (status !== 401 && status !== 407)) return false
    const answer = digest.answer(
      { status, get: (name) => res.get(name) },
      { method: 'INVITE', uri, body: localSdp ?? '' },
    )
    if ('why' in answer) {
      log.info({ event: 'digest.challenge-unanswered', status, why: answer.why }, 'challenge not answered')
      return false
    }
    if (!budget.take()) {
      log.warn(
        { event: 'invite.budget-exhausted', status },
        'challenge not answered: maximum number of INVITEs reached',
      )
      return false
    }
    this.#headers = { ...headers, ...this.repetition, ...answer.headers }
    this.#nextHop = this.#options.nextHop ?? challengerHop(uri, res)
    this.send()
    return true
  }

  #sendCancel(cause: Cause): void {
    this.#isCancelSent = true
    const { log } = this.#deps
    try {
      this.#request?.cancel({ headers: { Reason: reasonHeader(cause) } }, (error) => {
        if (error) log.debug({ reason: String(error) }, 'CANCEL failed, INVITE already answered')
      })
    } catch (error) {
      log.debug({ reason: String(error) }, 'CANCEL not sent')
    }
  }

  #finish(): void {
    if (this.#isGone) return
    this.#isGone = true
    this.#progress?.cancel()
    this.#guard?.cancel()
    this.#listener.gone()
  }
}

/**
 * Returns the next hop to the server that sent the challenge, if the request-URI has a host name. A server at
 * another address of that name would not know the nonce. With TLS no next hop is needed: the connection is
 * reused, and the certificate of a bare address could not be verified.
 */
const challengerHop = (uri: string, response: FarResponse): string | undefined => {
  const parsed = parseSipUri(uri)
  const transport = parsed?.params.get('transport')?.toLowerCase() ?? 'udp'
  const { source_address: address, source_port: port } = response
  const literal = !parsed || /^[\d.]+$/.test(parsed.host) || parsed.host.includes(':')
  if (literal || parsed.scheme === 'sips' || !/^(udp|tcp)$/.test(transport) || !address || !port)
    return undefined
  const host = address.includes(':') ? `[${address}]` : address
  return `sip:${host}:${port};transport=${transport}`
}
