import type { Clock } from '../clock.ts'
import type { Dialog } from '../dialog/dialog.ts'
import { ReportRate } from './own-refusals.ts'

/**
 * Dialog whose requests are sent to the peer's address, because its route leads to a destination that is not
 * permitted. A carrier whose servers are not all in its `allow` networks causes this. Texts of the peer are
 * truncated, and otherwise unchanged.
 */
export interface Diversion {
  readonly callId: string
  /** Method of the dialog's first request that was sent to the peer's address. */
  readonly method: string
  /** URI of Record-Route or Contact that was not followed. */
  readonly nextHop: string
  /** IP address that received the request instead. */
  readonly sentTo: string
  /** Name of the peer's carrier; absent for other peers. */
  readonly carrier?: string
}

/** Maximum length in characters of each text in a report that the peer chose. */
const maxText = 256

/** Counts the dialogs whose route is not followed. Reports each dialog once, at most ten per second. */
export class Diversions {
  readonly #rate: ReportRate
  readonly #report: (diversion: Diversion) => void
  readonly #reported = new WeakSet<Dialog>()
  #count = 0

  constructor(clock: Pick<Clock, 'now'>, report: (diversion: Diversion) => void) {
    this.#rate = new ReportRate(clock)
    this.#report = report
  }

  /** Number of dialogs since the start whose route was not followed. */
  get count(): number {
    return this.#count
  }

  /**
   * Records that a request was sent to the address `sentTo` instead of `nextHop`. Each dialog counts once.
   */
  add(dialog: Dialog, method: string, nextHop: string, sentTo: string): void {
    if (this.#reported.has(dialog)) return
    this.#reported.add(dialog)
    this.#count++
    if (!this.#rate.takes()) return
    const { callId, farEnd } = dialog
    const diversion = { callId: callId.slice(0, maxText), method, nextHop: nextHop.slice(0, maxText), sentTo }
    this.#report(farEnd?.kind === 'carrier' ? { ...diversion, carrier: farEnd.name } : diversion)
  }
}
