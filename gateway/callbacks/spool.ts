import type { StatusCallback } from '../../handlers/handler.ts'
import { type CallbackFrom, callbackRow, serverOf } from './callback-row.ts'
import { Lane, type LaneParts } from './lane.ts'
import { cleanUrl } from './redirects.ts'

/** What a {@link Spool} works with. */
export type SpoolParts = LaneParts

/** Callbacks that wait at once, in all and for one server; beyond, what comes is dropped. */
const mostWaiting = 100_000
const mostForServer = 25_000
/** After the end nothing is begun later than this, in ms: a gateway is not to hang at its end for a server that does. */
const graceMs = 5_000

/**
 * Tells customers' servers what they asked to be told. What was not taken is tried again later, also after a restart: it is written down before
 * it is sent, so that a server may be told something twice, by the same id, and nothing gets lost.
 */
export class Spool {
  readonly #parts: SpoolParts
  /** By server. A lane is there while anything waits in it. */
  readonly #lanes = new Map<string, Lane>()
  /** When the last callback came, as it is written down. */
  #lastAt = 0
  #closed = false

  private constructor(parts: SpoolParts) {
    this.#parts = parts
  }

  /** Goes on with what an earlier run of the gateway could not deliver. */
  static async open(parts: SpoolParts): Promise<Spool> {
    const spool = new Spool(parts)
    await parts.rows.adopt()
    for (const [server, waiting] of await parts.rows.counts()) spool.#open(server, waiting)
    return spool
  }

  /** Callbacks that were not taken yet. */
  get waiting(): number {
    let waiting = 0
    for (const lane of this.#lanes.values()) waiting += lane.waiting
    return waiting
  }

  /** Goes on with what another gateway has left, by server: it is written down as this one's by now. */
  takeOver(left: ReadonlyMap<string, number>): void {
    for (const [server, waiting] of left) {
      const lane = this.#lanes.get(server)
      if (lane) lane.more(waiting)
      else this.#open(server, waiting)
    }
  }

  /** Takes a callback; never throws. After {@link close} it is written down for the next run. */
  notify(from: CallbackFrom, callback: StatusCallback): void {
    const { url, kind, ends } = callback
    const { clock, metrics, log } = this.#parts
    const server = serverOf(url)
    const lane = this.#lanes.get(server)
    if (this.waiting >= mostWaiting || (lane && lane.waiting >= mostForServer)) {
      metrics.callbacks.inc({ kind, outcome: 'dropped' })
      log.warn({ call: from.callId, kind, url: cleanUrl(url) }, 'a callback is dropped: too many wait')
      return
    }
    const now = clock.now()
    // The store knows their order by this alone: no two have the same.
    this.#lastAt = Math.max(now, this.#lastAt + 1)
    const open = lane ?? this.#open(server, 0)
    open.add(callbackRow(from, callback, { now, createdAt: this.#lastAt }), ends)
  }

  /** No later tries from now on; waits for what is on its way, and for 5 s begins what is next in its call. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([...this.#lanes.values()].map((lane) => lane.close(graceMs)))
  }

  #open(server: string, waiting: number): Lane {
    const lane = new Lane(this.#parts, server, waiting, () => this.#lanes.delete(server))
    this.#lanes.set(server, lane)
    if (this.#closed) void lane.close(0)
    return lane
  }
}
