import { backOffMs } from '../back-off.ts'
import type { MediaClock, MediaTimer } from '../clock.ts'
import type { ComposerChild, ComposerChildListener } from './composer-child.ts'
import type { ComposerReport } from './composer-protocol.ts'

/** A composing process as its owner uses it. */
export type ComposerHandle = Pick<ComposerChild, 'isReady' | 'handOver' | 'send' | 'end'>

/** Collaborators of a {@link SpareComposer}. */
export interface SpareComposerDeps {
  readonly clock: MediaClock
  readonly fork: (listener: ComposerChildListener) => ComposerHandle
  /** Called if the spare process dies. */
  readonly onDeath: (reason: Error) => void
}

/** Wait before a start, in ms. It costs a third of a second of CPU time, which the first pictures need. */
const startDelayMs = 2000
/** Time without pictures after which the spare process ends, in ms. */
const idleMs = 10_000

/**
 * Keeps one composing process ready while there are pictures. It takes the place of a process that has died,
 * without the time of a start.
 */
export class SpareComposer {
  readonly #deps: SpareComposerDeps
  #child: ComposerHandle | undefined
  #isWanted = false
  #isClosed = false
  #deaths = 0
  #start: MediaTimer | undefined
  #idle: MediaTimer | undefined

  constructor(deps: SpareComposerDeps) {
    this.#deps = deps
  }

  /** Starts a process soon, or ends it after 10 s, unless it is wanted again. */
  keep(isWanted: boolean): void {
    if (isWanted === this.#isWanted || this.#isClosed) return
    this.#isWanted = isWanted
    this.#idle?.cancel()
    this.#start?.cancel()
    if (isWanted) this.#plan(startDelayMs)
    else this.#idle = this.#deps.clock.after(idleMs, () => void this.#end())
  }

  /**
   * Returns the spare process, or a new one in its place. `listener` receives what follows. Throws an Error
   * if the machine starts no process.
   */
  take(listener: ComposerChildListener): ComposerHandle {
    const child = this.#child
    if (!child) return this.#deps.fork(listener)
    this.#child = undefined
    child.handOver(listener)
    this.#plan(startDelayMs)
    return child
  }

  /** Ends the spare process for good. Resolves when it has ended. */
  close(): Promise<void> {
    this.#isClosed = true
    this.#isWanted = false
    this.#idle?.cancel()
    return this.#end()
  }

  #plan(delayMs: number): void {
    if (this.#child || !this.#isWanted) return
    this.#start?.cancel()
    this.#start = this.#deps.clock.after(delayMs, () => this.#fork())
  }

  #fork(): void {
    try {
      this.#child = this.#deps.fork({
        onReport: (report) => this.#receive(report),
        onRecord: () => {},
        onDeath: (reason) => this.#died(reason),
      })
    } catch (error) {
      this.#died(error as Error)
    }
  }

  #receive({ op }: ComposerReport): void {
    // It reports once in a second: the start has succeeded.
    if (op === 'usage') this.#deaths = 0
  }

  #died(reason: Error): void {
    this.#child = undefined
    this.#plan(startDelayMs + backOffMs(++this.#deaths))
    this.#deps.onDeath(reason)
  }

  async #end(): Promise<void> {
    this.#start?.cancel()
    const child = this.#child
    this.#child = undefined
    await child?.end()
  }
}
