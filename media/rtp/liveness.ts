/** How long a port waits, in ms; Infinity for ever. */
export interface Patience {
  readonly startMs: number
  readonly mediaMs: number
}

/**
 * Two clocks of one far end: nothing since the start, nothing since the last packet. They stand while either side
 * holds. RTCP counts as life.
 */
export class Liveness {
  #patience: Patience
  #since: number | undefined
  #heard = false
  #paused = false

  constructor(patience: Patience) {
    this.#patience = patience
  }

  /** Starts both clocks anew; `paused` while the far end must not send, or need not. */
  start(now: number, paused: boolean): void {
    this.#since = now
    this.#paused = paused
  }

  /** Something arrived. */
  alive(now: number): void {
    this.#heard = true
    this.#since = now
  }

  /** Which wait is over, if any; it then starts again, so that one that went unheeded is told again. */
  tick(now: number): 'start' | 'media' | undefined {
    if (this.#since === undefined || this.#paused) return undefined
    if (now - this.#since < (this.#heard ? this.#patience.mediaMs : this.#patience.startMs)) return undefined
    this.#since = now
    return this.#heard ? 'media' : 'start'
  }
}
