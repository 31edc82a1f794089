import type { EventLoopUtilization } from 'node:perf_hooks'
import type { Clock, Timer } from '../../core/clock.ts'

/** Reads the use of an event loop since its start, as `performance.eventLoopUtilization` does. */
export type ReadLoop = () => Pick<EventLoopUtilization, 'active' | 'idle'>

/** Time between two readings in ms, and the number of readings in the measured second. */
const stepMs = 250
const steps = 4

/**
 * Measures how busy event loops were in the last second. No other value shows an overload before requests
 * pile up.
 */
export class LoadMeter {
  readonly #clock: Clock
  readonly #loops: readonly {
    readonly read: ReadLoop
    readonly past: Pick<EventLoopUtilization, 'active' | 'idle'>[]
  }[]
  #timer: Timer

  /** Starts the readings, which {@link close} stops. */
  constructor(clock: Clock, loops: readonly ReadLoop[]) {
    this.#clock = clock
    this.#loops = loops.map((read) => ({ read, past: [read()] }))
    this.#timer = clock.after(stepMs, () => this.#step())
  }

  /** Per cent of the last second that the busiest loop was busy; 0 during the first second. */
  get busyPercent(): number {
    return Math.max(
      0,
      ...this.#loops.map(({ read, past }) => {
        if (past.length < steps) return 0
        const before = past[0] ?? read()
        const now = read()
        const active = now.active - before.active
        const idle = now.idle - before.idle
        return active + idle > 0 ? (100 * active) / (active + idle) : 0
      }),
    )
  }

  /** Stops the readings. */
  close(): void {
    this.#timer.cancel()
  }

  #step(): void {
    for (const { read, past } of this.#loops) {
      past.push(read())
      if (past.length > steps) past.shift()
    }
    this.#timer = this.#clock.after(stepMs, () => this.#step())
  }
}
