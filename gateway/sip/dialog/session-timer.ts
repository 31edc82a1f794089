import { readHeaderParams } from '@trunkline/sip-agent/message'
import type { Clock, Timer } from '../../core/clock.ts'
import type { Headers, SipRequest } from '../srf.ts'
import { hasExtension } from './option-tags.ts'

/** Requested interval (RFC 4028), and the minimum that is accepted. */
export interface SessionTimerSettings {
  readonly expiresMs: number
  readonly minMs: number
}

/** Session timer agreed by both sides. */
export interface TimerTerms {
  readonly expiresMs: number
  readonly refresher: 'us' | 'them'
  /** The peer does not support session timers, so the gateway alone refreshes; default false. */
  readonly isOneSided?: true
}

/** Anything with header fields. */
type Message = Pick<SipRequest, 'get'>

/** Minimum interval (RFC 4028 section 4), and maximum time by which a session ends early (section 10). */
const minSessionMs = 90_000
/** Returns the interval to request, in ms. */
const requestedMs = ({ expiresMs, minMs }: SessionTimerSettings, terms?: TimerTerms, atLeastMs = 0): number =>
  Math.max(terms?.expiresMs ?? expiresMs, minMs, atLeastMs, minSessionMs)
const maxMarginMs = 32_000

/** Returns the time by which the session ends early, so that the BYE is not too late. */
const marginMs = (expiresMs: number): number => Math.min(maxMarginMs, expiresMs / 3)

/** The value of Session-Expires. */
export interface SessionExpires {
  readonly expiresMs: number
  readonly refresher?: 'uac' | 'uas'
}

/** Reads Session-Expires; undefined if the message has none. */
export const readSessionExpires = (message: Message): SessionExpires | 'malformed' | undefined => {
  const value = message.get('Session-Expires')
  if (value === undefined) return undefined
  const seconds = /^\s*(\d{1,9})\s*(?:;|$)/.exec(value)?.[1]
  if (seconds === undefined) return 'malformed'
  const refresher = readHeaderParams(value).get('refresher')?.toLowerCase()
  return {
    expiresMs: Number(seconds) * 1_000,
    ...((refresher === 'uac' || refresher === 'uas') && { refresher }),
  }
}

/** Returns Min-SE in ms; at least 90 s, which is also the default. */
export const minimumOf = (message: Message): number => {
  const seconds = /^\s*(\d{1,9})\s*(?:;.*)?$/.exec(message.get('Min-SE') ?? '')?.[1]
  return Math.max(minSessionMs, Number(seconds ?? 0) * 1_000)
}

/**
 * Maximum number of times that one request is repeated with a longer interval after a 422. Otherwise a peer
 * whose Min-SE grows with every response would cause endless requests. One 422 is usual, and two if a proxy
 * and the peer have different minimums.
 */
export const maxRaises = 3

const inSeconds = (ms: number): string => String(Math.ceil(ms / 1_000))

/**
 * Returns the headers of a request that starts or refreshes a session. `terms`: the terms in force, whose
 * refresher stays (section 7.4). `atLeastMs`: the Min-SE of a 422.
 */
export const timerOffer = (settings: SessionTimerSettings, terms?: TimerTerms, atLeastMs = 0): Headers => {
  const refresher = terms && (terms.refresher === 'us' ? ';refresher=uac' : ';refresher=uas')
  return {
    'Session-Expires': `${inSeconds(requestedMs(settings, terms, atLeastMs))}${refresher ?? ''}`,
    'Min-SE': inSeconds(Math.max(settings.minMs, atLeastMs, minSessionMs)),
  }
}

/** Answer to the session timer of a peer's request. */
export type TimerAnswer =
  | { readonly terms: TimerTerms; readonly headers: Headers }
  | { readonly refuse: 400 | 422; readonly headers: Headers }

/**
 * Answers an INVITE, re-INVITE or UPDATE (section 9). `now`: the terms in force, whose refresher stays if the
 * request names none. The gateway refreshes for a peer without the extension.
 */
