import type { Clock, Timer } from '../../core/clock.ts'
import type { Headers, SipRequest } from '../srf.ts'
import { hasExtension } from './option-tags.ts'

/** What we ask for (RFC 4028), and the least that we take. */
export interface SessionTimerSettings {
  readonly expiresMs: number
  readonly minMs: number
}

/** What two sides have agreed on. */
export interface TimerTerms {
  readonly expiresMs: number
  readonly refresher: 'us' | 'them'
  /** The far side knows nothing of session timers: we alone keep it; default false. */
  readonly isOneSided?: true
}

/** Anything with header fields. */
type Message = Pick<SipRequest, 'get'>

/** RFC 4028 section 4: never less than 90 s, and the margin before the end of section 10. */
const minSessionMs = 90_000
/** What we ask for in a request. */
const requestedMs = ({ expiresMs, minMs }: SessionTimerSettings, terms?: TimerTerms, atLeastMs = 0): number =>
  Math.max(terms?.expiresMs ?? expiresMs, minMs, atLeastMs, minSessionMs)
const maxMarginMs = 32_000

/** The end comes this much before the interval is over, so that the BYE is not too late. */
const marginMs = (expiresMs: number): number => Math.min(maxMarginMs, expiresMs / 3)

/** The value of Session-Expires. */
export interface SessionExpires {
  readonly expiresMs: number
  readonly refresher?: 'uac' | 'uas'
}

/** Reads it; undefined where there is none. */
export const readSessionExpires = (message: Message): SessionExpires | 'malformed' | undefined => {
  const value = message.get('Session-Expires')
  if (value === undefined) return undefined
  const [, seconds = '', params = ''] = /^\s*(\d{1,9})\s*((?:;[^;]*)*)$/.exec(value) ?? []
  if (seconds === '') return 'malformed'
  const refresher = /;\s*refresher\s*=\s*(uac|uas)\s*(?:;|$)/i.exec(params)?.[1]?.toLowerCase()
  return {
    expiresMs: Number(seconds) * 1_000,
    ...((refresher === 'uac' || refresher === 'uas') && { refresher }),
  }
}

/** Min-SE in ms; 90 s where there is none, and for anything below. */
export const minimumOf = (message: Message): number => {
  const seconds = /^\s*(\d{1,9})\s*(?:;.*)?$/.exec(message.get('Min-SE') ?? '')?.[1]
  return Math.max(minSessionMs, Number(seconds ?? 0) * 1_000)
}

/**
 * Refusals with 422 that one request follows by asking for a longer interval. A far side whose Min-SE grows
 * with every answer would otherwise be sent requests without end. One is usual, two where a proxy and the far
 * side differ.
 */
export const maxRaises = 3

const inSeconds = (ms: number): string => String(Math.ceil(ms / 1_000))

/**
 * The headers of a request of ours that begins or refreshes a session. `terms`: those in force, whose roles
 * stay (section 7.4); `atLeastMs`: what a 422 asked for.
 */
export const timerOffer = (settings: SessionTimerSettings, terms?: TimerTerms, atLeastMs = 0): Headers => {
  const refresher = terms && (terms.refresher === 'us' ? ';refresher=uac' : ';refresher=uas')
  return {
    'Session-Expires': `${inSeconds(requestedMs(settings, terms, atLeastMs))}${refresher ?? ''}`,
    'Min-SE': inSeconds(Math.max(settings.minMs, atLeastMs, minSessionMs)),
  }
}

/** What a request of the far side's gets. */
export type TimerAnswer =
  | { readonly terms: TimerTerms; readonly headers: Headers }
  | { readonly refuse: 400 | 422; readonly headers: Headers }

/**
 * Answers an INVITE, re-INVITE or UPDATE (section 9). `now`: the terms in force, whose refresher stays where
 * the request names none. A far side without the extension need not do anything: we refresh.
 */
export const timerAnswer = (
  request: Message,
  settings: SessionTimerSettings,
  now?: TimerTerms,
): TimerAnswer => {
  const asked = readSessionExpires(request)
  if (asked === 'malformed') return { refuse: 400, headers: {} }
  const able = hasExtension(request, 'timer')
  const least = Math.max(settings.minMs, minSessionMs, minimumOf(request))
  // Only who has the extension understands a 422 (section 9).
  if (asked && able && asked.expiresMs < Math.max(settings.minMs, minSessionMs))
    return { refuse: 422, headers: { 'Min-SE': inSeconds(least) } }
  const wanted = Math.max(settings.expiresMs, least)
  const expiresMs = asked ? Math.max(minSessionMs, Math.min(asked.expiresMs, wanted)) : wanted
  const roles = { uac: 'them', uas: 'us' } as const
  const refresher = !able ? 'us' : asked?.refresher ? roles[asked.refresher] : (now?.refresher ?? 'them')
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
 * The terms where the far side has said nothing of a timer: it need not know of one for our refreshes to show
 * whether it is there.
 */
export const oneSidedTimer = (settings: SessionTimerSettings, atLeastMs = 0): TimerTerms => ({
  expiresMs: requestedMs(settings, undefined, atLeastMs),
  ...({ refresher: 'us', isOneSided: true } as const),
})

/**
 * What the 2xx to our request says (section 7.2). Without Session-Expires the terms in force stay, `now`:
 * equipment that forgets the header in its answer to a refresh still counts on the next one.
 */
export const timerAgreed = (response: Message, now: TimerTerms): TimerTerms => {
  const said = readSessionExpires(response)
  if (said === undefined || said === 'malformed') return now
  const expiresMs = Math.max(said.expiresMs, minSessionMs)
  // Left open, it is the one who asked (table 2).
  return { expiresMs, refresher: said.refresher === 'uas' ? 'them' : 'us' }
}

/** What a {@link SessionTimer} tells its dialog. */
export interface SessionTimerOwner {
  /** It is time to send a refresh. */
  refreshDue(): void
  /** Nobody has refreshed the session in time: it is over. */
  sessionExpired(): void
}

/** The running timer of one dialog, on our own clock, for either role. */
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

  /** The terms in force; undefined where there is no timer. */
  get terms(): TimerTerms | undefined {
    return this.#terms
  }

  /** Begins anew: the session was set up, or refreshed by either side. Without terms the timer stops. */
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

  /** A refresh was refused for the moment: the next try. The end of the session comes no later for it. */
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
