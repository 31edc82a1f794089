/**
 * Time with packets and without a picture before the next step, in ms. The first step is a request for a key
 * frame, the second one the report.
 */
const maxMs = 2_000
/** Time without packets after which a stream begins anew, in ms. */
const maxPauseMs = 1_000

/** Collaborators of a {@link PictureWatch}. */
export interface PictureWatchOptions {
  /** Requests a key frame. */
  readonly requestKey: (now: number) => void
  /** Called when a key frame was requested, and 2 s later there is no picture still. */
  readonly onStalled: () => void
}

/**
 * Watches a stream whose packets arrive. After 2 s without a picture it requests a key frame. After 2 s more
 * it reports the stream as stalled, and begins again. Times are in ms.
 */
export class PictureWatch {
  readonly #options: PictureWatchOptions
  /** Time of the first packet without a picture. */
  #since: number | undefined
  #lastAt = Number.NEGATIVE_INFINITY
  #isRequested = false

  constructor(options: PictureWatchOptions) {
    this.#options = options
  }

  /** Handles a packet, before the picture that it completes. */
  packet(now: number): void {
    if (now - this.#lastAt > maxPauseMs) this.picture()
    this.#lastAt = now
    this.#since ??= now
    if (now - this.#since < maxMs) return
    this.#since = now
    if (this.#isRequested) this.#options.onStalled()
    else this.#options.requestKey(now)
    this.#isRequested = !this.#isRequested
  }

  /** Handles a picture. */
  picture(): void {
    this.#since = undefined
    this.#isRequested = false
  }
}
