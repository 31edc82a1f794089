import type { Clock, Timer } from './clock.ts'

/** Does something now and then: `ms` after it was done last. */
export class Repeat {
  #clock: Pick<Clock, 'after'>
  #ms: number
  #run: () => Promise<void>
  #timer: Timer | undefined
  #running: Promise<void> = Promise.resolve()
  #closed = false

  /** `run` must not reject. Nothing is done before {@link start}. */
  constructor(clock: Pick<Clock, 'after'>, ms: number, run: () => Promise<void>) {
    this.#clock = clock
    this.#ms = ms
    this.#run = run
  }

  start(): void {
    if (this.#closed) return
    this.#timer = this.#clock.after(this.#ms, () => {
      this.#running = this.#run().then(() => this.start())
    })
  }

  /** Idempotent; waits for what is being done. */
  async close(): Promise<void> {
    this.#closed = true
    this.#timer?.cancel()
    await this.#running
  }
}