export const timerAnswer = (
  request: Message,
  settings: SessionTimerSettings,
  now?: TimerTerms,
): TimerAnswer => {
  const requested = readSessionExpires(request)
  if (requested === 'malformed') return { refuse: 400, headers: {} }
  const able = hasExtension(request, 'timer')
  const least = Math.max(settings.minMs, minSessionMs, minimumOf(request))
  // Only a peer with the extension understands a 422 (section 9).
  if (requested && able && requested.expiresMs < Math.max(settings.minMs, minSessionMs))
    return { refuse: 422, headers: { 'Min-SE': inSeconds(least) } }
  const wanted = Math.max(settings.expiresMs, least)
  const expiresMs = requested ? Math.max(minSessionMs, Math.min(requested.expiresMs, wanted)) : wanted
  const roles = { uac: 'them', uas: 'us' } as const
  const refresher = !able
    ? 'us'
    : requested?.refresher
      ? roles[requested.refresher]
      : (now?.refresher ?? 'them')
  const role = refresher === 'them' ? 'uac' : 'uas'
  return {
    terms: { expiresMs, refresher, ...(!able && { isOneSided: true }) },
    headers: {
      'Session-Expires': `${inSeconds(expiresMs)};refresher=${role}`,
      ...(refresher === 'them' && { Require: 'timer' }),
    },
  }
}

/**
 * Returns the terms for a peer without session timers. The gateway's refreshes still show whether the peer is
 * alive.
 */
export const oneSidedTimer = (settings: SessionTimerSettings, atLeastMs = 0): TimerTerms => ({
  expiresMs: requestedMs(settings, undefined, atLeastMs),
  refresher: 'us',
  isOneSided: true,
})

/**
 * Returns the terms of the 2xx to a request (section 7.2). Without Session-Expires the terms in force stay.
 * Some equipment omits the header in its response to a refresh, but still expects the next refresh.
 */
export const timerAgreed = (response: Message, now: TimerTerms): TimerTerms => {
  const answered = readSessionExpires(response)
  if (answered === undefined || answered === 'malformed') return now
  const expiresMs = Math.max(answered.expiresMs, minSessionMs)
  // By default the sender of the request refreshes (table 2).
  return { expiresMs, refresher: answered.refresher === 'uas' ? 'them' : 'us' }
}

/** Owner of a {@link SessionTimer}. */
export interface SessionTimerOwner {
  /** Called when a refresh must be sent. */
  refreshDue(): void
  /** Called when the session was not refreshed in time. It must end then. */
  sessionExpired(): void
}

/** Running timer of one dialog on the gateway's clock, for either role. */
export class SessionTimer {
  #clock: Clock
  #owner: SessionTimerOwner
  #terms: TimerTerms | undefined
  #refresh: Timer | undefined
  #end: Timer | undefined

  constructor(clock: Clock, owner: SessionTimerOwner) {
    this.#clock = clock
    this.#owner = owner
  }

  /** Terms in force; undefined if no timer runs. */
  get terms(): TimerTerms | undefined {
    return this.#terms
  }

  /**
   * Restarts the timer after the session was set up, or refreshed by either side. Stops it if `terms` is
   * undefined.
   */
  start(terms: TimerTerms | undefined): void {
    this.stop()
    if (!terms) return
    this.#terms = terms
    const { expiresMs, refresher } = terms
    this.#end = this.#clock.after(expiresMs - marginMs(expiresMs), () => {
      this.stop()
      this.#owner.sessionExpired()
    })
    if (refresher === 'us') this.refreshIn(expiresMs / 2)
  }

  /** Schedules the next refresh after a temporary rejection. The end of the session does not move. */
  refreshIn(ms: number): void {
    this.#refresh?.cancel()
    if (this.#terms) this.#refresh = this.#clock.after(ms, () => this.#owner.refreshDue())
  }

  /** Idempotent. */
  stop(): void {
    this.#terms = undefined
    this.#refresh?.cancel()
    this.#end?.cancel()
  }
}
