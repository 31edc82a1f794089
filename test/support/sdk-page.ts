import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Page } from 'playwright-core'
import type { Browser, PageOptions } from './browser.ts'
import type { Gateway } from './gateway.ts'

/** The published browser SDK's bundle, as npm delivered it. */
const bundle = (): Buffer => {
  const folder = dirname(createRequire(import.meta.url).resolve('@signalwire/js/package.json'))
  return readFileSync(join(folder, 'dist', 'index.umd.js'))
}

const html =
  '<!doctype html><meta charset="utf-8"><title>SDK</title><div id="root"></div><script src="/sdk.js"></script>'

/** What the scenario's page keeps of the SDK's objects. */
interface SdkWindow {
  SignalWire: { SignalWire(options: object): Promise<SdkClient> }
  client: SdkClient
  call: SdkCall
  invites: {
    details: Record<string, unknown>
    accept(options: object): Promise<SdkCall>
    reject(): Promise<void>
  }[]
  events: string[]
  told: unknown[]
  document: { getElementById(id: string): unknown }
}

interface SdkClient {
  online(options: object): Promise<unknown>
  offline(): Promise<unknown>
  dial(options: object): Promise<SdkCall>
  disconnect(): Promise<unknown>
  /** Every event of the server, by its type. */
  on(event: string, listener: (params: unknown) => void): void
}

interface SdkCall {
  start(): Promise<unknown>
  hangup(): Promise<unknown>
  sendDigits(digits: string): Promise<unknown>
  audioMute(): Promise<unknown>
  on(event: string, listener: () => void): void
}

/** A page of a customer with the published SDK, unmodified. It is served by a server of its own, so it is cross-origin as in life. */
export class SdkPage {
  readonly #server: Server
  readonly page: Page

  constructor(server: Server, page: Page) {
    this.#server = server
    this.page = page
  }

  /** Opens the page and signs in with a token (default Alice's); only host and token are the gateway's. */
  static async open(
    browser: Browser,
    gateway: Gateway,
    token?: string,
    options: PageOptions = {},
  ): Promise<SdkPage> {
    const sdk = bundle()
    const server = createServer((request, response) => {
      const script = request.url === '/sdk.js'
      response.setHeader('content-type', script ? 'text/javascript' : 'text/html')
      response.end(script ? sdk : html)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const page = await browser.page(options)
    await page.goto(`http://localhost:${(server.address() as { port: number }).port}/`)
    const host = `gw.localhost:${gateway.tlsPort}`
    await page.evaluate(signIn, { host, token: token ?? (await gateway.token()) })
    return new SdkPage(server, page)
  }

  /** Goes online: calls are put aside for {@link accept}. */
  online(): Promise<void> {
    return this.page.evaluate(async () => {
      const { client, invites } = globalThis as unknown as SdkWindow
      await client.online({
        incomingCallHandlers: {
          all: ({ invite }: { invite: SdkWindow['invites'][number] }) => invites.push(invite),
        },
      })
    })
  }

  /** Goes offline. */
  offline(): Promise<void> {
    return this.page.evaluate(async () => {
      await (globalThis as unknown as SdkWindow).client.offline()
    })
  }

  /** What a method of the client resolves with, as JSON; `name` may be `namespace.method`. Rejects as it does. */
  ask(name: string, ...options: readonly unknown[]): Promise<unknown> {
    return this.page.evaluate(
      async ({ path, args }) => {
        const { client } = globalThis as unknown as SdkWindow
        const names = path.split('.')
        type Members = Readonly<Record<string, unknown>>
        const owner = names
          .slice(0, -1)
          .reduce((at, name) => at[name] as Members, client as unknown as Members)
        const method = owner[names.at(-1) ?? ''] as (...given: readonly unknown[]) => Promise<unknown>
        const answer = await method.call(owner, ...args)
        return answer === undefined ? undefined : JSON.parse(JSON.stringify(answer))
      },
      { path: name, args: [...options] },
    )
  }

  /** How many calls have rung. */
  invites(): Promise<number> {
    return this.page.evaluate(() => (globalThis as unknown as SdkWindow).invites.length)
  }

  /** Takes the last call that rang. */
  accept(): Promise<void> {
    return this.page.evaluate(async () => {
      const window = globalThis as unknown as SdkWindow
      const call = await window.invites
        .at(-1)!
        .accept({ rootElement: window.document.getElementById('root'), audio: true, video: false })
      for (const event of ['active', 'destroy']) call.on(event, () => window.events.push(event))
      window.call = call
    })
  }

  /** Dials, and waits until the SDK says that the call has started. */
  dial(to: string): Promise<void> {
    return this.page.evaluate(async (address) => {
      const window = globalThis as unknown as SdkWindow
      const rootElement = window.document.getElementById('root')
      window.call = await window.client.dial({ to: address, audio: true, video: false, rootElement })
      for (const event of ['active', 'destroy']) window.call.on(event, () => window.events.push(event))
      await window.call.start()
    }, to)
  }

  /** Sends key presses. */
  sendDigits(digits: string): Promise<void> {
    return this.page.evaluate(async (keys) => {
      await (globalThis as unknown as SdkWindow).call.sendDigits(keys)
    }, digits)
  }

  /** Hangs up. */
  hangUp(): Promise<void> {
    return this.page.evaluate(async () => {
      await (globalThis as unknown as SdkWindow).call.hangup()
    })
  }

  /** Events of calls so far: `active`, `destroy`. */
  events(): Promise<string[]> {
    return this.page.evaluate(() => (globalThis as unknown as SdkWindow).events)
  }

  /** What handlers have told the page so far: `user_event`. */
  told(): Promise<unknown[]> {
    return this.page.evaluate(() => (globalThis as unknown as SdkWindow).told)
  }

  /** Closes the page and its server. */
  async close(): Promise<void> {
    await this.page.context().close()
    this.#server.closeAllConnections()
    this.#server.close()
  }
}

const signIn = async (options: { host: string; token: string }): Promise<void> => {
  const window = globalThis as unknown as SdkWindow
  window.invites = []
  window.events = []
  window.told = []
  window.client = await window.SignalWire.SignalWire(options)
  window.client.on('user_event', (params) => window.told.push(params))
}
