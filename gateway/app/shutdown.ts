/** Reason for which the gateway stops. */
export interface ShutdownReason {
  readonly reason: string
  /** Whether the reason is a defect or a lost component rather than a signal. */
  readonly failed: boolean
  /** Time for calls to end; default: that of the configuration. */
  readonly graceMs?: number
}

/** Listener for signals that arrive during the shutdown. */
export interface ShutdownListener {
  /** Ends the grace period. */
  hurry(): void
  /** Ends the process. */
  force(): void
}

/** Holds a SIGHUP that arrives before the gateway can reload its configuration. */
export class ReloadSignal {
  #reload: (() => void) | undefined
  #isReloadRequested = false

  /** Records the signal: reloads at once, or as soon as the gateway is ready. */
  signal(): void {
    if (this.#reload) this.#reload()
    else this.#isReloadRequested = true
  }

  /** Sets the function that reloads, and calls it if the signal has arrived already. */
  ready(reload: () => void): void {
    this.#reload = reload
    if (this.#isReloadRequested) reload()
  }
}

/**
 * Shutdown of the gateway. The first signal starts the shutdown, the second ends the grace period, and the
 * third ends the process.
 */
export class Shutdown {
  /** Resolves with the reason to stop. */
  readonly requested: Promise<ShutdownReason>
  #ask: (stop: ShutdownReason) => void
  #impatience: ShutdownListener
  #state: 'running' | 'stopping' | 'hurrying' = 'running'

  constructor(impatience: ShutdownListener) {
    const { promise, resolve } = Promise.withResolvers<ShutdownReason>()
    this.requested = promise
    this.#ask = resolve
    this.#impatience = impatience
  }

  /** Stops the gateway because of a defect or a lost component. */
  fail(reason: string): void {
    this.#stop({ reason, failed: true })
  }

  /** Stops the gateway for an operator. `graceMs`: time for calls to end; default: the configured one. */
  drain(graceMs?: number): void {
    this.#stop({ reason: 'drain command', failed: false, ...(graceMs !== undefined && { graceMs }) })
  }

  /** Stops the gateway because of a signal. */
  signal(reason: string): void {
    if (this.#state === 'running') this.#stop({ reason, failed: false })
    else if (this.#state === 'stopping') {
      this.#state = 'hurrying'
      this.#impatience.hurry()
    } else this.#impatience.force()
  }

  #stop(stop: ShutdownReason): void {
    if (this.#state === 'running') this.#state = 'stopping'
    this.#ask(stop)
  }
}
