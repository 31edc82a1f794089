import type { BrowserMedia } from '../../../media/types.ts'
import type { Clock, Timer } from '../../core/clock.ts'
import type { Cause } from '../../core/errors/catalogue.ts'

/** Maximum duration of each bad state of a browser's media, in milliseconds. */
export const mediaGrace = {
  /** Nothing has arrived: the page has canceled or was closed without a message. */
  connecting: 30_000,
  /** ICE has lost its path. The network may recover, or the page has closed its connection. */
  disconnected: 15_000,
  /** Final for this transport; the page may still recover its call. */
  failed: 10_000,
  closed: 10_000,
  /** The mediasoup process has died: no page can recover its media. */
  crashed: 0,
} as const

/** A state of a browser's media that does not last. */
export type LostState = keyof typeof mediaGrace

/**
 * Returns the cause for which a leg ends whose browser's media was lost; `code`: unless the gateway is at
 * fault.
 */
export const causeOfLoss = (state: LostState, code: 'client_lost' | 'media_timeout'): Cause =>
  state === 'crashed'
    ? { code: 'internal', detail: 'the mediasoup process died' }
    : { code, detail: `media ${state}` }

/** Watches the media of one browser, and reports once when it is lost. */
export class BrowserMediaWatch {
  #clock: Clock
  #onLost: (state: LostState) => void
  #timer: Timer | undefined
  #hasBegun = false
  #isConnected = false
  #isClosed = false
  #waiting = new Set<() => void>()

  constructor(
    media: Pick<BrowserMedia, 'onState'>,
    clock: Clock,
    onLost: (state: LostState) => void,
    /** `later`: the browser cannot connect before {@link begin}. */
    begins: 'now' | 'later' = 'now',
  ) {
    this.#clock = clock
    this.#onLost = onLost
    if (begins === 'now') this.begin()
    media.onState((state) => {
      if (state === 'connected') this.#up()
      else this.#arm(state)
    })
  }

  /** Starts the watch: the browser has what it needs to connect. Idempotent. */
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
    // A transport that is checked again was up before: the first wait is for one that never was.
    if (state === 'connecting' && this.#isConnected) return
    this.#timer?.cancel()
    this.#timer = this.#clock.after(mediaGrace[state], () => this.#onLost(state))
  }

  #release(): void {
    for (const resolve of this.#waiting) resolve()
    this.#waiting.clear()
  }
}
