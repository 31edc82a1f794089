import type { Clock, Timer } from './clock.ts'
import { ClientError } from './errors.ts'

/** Collaborator of {@link Recovery}. */
export interface RecoveryOwner {
  /** Current state of the media path. */
  path(): RTCPeerConnectionState
  /** Whether the server is connected. */
  isConnected(): boolean
  /** Negotiates a new path (ICE restart). Rejects if the server does not accept the offer. */
  restart(): Promise<void>
  /** Handles the failure, or the expected failure, of the path: a restart follows. */
  seeking(): void
  /** Handles media that flows, for the first time or again. */
  found(): void
  /** Handles the failure of all attempts. */
  givenUp(cause: unknown): void
}

// Short interruptions end by themselves.
const graceMs = 3000
/** Maximum time from the answer until media flows for the first time. */
const firstPathMs = 10_000
const attemptMs = 8000
const maxWaitMs = 30_000

/**
 * Restores the media path. ICE restarts begin when the path failed, was interrupted for 3 s, was not
 * connected within 10 s after the answer, or its network changed. The gateway asks for one after the death of
 * its media server.
 * They repeat every 8 s until media flows or 30 s have passed.
 * Time without a connection to the server does not count, since nothing can be negotiated. The restart
 * follows when the connection is back.
 */
export class Recovery {
  readonly #clock: Clock
  readonly #owner: RecoveryOwner
  #flows = false
  #seeking = false
  #restarting = false
  /** Whether the pending offer was created before the latest change. */
  #stale = false
  #patience: Timer | undefined
  #next: Timer | undefined
  #limit: Timer | undefined
  #left = maxWaitMs
  #countedFrom = 0
  #closed = false

  constructor(clock: Clock, owner: RecoveryOwner) {
    this.#clock = clock
    this.#owner = owner
  }

  /** Whether media has flowed. */
  get hasFlowed(): boolean {
    return this.#flows
  }

  /** Handles a change of the path's state, or the answer. */
  pathChanged(): void {
    if (this.#closed) return
    const path = this.#owner.path()
    if (path === 'connected') this.#found()
    else if (path === 'failed') this.#seek()
    else if (!this.#seeking && (path === 'disconnected' || !this.#flows))
      this.#patience ??= this.#clock.after(this.#flows ? graceMs : firstPathMs, () => this.#seek())
  }

  /** Handles a path that is lost before its state shows it: its network has changed, or its server died. */
  pathLost(): void {
    if (this.#closed || !this.#flows) return
    this.#stale = this.#restarting
    this.#seek()
  }

  /** Handles the return (`up`) or loss of the connection to the server. */
  connectionChanged(up: boolean): void {
    if (this.#closed || !this.#seeking) return
    if (up) {
      this.#count()
      this.#attempt()
      return
    }
    this.#stale = this.#restarting
    this.#next?.cancel()
    this.#stopCounting()
  }

  /** Stops the restarts. Idempotent. */
  close(): void {
    this.#closed = true
    this.#rest()
  }

  #found(): void {
    // The reported state may still belong to the path before the restart.
    if (this.#restarting) return
    const tell = !this.#flows || this.#seeking
    this.#rest()
    this.#flows = true
    if (tell) this.#owner.found()
  }

  #rest(): void {
    this.#seeking = false
    for (const timer of [this.#patience, this.#next, this.#limit]) timer?.cancel()
    this.#patience = this.#next = this.#limit = undefined
    this.#left = maxWaitMs
  }

  #seek(): void {
    // A path that fails before it was ever connected is restarted in the same way.
    if (!this.#seeking) {
      this.#rest()
      this.#seeking = true
      this.#owner.seeking()
      if (this.#owner.isConnected()) this.#count()
    }
    this.#attempt()
  }

  #count(): void {
    if (this.#limit) return
    this.#countedFrom = this.#clock.now()
    this.#limit = this.#clock.after(this.#left, () =>
      this.#giveUp(new ClientError('timeout', 'No new path was found in time.')),
    )
  }

  #stopCounting(): void {
    if (!this.#limit) return
    this.#limit.cancel()
    this.#limit = undefined
    this.#left -= this.#clock.now() - this.#countedFrom
  }

  #attempt(): void {
    if (this.#restarting || !this.#owner.isConnected()) return
    this.#next?.cancel()
    this.#restarting = true
    this.#stale = false
    this.#owner.restart().then(
      () => this.#attempted(),
      (error: unknown) => this.#attempted(error),
    )
  }

  #attempted(error?: unknown): void {
    this.#restarting = false
    if (this.#closed || !this.#seeking) return
    if (this.#stale) this.#attempt()
    else if (this.#owner.path() === 'connected') this.#found()
    else if (error instanceof ClientError && error.code === 'server') this.#giveUp(error)
    else this.#next = this.#clock.after(attemptMs, () => this.#attempt())
  }

  #giveUp(cause: unknown): void {
    this.close()
    this.#owner.givenUp(cause)
  }
}
