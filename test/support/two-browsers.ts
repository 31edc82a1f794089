import { Browser } from './browser.ts'
import { alice, Gateway, type GatewayOptions } from './gateway.ts'

/** The second subscriber. */
export const bob = { email: 'bob@example.test', password: 'looking-glass-9' } as const

export { alice }

/** Tones in Hz of the browsers' microphones and of the telephones. */
export const tones = { alice: 1200, bob: 700, customer: 440, phone: 600 } as const

/** Gateway whose subscribers are Alice and Bob, with a browser for each of them. */
export class TwoBrowsers {
  #gateway: Gateway | undefined
  #browsers: readonly Browser[] = []

  /** Starts the gateway and the browsers; `more` adds to the gateway's configuration. */
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

  /** Browsers of Alice and Bob. */
  get browsers(): readonly [Browser, Browser] {
    const [first, second] = this.#browsers
    if (!first || !second) throw new Error('no browser was started')
    return [first, second]
  }

  /** Stops all three. Fails if a call remains. */
  async stop(): Promise<void> {
    await this.#gateway?.settled()
    await Promise.all([...this.#browsers.map((browser) => browser.stop()), this.#gateway?.stop()])
  }
}
