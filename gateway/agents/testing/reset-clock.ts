import { FakeClock } from '../../core/clock.ts'

/** Clock of a machine whose time of day can be set anew; the uptime goes on. */
export class ResetClock extends FakeClock {
  #forwardMs = 0

  override now(): number {
    return super.now() + this.#forwardMs
  }

  /** Sets the time of day forward, in ms. */
  setForward(ms: number): void {
    this.#forwardMs += ms
  }
}
