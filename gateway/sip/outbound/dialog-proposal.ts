import type { DialogTerms } from '../dialog/established-dialog.ts'
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
import type { Transfers } from '../dialog/transfers.ts'
import type { FarResponse, Headers, Refusal } from '../srf.ts'

/** Options of {@link DialogProposal}. */
export interface DialogProposalOptions {
  /** The project of the call. */
  readonly projectId: string
  /** Session timers on the gateway's clock; undefined: the agent runs its own. */
  readonly timers?: SessionTimerSettings
  /**
   * Requested session interval of this leg, in ms; default that of {@link timers}. The configured minimum is
   * the lower limit.
   */
  readonly intervalMs?: number
  /** Value of Supported in INVITEs; default none. */
  readonly supported?: string
  /** Transfers that the peer may request; default none. */
  readonly transfers?: Pick<Transfers, 'transferor'>
  /** The called SIP endpoint, if it is one. */
  readonly endpoint?: DialogOrigin['endpoint']
}

/** Maximum session interval: no session needs refreshes more rarely than once a day. */
const maxIntervalMs = 86_400_000

/**
 * Proposal of the terms of one outbound dialog, from its first INVITE to the 200: the session timer and the
 * supported extensions.
 */
export class DialogProposal {
  #options: DialogProposalOptions
  /** Minimum that a proxy or the callee demands, in ms. */
  #minMs = 0
  /**
   * Number of 422 rejections after which an INVITE was repeated with a longer interval, for all targets
   * together.
   */
  #raises = 0

  constructor(options: DialogProposalOptions) {
    const { timers, intervalMs } = options
    const expiresMs = Math.min(intervalMs ?? Number.POSITIVE_INFINITY, maxIntervalMs)
    this.#options =
      timers && intervalMs !== undefined ? { ...options, timers: { ...timers, expiresMs } } : options
  }

  /** Headers of the next INVITE. */
  get headers(): Headers {
    const { timers, supported, intervalMs } = this.#options
    // An agent that runs its own timers starts them when the INVITE has these headers.
    const settings = timers ?? (intervalMs === undefined ? undefined : { expiresMs: intervalMs, minMs: 0 })
    return {
      ...(supported !== undefined && { Supported: supported }),
      ...(settings && timerOffer(settings, undefined, this.#minMs)),
    }
  }

  /**
   * Whether the INVITE must be repeated because a rejection asks for a longer interval (RFC 4028 section
   * 7.3). True at most {@link maxRaises} times for one leg.
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
   * Returns the terms of the dialog: the session timer of the 200 (section 7.2), the peer's capabilities, and
   * its permitted transfers. Without a timer in the 200 the gateway alone refreshes: a call whose BYE is lost
   * must end.
   */
  agreed(ok: FarResponse | undefined, carrier: string | undefined): DialogTerms {
    const { projectId, timers, transfers, endpoint } = this.#options
    const alone = timers && oneSidedTimer(timers, this.#minMs)
    const origin = { projectId, source: ok?.source_address ?? '', carrier, endpoint }
    return {
      ...(timers && alone && { timer: { settings: timers, terms: ok ? timerAgreed(ok, alone) : alone } }),
      allowsUpdate: methodsOf(ok?.get('Allow')).includes('UPDATE'),
      ...(transfers && { transferor: transfers.transferor(origin) }),
    }
  }
}
