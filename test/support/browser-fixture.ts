import { Browser } from './browser.ts'
import { DocumentServer } from './documents.ts'
import { Gateway, type GatewayOptions } from './gateway.ts'
import { Softphone } from './softphone.ts'

/** Frequency of the browser's microphone tone, in Hz. */
export const browserTone = 1000

/** Gateway, browser, customer's server, and Alice's softphone in that browser. */
export class BrowserFixture {
  #documents: DocumentServer | undefined
  #gateway: Gateway | undefined
  #browser: Browser | undefined
  #phone: Softphone | undefined

  /** Starts all parts; `options` returns the gateway's configuration, which may name documents. */
  async start(options: (documents: DocumentServer) => GatewayOptions): Promise<void> {
    const browsing = Browser.start(browserTone)
    this.#documents = await DocumentServer.open()
    this.#gateway = await Gateway.start(options(this.#documents))
    this.#browser = await browsing
    this.#phone = await Softphone.open(this.#browser, this.#gateway)
  }

  /** Throws before the start, like the other properties. */
  get documents(): DocumentServer {
    return started(this.#documents)
  }

  get gateway(): Gateway {
    return started(this.#gateway)
  }

  get browser(): Browser {
    return started(this.#browser)
  }

  /** Registered softphone; each test leaves it without a call. */
  get phone(): Softphone {
    return started(this.#phone)
  }

  /** Stops all parts. Fails if a call remains. */
  async stop(): Promise<void> {
    await this.#gateway?.settled()
    await Promise.all([this.#browser?.stop(), this.#gateway?.stop()])
    await this.#documents?.close()
  }
}

const started = <T>(part: T | undefined): T => {
  if (!part) throw new Error('the fixture was not started')
  return part
}
