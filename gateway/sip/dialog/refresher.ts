import type { Clock, Timer } from '../../core/clock.ts'
import { type Cause, codeOf } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import { printable } from '../headers.ts'
import { glareBackoffMs, type Random } from '../media/offer-answer.ts'
import { answerIn } from '../media/sdp-body.ts'
import type { SipMedia } from '../media/sip-media.ts'
import type { FarResponse, Headers, SipDialog } from '../srf.ts'
import {
  maxRaises,
  minimumOf,
  SessionTimer,
  type SessionTimerSettings,
  type TimerTerms,
  timerAgreed,
  timerOffer,
} from './session-timer.ts'

/** What keeps a session alive. */
export interface RefresherDeps {
  readonly dialog: Pick<SipDialog, 'local' | 'request'>
  readonly media: SipMedia
  readonly clock: Clock
  readonly log: Pick<Log, 'debug' | 'info' | 'warn'>
  readonly settings: SessionTimerSettings
  /** We made the Call-ID: whose turn it is after a 491 hangs on it. */
  readonly ownsCallId: boolean
  /** The far side takes UPDATE, which needs no description. */
  readonly allowsUpdate: boolean
  /** Further headers of our requests. */
  readonly headers: Headers
  readonly random: Random
  /** The far side's answer to a re-INVITE is taken, and may have changed the direction. */
  readonly negotiated: () => void
  /** The session is over. Called once at most. */
  readonly over: (cause: Cause) => void
}

/** Until the next try where a refresh was refused for no reason that we know. */
const retryMs = 10_000
/**
 * What a far side answers that knows the call, but takes no refresh. A proxy that cannot reach it says
 * something else.
 */
const notTaken = new Set([400, 403, 405, 406, 415, 420, 488, 501, 606])
/**
 * Refreshes in a row that are sent again soon after a 491. A far side that always answers 491 gets no more
 * than one every {@link retryMs}.
 */
const maxGlares = 5

/**
 * The session timer of one dialog (RFC 4028), and our own refreshes: UPDATE where the far side takes it, else
 * a re-INVITE with the description that we sent last. A refresh that is refused takes nothing from the
 * session's time. A far side without session timers promised nothing: its refusal shows that it is there,
 * which is all that we want to know.
 */
export class Refresher {
  #deps: RefresherDeps
  #timer: SessionTimer
  #allowsUpdate: boolean
  #pending: 'UPDATE' | 'INVITE' | undefined
  #atLeastMs = 0
  #raises = 0
  #glares = 0
  #stopped = false
  #again: Timer | undefined

  constructor(deps: RefresherDeps) {
    this.#deps = deps
    this.#allowsUpdate = deps.allowsUpdate
    this.#timer = new SessionTimer(deps.clock, {
      refreshDue: () => this.#refresh(),
      sessionExpired: () => this.#over({ code: 'session_expired' }),
    })
  }

  get terms(): TimerTerms | undefined {
    return this.#timer.terms
  }

  /** A re-INVITE of ours waits for its final response. */
  get isInviting(): boolean {
    return this.#pending === 'INVITE'
  }

  /** The session was set up, or the far side has refreshed it. */
  start(terms: TimerTerms | undefined): void {
    if (!this.#stopped) this.#timer.start(terms)
  }

  /** Idempotent; nothing is sent from now on. */
  stop(): void {
    this.#stopped = true
    this.#again?.cancel()
    this.#timer.stop()
  }

  #refresh(): void {
    const { media, dialog, log, settings, headers } = this.#deps
    if (this.#stopped || this.#pending) return
    // An offer is open: the far side is at it in this very moment.
    if (!media.exchange.isStable) {
      this.#timer.refreshIn(1_000)
      return
    }
    const method = this.#allowsUpdate ? 'UPDATE' : 'INVITE'
    const body = method === 'INVITE' ? media.offerAgain('invite') : undefined
    const all = {
      ...headers,
      ...timerOffer(settings, this.#timer.terms, this.#atLeastMs),
      Contact: dialog.local.contact,
      ...(body !== undefined && { 'Content-Type': 'application/sdp' }),
    }
    this.#pending = method
    log.debug({ method }, 'session refresh')
    try {
      dialog.request({ method, headers: all, ...(body !== undefined && { body }) }, (error, response) =>
        this.#heard(method, error, response),
      )
    } catch (error) {
      this.#heard(method, error)
    }
  }

  #heard(method: 'UPDATE' | 'INVITE', error: unknown, response?: FarResponse): void {
    if ((response && response.status < 200) || this.#pending !== method) return
    this.#pending = undefined
    const { media, log } = this.#deps
    const done = response !== undefined && response.status < 300
    try {
      if (method === 'INVITE' && !done) media.exchange.abandon()
      if (this.#stopped) return
      if (done) this.#refreshed(method, response)
      else this.#refused(method, error, response)
    } catch (fault) {
      log.warn({ code: codeOf(fault), reason: printable(String(fault), 256) }, 'a refresh could not be read')
      if (media.isWaiting) media.exchange.abandon()
    }
  }

  #refreshed(method: 'UPDATE' | 'INVITE', response: FarResponse): void {
    const { media, log } = this.#deps
    this.#raises = 0
    this.#glares = 0
    const { terms } = this.#timer
    if (terms) this.#timer.start(timerAgreed(response, terms))
    if (method === 'UPDATE') return
    media.setSource(response.source_address)
    const answer = answerIn(response)
    if (answer) {
      media.acceptSdp(answer)
      this.#deps.negotiated()
      return
    }
    media.exchange.abandon()
    log.warn({}, 'the answer to a re-INVITE has no SDP; the session stays as it was')
  }

  #refused(method: 'UPDATE' | 'INVITE', error: unknown, response?: FarResponse): void {
    const { log, ownsCallId, random } = this.#deps
    const status = response?.status
    log.info({ method, status, ...(!response && { reason: String(error) }) }, 'a session refresh was refused')
    // The far side does not know the call any more (RFC 5057), or is gone.
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

  /** At once, but not out of the callback of a response. */
  #soon(): void {
    this.#again?.cancel()
    this.#again = this.#deps.clock.after(0, () => this.#refresh())
  }

  #over(cause: Cause): void {
    if (this.#stopped) return
    this.stop()
    this.#deps.over(cause)
  }
}
