import type { StreamClock } from './sender-clock.ts'

/** Maximum wait for the first report of a sender, in ms. Browsers send one in 7.5 s. */
const maxWaitMs = 8000
/** Maximum length of what waits, in bytes. */
const maxWaitBytes = 4_000_000

/** Packet or frame, as it arrived. */
export interface Arrival {
  readonly arrivedAt: number
  /** Time that it belongs to, by its arrival alone. */
  readonly at: number
  readonly timestamp: number
  /** Clock of its stream; absent without reports of a sender. */
  readonly clock?: Pick<StreamClock, 'at'> | undefined
  readonly data: Uint8Array
}

/**
 * Places packets or frames in time by the reports of their senders, in the order of their arrival. The first
 * ones of a stream wait for its first report, at most 8 s. Without one, they are placed by their arrival.
 */
export class Placement<T extends Arrival> {
  readonly #onPlaced: (at: number, item: T) => void
  readonly #waiting: T[] = []
  #bytes = 0
  #newest = Number.NEGATIVE_INFINITY
  /** Clock of a stream whose wait is over: its first report has come, or took too long. */
  #settled: T['clock'] | undefined = undefined

  /** `onPlaced` is called with the time that an item belongs to. The times never go back. */
  constructor(onPlaced: (at: number, item: T) => void) {
    this.#onPlaced = onPlaced
  }

  /** Whether something waits for a report. */
  get isWaiting(): boolean {
    return this.#waiting.length > 0
  }

  add(item: T): void {
    this.#waiting.push(item)
    this.#bytes += item.data.length
    this.tick(item.arrivedAt)
  }

  /** Places what has waited long enough. Must be called about every 100 ms. */
  tick(now: number): void {
    for (let item = this.#waiting[0]; item; item = this.#waiting[0]) {
      const at = this.#timeOf(item, now)
      if (at === undefined) return
      this.#waiting.shift()
      this.#bytes -= item.data.length
      this.#newest = Math.max(this.#newest, at)
      this.#onPlaced(this.#newest, item)
    }
  }

  /** Places all that waits. */
  flush(): void {
    this.tick(Number.POSITIVE_INFINITY)
  }

  /** Returns the time of an item; undefined if it waits for a report. */
  #timeOf({ clock, arrivedAt, timestamp, at }: T, now: number): number | undefined {
    if (!clock) return at
    const reported = clock.at(arrivedAt, timestamp)
    const isOverdue = now - arrivedAt >= maxWaitMs || this.#bytes > maxWaitBytes
    if (reported === undefined && clock !== this.#settled && !isOverdue) return undefined
    this.#settled = clock
    return reported ?? at
  }
}
