import type { Clock, Timer } from './clock.ts'

/** Runs a task repeatedly, each time `ms` after the end of the run before. */
export class PeriodicTask {
  #clock: Pick<Clock, 'after'>
  #ms: number
  #run: () => Promise<void>
  #timer: Timer | undefined
  #running: Promise<void> = Promise.resolve()
  #closed = false

  /** `run` must not reject. The first run comes `ms` after {@link start}. */
  constructor(clock: Pick<Clock, 'after'>, ms: number, run: () => Promise<void>) {
    this.#clock = clock
    this.#ms = ms
    this.#run = run
  }

  /** Starts the timer of the next run. */
  start(): void {
    if (this.#closed) return
    this.#timer = this.#clock.after(this.#ms, () => {
      this.#running = this.#run().then(() => this.start())
    })
  }

  /** Stops the task, and waits for a run in progress. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true
    this.#timer?.cancel()
    await this.#running
  }
}
