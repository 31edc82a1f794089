/** Time-outs of a port, in ms; Infinity for none. */
export interface LivenessTimeouts {
  readonly startMs: number
  readonly mediaMs: number
}

/**
 * Time-outs of one far end: no packet since the start, and no packet since the last one. Paused during hold.
 * RTCP counts as activity.
 */
export class Liveness {
  #patience: LivenessTimeouts
  #since: number | undefined
  #hasReceived = false
  #isPaused = false

  constructor(patience: LivenessTimeouts) {
    this.#patience = patience
  }

  /** Restarts both time-outs; `paused` while the far end need not or must not send. */
  start(now: number, paused: boolean): void {
    this.#since = now
    this.#isPaused = paused
  }

  /** Reports a received packet. */
  received(now: number): void {
    this.#hasReceived = true
    this.#since = now
  }

  /** Returns the time-out that has expired, if any, and restarts it so that it is reported again. */
  tick(now: number): 'start' | 'media' | undefined {
    if (this.#since === undefined || this.#isPaused) return undefined
    if (now - this.#since < (this.#hasReceived ? this.#patience.mediaMs : this.#patience.startMs))
      return undefined
    this.#since = now
    return this.#hasReceived ? 'media' : 'start'
  }
}
