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

/** Options of a page. */
export interface SdkPageOptions extends PageOptions {
  /** Folder of the SDK in `node_modules`; default that of the newest version. */
  readonly folder?: string
  /** Host and port of the gateway; default its own TLS listener. */
  readonly port?: number
  /** Source of the gateway's address for the SDK: its token; default the `host` option. */
  readonly host?: 'of the token'
  /** A script that runs before all others. */
  readonly first?: string
  /** Whether {@link SdkPage.open} signs the page in; default true. */
  readonly isSignedIn?: boolean
}

/** Options of the SDK's `dial` and `accept`. */
export interface SdkCallOptions {
  readonly audio?: boolean
  readonly video?: boolean
  readonly userVariables?: Readonly<Record<string, unknown>>
}

/** Options of {@link SdkPage.dial} and {@link SdkPage.begin}. */
export interface SdkDialOptions extends SdkCallOptions {
  /** Whether the SDK draws the picture into an element of the page; default true. */
  readonly hasElement?: boolean
}

/**
 * A customer's page with the published SDK, unmodified. A server of its own serves it, cross-origin as in
 * production.
 */
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

  /**
   * Opens the page and signs in with a token (default Alice's). Only host, token and the switched-off pool of
   * ICE candidates differ from production.
   */
  static async open(
    browser: Browser,
    gateway: Gateway,
    token?: string,
    {
      folder = '@signalwire/js',
      port = gateway.tlsPort,
      host,
      first,
      isSignedIn = true,
      ...options
    }: SdkPageOptions = {},
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
    if (isSignedIn) await opened.signIn()
    return opened
  }

  /** Creates the SDK's client, also with a new token. */
  async signIn(token = this.#options.token): Promise<void> {
    await this.page.evaluate(pageScript)
    await this.page.evaluate(signIn, { ...this.#options, token })
  }

  /** Reloads the page in the same tab, and signs in. */
  async reload(): Promise<void> {
    await this.page.reload()
    await this.signIn()
  }

  /** Goes online. Incoming calls are kept for {@link accept}. */
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

  /** Waits until the SDK has handled all events so far: on its WebSocket they precede the next response. */
  async handledEvents(): Promise<void> {
    await this.online()
  }

  /** Goes offline. */
  offline(): Promise<void> {
    return this.page.evaluate(async () => {
      await (globalThis as unknown as SdkWindow).client.offline()
    })
  }

  /**
   * Calls a method of the client, such as `namespace.method`. Resolves and rejects as the method does, with
   * JSON.
   */
  async ask(name: string, ...options: readonly unknown[]): Promise<unknown> {
    return resolved(await this.fate(`client.${name}`, ...options))
  }

  /** Calls a method of the call, in the same way. */
  async do(name: string, ...options: readonly unknown[]): Promise<unknown> {
    return resolved(await this.fate(`call.${name}`, ...options))
  }

  /** Returns the outcome of a method, such as `client.address.getAddress`. */
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

  /** Number of calls that have rung. */
  invites(): Promise<number> {
    return this.page.evaluate(() => (globalThis as unknown as SdkWindow).invites.length)
  }

  /** Details of the last call that rang, from the SDK. */
  details(): Promise<Record<string, unknown>> {
    return this.page.evaluate(() => (globalThis as unknown as SdkWindow).invites.at(-1)!.details)
  }

  /** Accepts the last call that rang; default without video. */
  accept(options: SdkCallOptions = {}): Promise<void> {
    return this.page.evaluate(async (wanted) => {
      const window = globalThis as unknown as SdkWindow & { watch(call: unknown): void }
      const rootElement = window.document.getElementById('root')
      window.watch(await window.invites.at(-1)!.accept({ rootElement, audio: true, video: false, ...wanted }))
    }, options)
  }

  /** Rejects the last call that rang. */
  reject(): Promise<void> {
    return this.page.evaluate(() => (globalThis as unknown as SdkWindow).invites.at(-1)!.reject())
  }

  /** Dials, and waits until the SDK says that the call has started. */
  async dial(to: string, options: SdkDialOptions = {}): Promise<void> {
    await this.begin('dial', to, options)
    resolved(await this.started())
  }

  /** Dials or reattaches without waiting for the outcome. */
  begin(
    how: 'dial' | 'reattach',
    to: string,
    { hasElement = true, ...options }: SdkDialOptions = {},
  ): Promise<void> {
    return this.page.evaluate(
      async ({ how, hasElement, wanted }) => {
        const window = globalThis as unknown as SdkWindow & {
          watch(call: unknown): void
          fate(work: () => unknown): Promise<never>
        }
        const element = hasElement && { rootElement: window.document.getElementById('root') }
        window.watch(await window.client[how]({ audio: true, video: false, ...element, ...wanted }))
        window.started = window.fate(() => window.call.start())
      },
      { how, hasElement, wanted: { to, ...options } },
    )
  }

  /** Outcome of the call's `start()`. */
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

  /** Stops the screen share. */
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

  /** Parameters of the `user_event`s so far. */
  userEvents(): Promise<unknown[]> {
    return this.page.evaluate(() => (globalThis as unknown as SdkWindow).userEvents)
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
  window.client.on?.('user_event', (params) => window.userEvents.push(params))
  window.client.on?.('subscriber.token.expiring', () => {
    if (window.nextToken) window.renewed = window.client.updateToken(window.nextToken)
  })
}
