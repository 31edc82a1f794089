import type { MediaTimer, Timers } from '../../clock.ts'

/**
 * Action that runs at most once in a time. A call within that time after a run is executed at the end of that
 * time. Further calls until then join it.
 */
export class ThrottledAction {
  readonly #clock: Timers
  readonly #ms: number
  readonly #run: () => void
  #timer: MediaTimer | undefined
  #isWanted = false

  constructor(clock: Timers, ms: number, run: () => void) {
    this.#clock = clock
    this.#ms = ms
    this.#run = run
  }

  /** Runs the action, now or as soon as the time has passed. */
  call(): void {
    if (this.#timer) this.#isWanted = true
    else {
      this.wait()
      this.#run()
    }
  }

  /** Counts a run that happened elsewhere. */
  wait(): void {
    this.stop()
    this.#timer = this.#clock.after(this.#ms, () => {
      this.#timer = undefined
      if (this.#isWanted) this.call()
    })
  }

  /** Cancels a waiting run. */
  stop(): void {
    this.#isWanted = false
    this.#timer?.cancel()
    this.#timer = undefined
  }
}
