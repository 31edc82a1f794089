import type { BrowserMedia } from '../../../media/types.ts'
import type { Clock, Timer } from '../../core/clock.ts'
import type { Cause } from '../../core/errors/catalogue.ts'

/** Maximum duration of each bad state of a browser's media, in milliseconds. */
export const mediaGrace = {
  /** Nothing has arrived: the page has cancelled or was closed without a message. */
  connecting: 30_000,
  /** ICE has lost its path. Either the network may recover, or the page has closed its connection. */
  disconnected: 15_000,
  /** Final for this transport; the page may still recover its call. */
  failed: 10_000,
  closed: 10_000,
  /**
   * The mediasoup process has died, and the page was asked for a new offer if its SDK can make one at once.
   * Other pages notice the loss after some 16 s, and reconnect within 5 s.
   */
  crashed: 25_000,
} as const

/** State of a browser's media that is tolerated for a limited time only. */
export type LostState = keyof typeof mediaGrace

/**
 * Returns the cause with which a leg ends after its browser's media was lost. `code`: used unless the gateway
 * is at fault.
 */
export const causeOfLoss = (state: LostState, code: 'client_lost' | 'media_timeout'): Cause =>
  state === 'crashed'
    ? { code: 'internal', detail: 'the mediasoup process died' }
    : { code, detail: `media ${state}` }

/** Options of a {@link BrowserMediaWatch}. */
export interface BrowserMediaWatchOptions {
  /**
   * Asks the browser for a new offer after the death of the mediasoup process. Returns whether it can make
   * one; otherwise its media is lost at once. Default: it cannot.
   */
  readonly askOffer?: () => boolean
  /** `later`: the watch starts at `begin`, as the browser cannot connect before. Default `now`. */
  readonly begins?: 'now' | 'later'
}

/** Watches the media of one browser, and reports once when it is lost. */
export class BrowserMediaWatch {
  #clock: Clock
  #onLost: (state: LostState) => void
  readonly #askOffer: () => boolean
  #timer: Timer | undefined
  #hasBegun = false
  #isConnected = false
  #isClosed = false
  #waiting = new Set<() => void>()

  constructor(
    media: Pick<BrowserMedia, 'onState'>,
    clock: Clock,
    onLost: (state: LostState) => void,
    { askOffer = () => false, begins = 'now' }: BrowserMediaWatchOptions = {},
  ) {
    this.#clock = clock
    this.#onLost = onLost
    this.#askOffer = askOffer
    if (begins === 'now') this.begin()
    media.onState((state) => {
      if (state === 'connected') this.#up()
      else this.#arm(state)
    })
  }

  /** Starts the watch. Called when the browser has all it needs to connect. Idempotent. */
  begin(): void {
    if (this.#hasBegun) return
    this.#hasBegun = true
    if (!this.#isConnected) this.#arm('connecting')
  }

  /** Resolves when the browser is connected, after `maxWaitMs` at the latest. */
  async untilConnected(maxWaitMs: number): Promise<void> {
    if (this.#isConnected || this.#isClosed) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = this.#clock.after(maxWaitMs, resolve)
    this.#waiting.add(resolve)
    await promise
    this.#waiting.delete(resolve)
    timer.cancel()
  }

  /** Restarts the wait after a new offer of the page, which has received nothing yet. */
  renewed(): void {
    this.begin()
    if (!this.#timer) return
    this.#isConnected = false
    this.#arm('connecting')
  }

  close(): void {
    this.#isClosed = true
    this.#timer?.cancel()
    this.#release()
  }

  #up(): void {
    this.#isConnected = true
    this.#timer?.cancel()
    this.#timer = undefined
    this.#release()
  }

  #arm(state: LostState): void {
    if (this.#isClosed) return
    // The wait for `connecting` is for a transport that was never connected. One that is checked again was
    // connected before.
    if (state === 'connecting' && this.#isConnected) return
    this.#timer?.cancel()
    const isHopeless = state === 'crashed' && !this.#askOffer()
    this.#timer = this.#clock.after(isHopeless ? 0 : mediaGrace[state], () => this.#onLost(state))
  }

  #release(): void {
    for (const resolve of this.#waiting) resolve()
    this.#waiting.clear()
  }
}
