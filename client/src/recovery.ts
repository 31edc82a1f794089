import type { Clock, Timer } from './clock.ts'
import { ClientError } from './errors.ts'

/** What {@link Recovery} works on. */
export interface RecoveryOwner {
  /** State of the media path now. */
  path(): RTCPeerConnectionState
  /** Whether there is a connection to the server. */
  isConnected(): boolean
  /** Negotiates a new path (ICE restart). Rejects where the server does not take the offer. */
  restart(): Promise<void>
  /** The path broke, or is about to: a new one is sought. */
  seeking(): void
  /** Media flows, for the first time or again. */
  found(): void
  /** There is none to be found. */
  givenUp(cause: unknown): void
}

// Short gaps mend themselves.
const PATIENCE_MS = 3000
const ATTEMPT_MS = 8000
const LONGEST_MS = 30_000

/**
 * Sees that media flows. A path that failed, that was interrupted for 3 s, or whose network was changed for another is sought anew by ICE
 * restart, every 8 s, until there is one or 30 s have gone by. Time without a connection to the server does not count, for nothing can be
 * negotiated then; the session has its own contract for that, and the restart is made when it is back.
 */
export class Recovery {
  readonly #clock: Clock
  readonly #owner: RecoveryOwner
  #flows = false
  #seeking = false
  #restarting = false
  /** The offer that is on its way was made before something changed. */
  #stale = false
  #patience: Timer | undefined
  #next: Timer | undefined
  #limit: Timer | undefined
  #left = LONGEST_MS
  #countedFrom = 0
  #closed = false

  constructor(clock: Clock, owner: RecoveryOwner) {
    this.#clock = clock
    this.#owner = owner
  }

  /** The path's state changed. */
  pathChanged(): void {
    if (this.#closed) return
    const path = this.#owner.path()
    if (path === 'connected') this.#found()
    else if (path === 'failed') this.#seek()
    else if (path === 'disconnected' && !this.#seeking)
      this.#patience ??= this.#clock.after(PATIENCE_MS, () => this.#seek())
  }

  /** The browser is on another network. */
  networkChanged(): void {
    if (this.#closed || !this.#flows) return
    this.#stale = this.#restarting
    this.#seek()
  }

  /** The connection to the server was lost, or is back. */
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

  /** No more restarts. Idempotent. */
  close(): void {
    this.#closed = true
    this.#rest()
  }

  #found(): void {
    // A restart that is under way is for a path that may still seem alive.
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
    this.#left = LONGEST_MS
  }

  #seek(): void {
    // A path that fails before it was ever there is tried anew in the same way.
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
    else this.#next = this.#clock.after(ATTEMPT_MS, () => this.#attempt())
  }

  #giveUp(cause: unknown): void {
    this.close()
    this.#owner.givenUp(cause)
  }
}
