import type { Timer } from '../../core/clock.ts'
import { type Cause, codeOf } from '../../core/errors/catalogue.ts'
import { allowedMethods } from '../gateway-headers.ts'
import { printable } from '../headers.ts'
import { glareBackoffMs, type Random } from '../media/offer-answer.ts'
import { answerIn } from '../media/sdp-body.ts'
import type { FarResponse, SipDialog } from '../srf.ts'
import type { LegSession } from './leg-session.ts'
import {
  maxRaises,
  minimumOf,
  SessionTimer,
  type SessionTimerSettings,
  type TimerTerms,
  timerAgreed,
  timerOffer,
} from './session-timer.ts'

/** Options of {@link Refresher}. */
export interface RefresherOptions {
  /** The gateway made the Call-ID, which decides the wait after a 491. */
  readonly ownsCallId: boolean
  /** The peer supports UPDATE, which needs no description. */
  readonly allowsUpdate: boolean
  readonly random: Random
}

/** Wait before the next attempt after a rejection for an unknown reason. */
const retryMs = 10_000
/**
 * Statuses with which a peer that knows the call rejects the refresh. A proxy that cannot reach the peer
 * sends other statuses.
 */
const notTaken = new Set([400, 403, 405, 406, 415, 420, 488, 501, 606])
/**
 * Maximum number of consecutive refreshes that are repeated soon after a 491. Further ones are repeated after
 * {@link retryMs}.
 */
const maxGlares = 5

/**
 * Session timer of one dialog (RFC 4028), and the gateway's refreshes: UPDATE if the peer supports it, else a
 * re-INVITE with the last local description. A rejected refresh does not shorten the session. A peer without
 * session timers promised no refreshes: its rejection still proves that it is there.
 */
export class Refresher {
  readonly settings: SessionTimerSettings
  readonly #dialog: Pick<SipDialog, 'local' | 'request'>
  readonly #session: LegSession
  readonly #options: RefresherOptions
  readonly #timer: SessionTimer
  #allowsUpdate: boolean
  #pending: 'UPDATE' | 'INVITE' | undefined
  #atLeastMs = 0
  #raises = 0
  #glares = 0
  #isStopped = false
  #again: Timer | undefined

  constructor(
    dialog: Pick<SipDialog, 'local' | 'request'>,
    session: LegSession,
    settings: SessionTimerSettings,
    options: RefresherOptions,
  ) {
    this.#dialog = dialog
    this.#session = session
    this.settings = settings
    this.#options = options
    this.#allowsUpdate = options.allowsUpdate
    this.#timer = new SessionTimer(session.clock, {
      refreshDue: () => this.#refresh(),
      sessionExpired: () => this.#over({ code: 'session_expired' }),
    })
  }

  get terms(): TimerTerms | undefined {
    return this.#timer.terms
  }

  /** Whether a re-INVITE of the gateway waits for its final response. */
  get isInviting(): boolean {
    return this.#pending === 'INVITE'
  }

  /** Starts the timer anew when the session is set up or refreshed by the peer. */
  start(terms: TimerTerms | undefined): void {
    if (!this.#isStopped) this.#timer.start(terms)
  }

  /** Idempotent; nothing is sent from now on. */
  stop(): void {
    this.#isStopped = true
    this.#again?.cancel()
    this.#timer.stop()
  }

  #refresh(): void {
    const { media, log, headers } = this.#session
    if (this.#isStopped || this.#pending) return
    // An offer is open because the peer is renegotiating.
    if (!media.exchange.isStable) {
      this.#timer.refreshIn(1_000)
      return
    }
    const method = this.#allowsUpdate ? 'UPDATE' : 'INVITE'
    const body = method === 'INVITE' ? media.offerAgain('invite') : undefined
    const all = {
      ...headers.request,
      Allow: allowedMethods,
      Supported: 'timer',
      ...timerOffer(this.settings, this.#timer.terms, this.#atLeastMs),
      Contact: this.#dialog.local.contact,
      ...(body !== undefined && { 'Content-Type': 'application/sdp' }),
    }
    this.#pending = method
    log.debug({ method }, 'session refresh sent')
    try {
      this.#dialog.request({ method, headers: all, ...(body !== undefined && { body }) }, (error, response) =>
        this.#settle(method, error, response),
      )
    } catch (error) {
      this.#settle(method, error)
    }
  }

  #settle(method: 'UPDATE' | 'INVITE', error: unknown, response?: FarResponse): void {
    if ((response && response.status < 200) || this.#pending !== method) return
    this.#pending = undefined
    const { media, log } = this.#session
    const done = response !== undefined && response.status < 300
    try {
      if (method === 'INVITE' && !done) media.exchange.abandon()
      if (this.#isStopped) return
      if (done) this.#refreshed(method, response)
      else this.#refused(method, error, response)
    } catch (fault) {
      log.warn(
        { event: 'session.refresh-failed', code: codeOf(fault), reason: printable(String(fault), 256) },
        'response to a session refresh not usable',
      )
      if (media.isWaiting) media.exchange.abandon()
    }
  }

  #refreshed(method: 'UPDATE' | 'INVITE', response: FarResponse): void {
    const { media, log } = this.#session
    this.#raises = 0
    this.#glares = 0
    const { terms } = this.#timer
    if (terms) this.#timer.start(timerAgreed(response, terms))
    if (method === 'UPDATE') return
    media.setSource(response.source_address)
    const answer = answerIn(response)
    if (answer) {
      media.acceptSdp(answer)
      this.#session.reportHold()
      return
    }
    media.exchange.abandon()
    log.warn({ event: 'session.answer-missing' }, 'response to a re-INVITE has no SDP; session unchanged')
  }

  #refused(method: 'UPDATE' | 'INVITE', error: unknown, response?: FarResponse): void {
    const { ownsCallId, random } = this.#options
    const status = response?.status
    this.#session.log.info(
      { event: 'session.refresh-rejected', method, status, ...(!response && { reason: String(error) }) },
      'session refresh rejected',
    )
    // The peer does not know the call any more (RFC 5057), or is unreachable.
    if (status === 481 || status === 408) this.#over({ code: 'unreachable', detail: `refresh: ${status}` })
    else if (status === 491 && this.#glares++ < maxGlares)
      this.#timer.refreshIn(glareBackoffMs(ownsCallId, random))
    else if (status === 422 && response && this.#raises++ < maxRaises) {
      this.#atLeastMs = minimumOf(response)
      this.#soon()
    } else if (method === 'UPDATE' && (status === 405 || status === 501)) {
      this.#allowsUpdate = false
      this.#soon()
    } else if (this.terms?.isOneSided && status !== undefined && notTaken.has(status)) this.start(this.terms)
    else this.#timer.refreshIn(retryMs)
  }

  /** Runs as soon as possible, but not within the callback of a response. */
  #soon(): void {
    this.#again?.cancel()
    this.#again = this.#session.clock.after(0, () => this.#refresh())
  }

  #over(cause: Cause): void {
    if (this.#isStopped) return
    this.stop()
    this.#session.leg.end(cause)
  }
}
