import { Browser } from './browser.ts'
import { alice, Gateway, type GatewayOptions } from './gateway.ts'

/** The second subscriber. */
export const bob = { email: 'bob@example.test', password: 'looking-glass-9' } as const

export { alice }

/** Tones in Hz of the browsers' microphones and of the telephones. */
export const tones = { alice: 1200, bob: 700, customer: 440, phone: 600 } as const

/** A gateway whose subscribers are Alice and Bob, and a browser for each of them. */
export class TwoBrowsers {
  #gateway: Gateway | undefined
  #browsers: readonly Browser[] = []

  /** Starts all three, with more in the gateway's configuration. */
  async start(more: GatewayOptions = {}): Promise<void> {
    const browsers = Promise.all([Browser.start(tones.alice), Browser.start(tones.bob)])
    this.#gateway = await Gateway.start({
      subscribers: [
        { ...alice, displayName: 'Alice' },
        { ...bob, displayName: 'Bob' },
      ],
      ...more,
    })
    this.#browsers = await browsers
  }

  /** Throws before the start. */
  get gateway(): Gateway {
    if (!this.#gateway) throw new Error('no gateway was started')
    return this.#gateway
  }

  /** Alice's and Bob's. */
  get browsers(): readonly [Browser, Browser] {
    const [first, second] = this.#browsers
    if (!first || !second) throw new Error('no browser was started')
    return [first, second]
  }

  /** Ends what was started; no call may be left. */
  async stop(): Promise<void> {
    await this.#gateway?.settled()
    for (const browser of this.#browsers) await browser.stop()
    await this.#gateway?.stop()
  }
}
