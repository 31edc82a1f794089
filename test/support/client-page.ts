import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import type { Gateway } from './gateway.ts'

const built = join(import.meta.dirname, '..', '..', 'client', 'dist')
/** Compressed size of the gateway's own SDK, in bytes. */
export const builtSize = (): number => gzipSync(readFileSync(join(built, 'trunkline.global.js'))).length

const html =
  '<!doctype html><meta charset="utf-8"><title>Client</title><script src="/trunkline.global.js"></script>'

/**
 * Service worker as an application writes it (docs/sdk.md). It decrypts push messages, shows notifications
 * and closes them. The page can also ask the worker to decrypt a message. For the tests, the worker counts
 * handled messages.
 */
const worker = `importScripts('/push.global.js')
const keyOf = async () => (await (await caches.open('push')).match('/key')).text()
const show = async (payload) => {
  const { notification_uuid: tag, title, incoming_caller_name: body } = payload
  if (payload.type !== 'call_invite')
    return (await registration.getNotifications({ tag })).forEach((notification) => notification.close())
  const data = await TrunklinePush.decryptPush(payload, await keyOf())
  await registration.showNotification(title, { body, tag, data })
}
let handledPushes = 0
addEventListener('push', (event) => event.waitUntil(show(event.data.json()).finally(() => handledPushes++)))
addEventListener('message', async ({ data, ports: [port] }) => {
  try { port.postMessage(await TrunklinePush.decryptPush(data.payload, data.key)) }
  catch (error) { port.postMessage({ failed: error.message }) }
})
addEventListener('install', () => skipWaiting())
addEventListener('activate', (event) => event.waitUntil(clients.claim()))`

const files: Readonly<Record<string, () => readonly [type: string, content: string | Buffer]>> = {
  '/': () => ['text/html', html],
  '/worker.js': () => ['text/javascript', worker],
  '/trunkline.global.js': () => ['text/javascript', readFileSync(join(built, 'trunkline.global.js'))],
  '/push.global.js': () => ['text/javascript', readFileSync(join(built, 'push.global.js'))],
}

/** Payload of a push message. */
export type Notification = Readonly<Record<string, string>>

/** Paged list of the SDK. */
interface Paged<T> {
  readonly data: readonly T[]
  readonly hasNext: boolean
  nextPage(): Promise<Paged<T> | undefined>
  prevPage(): Promise<Paged<T> | undefined>
}

interface Named {
  readonly id: string
  readonly name: string
}

interface Message {
  readonly text: string
}

interface WithAddress {
  readonly addressId: string
}

interface ClientCall {
  readonly state: string
  start(): Promise<void>
  answer(): Promise<void>
  hangup(): Promise<void>
  sendDigits(digits: string): Promise<void>
}

/**
 * Members of the SDK that scenarios use. The SDK's own types need a browser's types, which the tests are
 * compiled without.
 */
interface OwnClient {
  readonly httpHost: string
  readonly address: {
    getAddresses(options: object): Promise<Paged<Named>>
    getAddress(by: { readonly id: string } | { readonly name: string }): Promise<Named>
  }
  readonly chat: {
    getMessages(options: WithAddress): Promise<Paged<Message>>
    subscribe(options: WithAddress & { onMessage(message: Message): void }): unknown
    sendMessage(options: WithAddress & Message): Promise<Message>
    join(options: WithAddress): Promise<unknown>
  }
  readonly conversation: {
    getConversations(): Promise<Paged<Named>>
    getMessages(): Promise<Paged<Message>>
    getConversationMessages(options: WithAddress & { readonly pageSize: number }): Promise<Paged<Message>>
    sendMessage(options: WithAddress & Message): Promise<Message>
  }
  getSubscriberInfo(): Promise<{ readonly email: string; readonly push_notification_key: string | null }>
  registerDevice(device: object): Promise<{ readonly id: string; readonly push_notification_key: string }>
  unregisterDevice(device: { readonly id: string }): Promise<object>
  updateToken(token: string): Promise<void>
  online(): Promise<void>
  offline(): Promise<void>
  dial(options: { readonly to: string }): Promise<ClientCall>
  reattach(): Promise<ClientCall>
  handlePushNotification(
    payload: object,
  ): Promise<{ readonly resultType: string; readonly resultObject: ClientCall }>
}

