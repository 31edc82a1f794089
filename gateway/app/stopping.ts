/** Why the gateway stops. */
export interface Stop {
  readonly reason: string
  /** By a defect or a loss, and not because somebody wanted it. */
  readonly failed: boolean
}

/** What a signal does that comes while the gateway is stopping already. */
export interface Impatience {
  /** Gives up the grace period. */
  hurry(): void
  /** Gives up everything. */
  force(): void
}

/** The order to look at the files anew, which may come before there is anybody to look at them. */
export class Reloading {
  #reload: (() => void) | undefined
  #asked = false

  /** Somebody wants it. */
  signal(): void {
    if (this.#reload) this.#reload()
    else this.#asked = true
  }

  /** From now on `reload` does it; at once, where it was wanted before. */
  ready(reload: () => void): void {
    this.#reload = reload
    if (this.#asked) reload()
  }
}

/**
 * The order to stop. It is given once; further signals want it sooner: the next one at once, and any after
 * that by force.
 */
export class Stopping {
  /** Resolves when there is a reason to stop. */
  readonly asked: Promise<Stop>
  #ask: (stop: Stop) => void
  #impatience: Impatience
  #state: 'running' | 'stopping' | 'hurrying' = 'running'

  constructor(impatience: Impatience) {
    const { promise, resolve } = Promise.withResolvers<Stop>()
    this.asked = promise
    this.#ask = resolve
    this.#impatience = impatience
  }

  /** The gateway cannot go on. */
  fail(reason: string): void {
    this.#stop({ reason, failed: true })
  }

  /** Somebody wants it to stop. */
  signal(reason: string): void {
    if (this.#state === 'running') this.#stop({ reason, failed: false })
    else if (this.#state === 'stopping') {
      this.#state = 'hurrying'
      this.#impatience.hurry()
    } else this.#impatience.force()
  }

  #stop(stop: Stop): void {
    if (this.#state === 'running') this.#state = 'stopping'
    this.#ask(stop)
  }
}
