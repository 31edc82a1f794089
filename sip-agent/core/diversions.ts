import type { Clock } from '../clock.ts'
import type { Dialog } from '../dialog/dialog.ts'
import type { Diversion } from '../types.ts'
import { ReportRate } from './own-refusals.ts'

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

  /** Number of such dialogs since the start. */
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
