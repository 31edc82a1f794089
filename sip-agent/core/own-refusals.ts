import type { Clock } from '../clock.ts'

/** Maximum number of reports of one kind per second. Without it, a peer could keep the gateway busy. */
const maxReports = 10
/** Maximum length in characters of each text in a report that the far end chose. */
const maxTextLength = 256

/**
 * Request that the agent rejected without an application. Texts of the far end are truncated, and otherwise
 * unchanged.
 */
export interface OwnRefusal {
  readonly status: number
  readonly method: string
  /** The request-URI; empty if it could not be read. */
  readonly uri: string
  /** Call-ID; empty if it could not be read. */
  readonly callId: string
  /** IP address of the sender. */
  readonly source: string
  /** Fault in the request; absent if the status already names it. */
  readonly detail?: string
}

/** Limits the reports of one kind to ten per second. */
export class ReportRate {
  readonly #clock: Pick<Clock, 'now'>
  #since = 0
  #reports = 0

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  /** Counts one report. Returns whether it may be sent. */
  takes(): boolean {
    const now = this.#clock.now()
    if (now - this.#since >= 1_000 || now < this.#since) {
      this.#since = now
      this.#reports = 0
    }
    this.#reports++
    return this.#reports <= maxReports
  }
}

/** Fields of the rejected request; each is empty if it could not be read. */
export type Refused = Pick<OwnRefusal, 'method' | 'uri' | 'callId'>

/** Counts the requests that the agent rejects without an application, and reports them at a limited rate. */
export class OwnRefusals {
  readonly #rate: ReportRate
  readonly #tell: (refusal: OwnRefusal) => void
  readonly #counts = new Map<number, number>()

  constructor(clock: Pick<Clock, 'now'>, tell: (refusal: OwnRefusal) => void) {
    this.#rate = new ReportRate(clock)
    this.#tell = tell
  }

  /** Number of rejections since the start, by status. */
  get counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts)
  }

  /**
   * Counts a rejection. `source`: IP address of the sender; `detail`: fault in the request, unless the status
   * already names it.
   */
  add(status: number, { method, uri, callId }: Refused, source: string, detail?: string): void {
    this.#counts.set(status, (this.#counts.get(status) ?? 0) + 1)
    if (!this.#rate.takes()) return
    const cut = (text: string) => text.slice(0, maxTextLength)
    this.#tell({
      status,
      source,
      method: cut(method),
      uri: cut(uri),
      callId: cut(callId),
      ...(detail !== undefined && { detail: cut(detail) }),
    })
  }
}
