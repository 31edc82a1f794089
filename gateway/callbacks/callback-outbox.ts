import type { StatusCallback } from '../../handlers/handler.ts'
import { BestEffortCallbacks } from './best-effort-callbacks.ts'
import { type CallbackFrom, callbackRow, serverOf } from './callback-row.ts'
import { DeliveryQueue, type DeliveryQueueDeps } from './delivery-queue.ts'
import { cleanUrl } from './redirects.ts'

/** The part of {@link CallbackOutbox} that sends callbacks. */
export type Callbacks = Pick<CallbackOutbox, 'notify'>

/** Collaborators of a {@link CallbackOutbox}. */
export type CallbackOutboxDeps = DeliveryQueueDeps

/** Maximum number of waiting callbacks, in total and for one server; further callbacks are dropped. */
const maxWaiting = 100_000
const maxForServer = 25_000
/**
 * Time in ms for which first attempts may still start after closing. It is short, because a slow server must
 * not delay the end of the gateway.
 */
const graceMs = 5_000

/**
 * Outbox of the callbacks to customers' servers. Each callback is stored before it is sent, and retried after
 * a failure or a restart. So no callback is lost, but a server may receive a callback twice, with the same
 * id.
 */
export class CallbackOutbox {
  readonly #deps: CallbackOutboxDeps
  /** Queues by server. A queue exists while callbacks wait in it. */
  readonly #queues = new Map<string, DeliveryQueue>()
  readonly #bestEffort: BestEffortCallbacks
  /** Creation time of the latest callback, as stored. */
  #lastAt = 0
  #closed = false

  private constructor(deps: CallbackOutboxDeps) {
    this.#deps = deps
    this.#bestEffort = new BestEffortCallbacks(deps)
  }

  /** Opens the outbox, and resumes the callbacks that an earlier run did not deliver. */
  static async open(deps: CallbackOutboxDeps): Promise<CallbackOutbox> {
    const outbox = new CallbackOutbox(deps)
    for (const [server, waiting] of await deps.rows.counts()) outbox.#open(server).addStored(waiting)
    return outbox
  }

  /** Number of undelivered callbacks. */
  get waiting(): number {
    let waiting = 0
    for (const queue of this.#queues.values()) waiting += queue.waiting
    return waiting
  }

  /** Number of callbacks that are not stored, and wait or are being sent. */
  get unstored(): number {
    return this.#bestEffort.waiting
  }

  /**
   * Resumes stored callbacks, such as those of a stopped gateway. Their rows must already belong to this
   * gateway. `left`: number of these callbacks by server.
   */
  takeOver(left: ReadonlyMap<string, number>): void {
    for (const [server, waiting] of left) (this.#queues.get(server) ?? this.#open(server)).addStored(waiting)
  }

  /**
   * Delivers a callback in the background. Callbacks of one call to one server keep their order. Drops the
   * callback if too many are waiting. After {@link close}, only stores the callback, for the next run. One of
   * best effort is never stored. Never throws.
   */
  notify(from: CallbackFrom, callback: StatusCallback): void {
    if (callback.isBestEffort) {
      this.#bestEffort.add(from, callback)
      return
    }
    const { url, kind, ends } = callback
    const { clock, metrics, log } = this.#deps
    const server = serverOf(url)
    const queue = this.#queues.get(server)
    if (this.waiting >= maxWaiting || (queue && queue.waiting >= maxForServer)) {
      metrics.callbacks.inc({ kind, outcome: 'dropped' })
      log.warn(
        { event: 'callback.dropped', call: from.callId, kind, url: cleanUrl(url) },
        'callback dropped, queue full',
      )
      return
    }
    const now = clock.now()
    // The store orders callbacks by creation time alone, so no two may have the same time.
    this.#lastAt = Math.max(now, this.#lastAt + 1)
    const open = queue ?? this.#open(server)
    open.add(callbackRow(from, callback, { now, createdAt: this.#lastAt }), ends)
  }

  /** Stops retries, and waits for running attempts. First attempts may still start for 5 s. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true
    this.#bestEffort.close()
    await Promise.all([...this.#queues.values()].map((queue) => queue.close(graceMs)))
  }

  #open(server: string): DeliveryQueue {
    const queue = new DeliveryQueue(this.#deps, server, () => this.#queues.delete(server))
    this.#queues.set(server, queue)
    if (this.#closed) void queue.close(0)
    return queue
  }
}
