import type { DialogParts } from '../dialog/dialog.ts'
import type { DialogOrigin } from '../dialog/dialogs.ts'
import { methodsOf } from '../dialog/extensions.ts'
import {
  maxRaises,
  minimumOf,
  type SessionTimerSettings,
  timerAgreed,
  timerAlone,
  timerOffer,
} from '../dialog/session-timer.ts'
import type { FarResponse, Headers, Refusal } from '../srf.ts'

/** What the sessions of our INVITEs are made with. */
export interface OutboundSessionParts {
  /** The project of the call. */
  readonly projectId: string
  /** Session timers on our own clock; undefined: the agent runs its own. */
  readonly timers?: SessionTimerSettings
  /** The interval that this leg is to ask for, in ms; default that of {@link timers}. It is never less than the configured minimum. */
  readonly intervalMs?: number
  /** What our INVITEs say in Supported; default nothing. */
  readonly supported?: string
  /** Transfers that the far side may ask for; default none. */
  readonly transfers?: DialogParts['transfers']
  /** The SIP endpoint that is called, where it is one. */
  readonly endpoint?: DialogOrigin['endpoint']
}

/** Nobody needs a session to be refreshed more rarely than once a day. */
const longestIntervalMs = 86_400_000

/** The session timer of one outbound leg, from its first INVITE to the 200. */
export class OutboundSession {
  #parts: OutboundSessionParts
  /** The least that somebody on the way wants, in ms. */
  #leastMs = 0
  /** Refusals with 422 that a longer interval has followed, at all places together. */
  #raises = 0

  constructor(parts: OutboundSessionParts) {
    const { timers, intervalMs } = parts
    const expiresMs = Math.min(intervalMs ?? Number.POSITIVE_INFINITY, longestIntervalMs)
    this.#parts = timers && intervalMs !== undefined ? { ...parts, timers: { ...timers, expiresMs } } : parts
  }

  /** Headers of the next INVITE. */
  get headers(): Headers {
    const { timers, supported, intervalMs } = this.#parts
    // An agent that runs its own timers begins them by what the INVITE asks for.
    const settings = timers ?? (intervalMs === undefined ? undefined : { expiresMs: intervalMs, minMs: 0 })
    return {
      ...(supported !== undefined && { Supported: supported }),
      ...(settings && timerOffer(settings, undefined, this.#leastMs)),
    }
  }

  /**
   * Whether a refusal asks for a longer interval than we offered, and the same INVITE with it may be taken (RFC 4028 section 7.3). True at most
   * {@link maxRaises} times in the life of the leg.
   */
  grows({ status, res }: Refusal): boolean {
    const least = res ? minimumOf(res) : 0
    if (status !== 422 || !this.#parts.timers) return false
    if (least <= this.#leastMs || least > longestIntervalMs || this.#raises >= maxRaises) return false
    this.#raises++
    this.#leastMs = least
    return true
  }

  /**
   * What the 200 says of the session timer (section 7.2) and of what its sender can do, and what that one may ask for. A 200 that says nothing
   * of a timer leaves us to refresh alone: a call whose BYE is lost must end.
   */
  agreed(
    ok: FarResponse | undefined,
    carrier: string | undefined,
  ): Pick<DialogParts, 'timers' | 'allowsUpdate' | 'transfers' | 'origin'> {
    const { projectId, timers, transfers, endpoint } = this.#parts
    const alone = timers && timerAlone(timers, this.#leastMs)
    return {
      ...(timers && alone && { timers: { settings: timers, terms: ok ? timerAgreed(ok, alone) : alone } }),
      allowsUpdate: methodsOf(ok?.get('Allow')).includes('UPDATE'),
      ...(transfers && {
        transfers,
        origin: { projectId, source: ok?.source_address ?? '', carrier, endpoint },
      }),
    }
  }
}
