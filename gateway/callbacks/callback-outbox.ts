import type { StatusCallback } from '../../handlers/handler.ts'
import { type CallbackFrom, callbackRow, serverOf } from './callback-row.ts'
import { DeliveryQueue, type DeliveryQueueDeps } from './delivery-queue.ts'
import { cleanUrl } from './redirects.ts'

/** Receiver of callbacks to customers' servers. */
export type Callbacks = Pick<CallbackOutbox, 'notify'>

/** Collaborators of a {@link CallbackOutbox}. */
export type CallbackOutboxDeps = DeliveryQueueDeps

/** Maximum number of waiting callbacks, in all and for one server; further ones are dropped. */
const maxWaiting = 100_000
const maxForServer = 25_000
/**
 * Time in ms after closing during which first attempts still start: a slow server must not delay the end of
 * the gateway.
 */
const graceMs = 5_000

/**
 * Outbox of the callbacks to customers' servers. Each is stored before it is sent, and retried after a
 * failure or a restart. So none is lost, and a server may receive one twice, with the same id.
 */
export class CallbackOutbox {
  readonly #deps: CallbackOutboxDeps
  /** Queues by server; each exists while callbacks wait in it. */
  readonly #queues = new Map<string, DeliveryQueue>()
  /** Stored time of the latest callback. */
  #lastAt = 0
  #closed = false

  private constructor(deps: CallbackOutboxDeps) {
    this.#deps = deps
  }

  /** Continues with the callbacks that an earlier run has left. */
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

  /** Continues with the callbacks of another gateway, by server; this gateway already owns their rows. */
  takeOver(left: ReadonlyMap<string, number>): void {
    for (const [server, waiting] of left) (this.#queues.get(server) ?? this.#open(server)).addStored(waiting)
  }

  /**
   * Delivers a callback in the background. Those of a call to one server keep their order. Never throws.
   * After {@link close} it is stored for the next run.
   */
  notify(from: CallbackFrom, callback: StatusCallback): void {
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
    // The store orders callbacks by this time alone: no two have the same.
    this.#lastAt = Math.max(now, this.#lastAt + 1)
    const open = queue ?? this.#open(server)
    open.add(callbackRow(from, callback, { now, createdAt: this.#lastAt }), ends)
  }

  /** Stops later attempts, and waits for running ones. First attempts may start for 5 s more. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([...this.#queues.values()].map((queue) => queue.close(graceMs)))
  }

  #open(server: string): DeliveryQueue {
    const queue = new DeliveryQueue(this.#deps, server, () => this.#queues.delete(server))
    this.#queues.set(server, queue)
    if (this.#closed) void queue.close(0)
    return queue
  }
}
