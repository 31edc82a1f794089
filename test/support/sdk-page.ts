import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Page } from 'playwright-core'
import type { Browser, PageOptions } from './browser.ts'
import type { Gateway } from './gateway.ts'
import { PageWire } from './page-wire.ts'
import { type AnyFate, pageScript, type SdkWindow } from './sdk-window.ts'

/** The published browser SDK's bundle, as npm delivered it. */
const bundle = (folder: string): Buffer => {
  const file = createRequire(import.meta.url).resolve(`${folder}/package.json`)
  return readFileSync(join(dirname(file), 'dist', 'index.umd.js'))
}

const html =
  '<!doctype html><meta charset="utf-8"><title>SDK</title><div id="root"></div><script src="/sdk.js"></script>'

/** How a page is opened. */
export interface SdkPageOptions extends PageOptions {
  /** Folder of the SDK in `node_modules`; default that of the newest. */
  readonly folder?: string
  /** Where it reaches the gateway; default the gateway's own TLS listener. */
  readonly port?: number
  /** What its application says of where the gateway is; default the host. */
  readonly host?: 'of the token'
  /** A script that runs before all others. */
  readonly first?: string
}

/** Options of the SDK's `dial` and `accept`. */
export interface SdkCallOptions {
  readonly audio?: boolean
  readonly video?: boolean
  readonly userVariables?: Readonly<Record<string, unknown>>
}

/** A page of a customer with the published SDK, unmodified. It is served by a server of its own, so it is cross-origin as in life. */
export class SdkPage {
  readonly #server: Server
  readonly #options: SignInOptions
  readonly page: Page
  readonly wire: PageWire

  private constructor(server: Server, page: Page, options: SignInOptions) {
    this.#server = server
    this.page = page
    this.#options = options
    this.wire = new PageWire(page)
  }

  /** Opens the page and signs in with a token (default Alice's); only host and token are the gateway's. */
  static async open(
    browser: Browser,
    gateway: Gateway,
    token?: string,
    { folder = '@signalwire/js', port = gateway.tlsPort, host, first, ...options }: SdkPageOptions = {},
  ): Promise<SdkPage> {
    const sdk = bundle(folder)
    const server = createServer((request, response) => {
      const script = request.url === '/sdk.js'
      response.setHeader('content-type', script ? 'text/javascript' : 'text/html')
      response.end(script ? sdk : html)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const page = await browser.page(options)
    if (first) await page.addInitScript(first)
    const opened = new SdkPage(server, page, {
      ...(host !== 'of the token' && { host: `gw.localhost:${port}` }),
      token: token ?? (await gateway.token()),
    })
    await page.goto(`http://localhost:${(server.address() as { port: number }).port}/`)
    await opened.signIn()
    return opened
  }

  /** Makes the SDK's client, also with another token than before. */
  async signIn(token = this.#options.token): Promise<void> {
    await this.page.evaluate(pageScript)
    await this.page.evaluate(signIn, { ...this.#options, token })
  }

  /** Loads the page anew in the same tab, and signs in. */
  async reload(): Promise<void> {
    await this.page.reload()
    await this.signIn()
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
  async ask(name: string, ...options: readonly unknown[]): Promise<unknown> {
    return resolved(await this.fate(`client.${name}`, ...options))
  }

  /** The same of the call. */
  async do(name: string, ...options: readonly unknown[]): Promise<unknown> {
    return resolved(await this.fate(`call.${name}`, ...options))
  }

  /** What became of a method, such as `client.address.getAddress`. */
  fate(name: string, ...options: readonly unknown[]): Promise<AnyFate> {
    return this.page.evaluate(
      ({ path, args }) => {
        type Members = Readonly<Record<string, unknown>>
        const window = globalThis as unknown as Members & { fate(work: () => unknown): Promise<AnyFate> }
        const names = path.split('.')
        const owner = names.slice(0, -1).reduce((at: Members, name) => at[name] as Members, window)
        const method = owner[names.at(-1) ?? ''] as (...given: readonly unknown[]) => unknown
        return window.fate(() => method.apply(owner, args))
      },
      { path: name, args: [...options] },
    )
  }

  /** How many calls have rung. */
  invites(): Promise<number> {
    return this.page.evaluate(() => (globalThis as unknown as SdkWindow).invites.length)
  }

  /** What the SDK says of the last call that rang. */
  details(): Promise<Record<string, unknown>> {
    return this.page.evaluate(() => (globalThis as unknown as SdkWindow).invites.at(-1)!.details)
  }

  /** Takes the last call that rang, without video unless it is asked for. */
  accept(options: SdkCallOptions = {}): Promise<void> {
    return this.page.evaluate(async (wanted) => {
      const window = globalThis as unknown as SdkWindow & { watch(call: unknown): void }
      const rootElement = window.document.getElementById('root')
      window.watch(await window.invites.at(-1)!.accept({ rootElement, audio: true, video: false, ...wanted }))
    }, options)
  }

  /** Turns the last call that rang away. */
  reject(): Promise<void> {
    return this.page.evaluate(() => (globalThis as unknown as SdkWindow).invites.at(-1)!.reject())
  }

  /** Dials, and waits until the SDK says that the call has started. */
  async dial(to: string, options: SdkCallOptions = {}): Promise<void> {
    await this.begin('dial', to, options)
    resolved(await this.started())
  }

  /** Begins a call, or takes one back, without waiting for what becomes of it. */
  begin(how: 'dial' | 'reattach', to: string, options: SdkCallOptions = {}): Promise<void> {
    return this.page.evaluate(
      async ({ how, wanted }) => {
        const window = globalThis as unknown as SdkWindow & {
          watch(call: unknown): void
          fate(work: () => unknown): Promise<never>
        }
        const rootElement = window.document.getElementById('root')
        window.watch(await window.client[how]({ audio: true, video: false, rootElement, ...wanted }))
        window.started = window.fate(() => window.call.start())
      },
      { how, wanted: { to, ...options } },
    )
  }

  /** What became of the `start()` of the call. */
  started(): Promise<AnyFate> {
    return this.page.evaluate(async () => (globalThis as unknown as SdkWindow).started)
  }

  /** Shares the screen, with its sound, and waits until the SDK says that it is shared. */
  shareScreen(): Promise<void> {
    return this.page.evaluate(async () => {
      const window = globalThis as unknown as SdkWindow
      window.share = await window.call.startScreenShare({ audio: true, video: true })
    })
  }

  /** Shares it no longer. */
  async stopSharing(): Promise<void> {
    await resolved(await this.fate('share.leave'))
  }

  /** Sends key presses. */
  async sendDigits(digits: string): Promise<void> {
    await this.do('sendDigits', digits)
  }

  /** Hangs up. */
  async hangUp(): Promise<void> {
    await this.do('hangup')
  }

  /** Names of the events of the last call so far, such as `active` and `destroy`. */
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

const resolved = ({ resolved, rejected }: AnyFate): unknown => {
  if (!rejected) return resolved
  throw Object.assign(new Error(rejected.message), { code: rejected.code })
}

interface SignInOptions {
  readonly host?: string
  readonly token: string
}

const signIn = async (options: SignInOptions): Promise<void> => {
  const window = globalThis as unknown as SdkWindow
  window.client = await window.SignalWire.SignalWire(options)
  window.client.on?.('user_event', (params) => window.told.push(params))
}
