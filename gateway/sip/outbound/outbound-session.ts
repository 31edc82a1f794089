import type { EstablishedDialogDeps } from '../dialog/established-dialog.ts'
import type { DialogOrigin } from '../dialog/known-dialogs.ts'
import { methodsOf } from '../dialog/option-tags.ts'
import {
  maxRaises,
  minimumOf,
  oneSidedTimer,
  type SessionTimerSettings,
  timerAgreed,
  timerOffer,
} from '../dialog/session-timer.ts'
import type { FarResponse, Headers, Refusal } from '../srf.ts'

/** What the sessions of our INVITEs are made with. */
export interface OutboundSessionOptions {
  /** The project of the call. */
  readonly projectId: string
  /** Session timers on our own clock; undefined: the agent runs its own. */
  readonly timers?: SessionTimerSettings
  /**
   * The interval that this leg is to ask for, in ms; default that of {@link timers}. It is never less than
   * the configured minimum.
   */
  readonly intervalMs?: number
  /** What our INVITEs say in Supported; default nothing. */
  readonly supported?: string
  /** Transfers that the far side may ask for; default none. */
  readonly transfers?: EstablishedDialogDeps['transfers']
  /** The SIP endpoint that is called, where it is one. */
  readonly endpoint?: DialogOrigin['endpoint']
}

/** Nobody needs a session to be refreshed more rarely than once a day. */
const maxIntervalMs = 86_400_000

/** The session timer of one outbound leg, from its first INVITE to the 200. */
export class OutboundSession {
  #options: OutboundSessionOptions
  /** The least that somebody on the way wants, in ms. */
  #minMs = 0
  /** Refusals with 422 that a longer interval has followed, at all places together. */
  #raises = 0

  constructor(options: OutboundSessionOptions) {
    const { timers, intervalMs } = options
    const expiresMs = Math.min(intervalMs ?? Number.POSITIVE_INFINITY, maxIntervalMs)
    this.#options =
      timers && intervalMs !== undefined ? { ...options, timers: { ...timers, expiresMs } } : options
  }

  /** Headers of the next INVITE. */
  get headers(): Headers {
    const { timers, supported, intervalMs } = this.#options
    // An agent that runs its own timers begins them by what the INVITE asks for.
    const settings = timers ?? (intervalMs === undefined ? undefined : { expiresMs: intervalMs, minMs: 0 })
    return {
      ...(supported !== undefined && { Supported: supported }),
      ...(settings && timerOffer(settings, undefined, this.#minMs)),
    }
  }

  /**
   * Whether a refusal asks for a longer interval than we offered, and the same INVITE with it may be taken
   * (RFC 4028 section 7.3). True at most {@link maxRaises} times in the life of the leg.
   */
  grows({ status, res }: Refusal): boolean {
    const least = res ? minimumOf(res) : 0
    if (status !== 422 || !this.#options.timers) return false
    if (least <= this.#minMs || least > maxIntervalMs || this.#raises >= maxRaises) return false
    this.#raises++
    this.#minMs = least
    return true
  }

  /**
   * What the 200 says of the session timer (section 7.2) and of what its sender can do, and what that one may
   * ask for. A 200 that says nothing of a timer leaves us to refresh alone: a call whose BYE is lost must
   * end.
   */
  agreed(
    ok: FarResponse | undefined,
    carrier: string | undefined,
  ): Pick<EstablishedDialogDeps, 'timers' | 'allowsUpdate' | 'transfers' | 'origin'> {
    const { projectId, timers, transfers, endpoint } = this.#options
    const alone = timers && oneSidedTimer(timers, this.#minMs)
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