/** State of the page. */
export interface ClientWindow {
  Trunkline: { SignalWire(options: object): Promise<OwnClient> }
  client: OwnClient
  call: ClientCall
  /** Messages that subscriptions received. */
  heard: string[]
}

/** Members of playwright's page that {@link ClientPage} needs, so that other browsers' pages fit. */
export interface TestPage extends Pick<Page, 'evaluate'> {
  goto(url: string): Promise<unknown>
  reload(): Promise<unknown>
  context(): { close(): Promise<void> }
}

/** A customer's page on a server of its own, with the built SDK in a script tag. */
export class ClientPage<P extends TestPage = Page> {
  readonly #server: Server
  readonly #options: object
  readonly page: P

  constructor(server: Server, page: P, options: object) {
    this.#server = server
    this.page = page
    this.#options = options
  }

  /** Opens the page, and signs in with a token and these options. */
  static async open<P extends TestPage>(
    browser: { page(): Promise<P> },
    gateway: Gateway,
    token: string,
    options: object = {},
  ): Promise<ClientPage<P>> {
    const server = createServer(({ url = '' }, response) => {
      const [type, content] = files[url]?.() ?? ['text/plain', '']
      response.writeHead(content === '' ? 404 : 200, { 'content-type': type }).end(content)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const page = await browser.page()
    await page.goto(`http://localhost:${(server.address() as { port: number }).port}/`)
    const host = `localhost:${gateway.httpPort}`
    const opened = new ClientPage(server, page, { host, token, ...options })
    try {
      await opened.signIn()
      return opened
    } catch (error) {
      await opened.close()
      throw error
    }
  }

  /** Signs in, also after a reload. */
  signIn(): Promise<void> {
    return this.page.evaluate(async (options) => {
      const window = globalThis as unknown as ClientWindow
      window.heard = []
      window.client = await window.Trunkline.SignalWire(options)
    }, this.#options)
  }

  /**
   * Opens a copy of the tab with its session storage, as a browser's *Duplicate* does. Not signed in; closes
   * with the page.
   */
  async duplicate(this: ClientPage): Promise<ClientPage> {
    const [page] = await Promise.all([
      this.page.waitForEvent('popup'),
      this.page.evaluate(() => {
        const window = globalThis as unknown as { open(url: string): void; location: { href: string } }
        window.open(window.location.href)
      }),
    ])
    await page.waitForLoadState()
    return new ClientPage(this.#server, page, this.#options)
  }

  /** Registers the page's service worker, which keeps the key of notifications. */
  async registerWorker(key: string): Promise<void> {
    await this.page.evaluate(registerWorker, key)
  }

  /** Lets the page's service worker decrypt a notification, and returns the result. */
  readInWorker(payload: Notification, key: string): Promise<Notification> {
    return this.page.evaluate(readInWorker, { payload, key })
  }

  /** Closes the page and its server. */
  async close(): Promise<void> {
    await this.page.context().close()
    this.#server.closeAllConnections()
    this.#server.close()
  }
}

interface WorkerWindow {
  readonly caches: {
    open(name: string): Promise<{ put(path: string, content: Response): Promise<void> }>
  }
  readonly navigator: {
    readonly serviceWorker: {
      register(url: string): Promise<unknown>
      readonly ready: Promise<{ readonly active: { postMessage(message: object, ports: unknown[]): void } }>
    }
  }
}

const registerWorker = async (key: string): Promise<void> => {
  const window = globalThis as unknown as WorkerWindow
  await (await window.caches.open('push')).put('/key', new Response(key))
  await window.navigator.serviceWorker.register('/worker.js')
  await window.navigator.serviceWorker.ready
}

const readInWorker = async (message: { payload: Notification; key: string }): Promise<Notification> => {
  const { serviceWorker } = (globalThis as unknown as WorkerWindow).navigator
  await serviceWorker.register('/worker.js')
  const { active } = await serviceWorker.ready
  const { port1, port2 } = new MessageChannel()
  const answered = new Promise<Notification>((resolve) => {
    Object.assign(port1, { onmessage: ({ data }: { data: Notification }) => resolve(data) })
  })
  active.postMessage(message, [port2])
  return answered
}
