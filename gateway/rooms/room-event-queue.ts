import { guardListener } from '../core/guard.ts'
import type { Log } from '../core/log.ts'
import type { RoomEvent } from './room-types.ts'

/** Listeners of a session. All receive the events in the same order, even if one causes further events. */
export class RoomEventQueue {
  readonly #log: Pick<Log, 'error'>
  readonly #listeners = new Set<(event: RoomEvent) => void>()
  /** Events that wait while listeners receive an earlier one. */
  readonly #waiting: RoomEvent[] = []
  #isDelivering = false

  constructor(log: Pick<Log, 'error'>) {
    this.#log = log
  }

  /** Adds a listener, whose errors are logged. Returns a function that removes it. */
  listen(listener: (event: RoomEvent) => void): () => void {
    const guarded = guardListener(listener, this.#log)
    this.#listeners.add(guarded)
    return () => this.#listeners.delete(guarded)
  }

  /** Sends events to the listeners, after those that wait. */
  emit(events: readonly RoomEvent[]): void {
    this.#waiting.push(...events)
    if (this.#isDelivering) return
    this.#isDelivering = true
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift())
      for (const listener of [...this.#listeners]) listener(next)
    this.#isDelivering = false
  }
}
