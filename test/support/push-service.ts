import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CDPSession, Page } from 'playwright-core'
import { closeServers, makeBrowser, serveTls } from '../../gateway/push/testing/push-servers.ts'
import type { GatewayOptions } from './gateway.ts'
import { until } from './until.ts'

/** Notification that a service worker shows. */
export interface Shown {
  readonly title: string
  readonly body: string
}

/**
 * The push service of a browser on loopback. Receives the gateway's messages (RFC 8030), and delivers them to
 * the service worker.
 */
export class PushService {
  readonly #served: Awaited<ReturnType<typeof serveTls>>
  readonly #browser: Awaited<ReturnType<typeof makeBrowser>>
  readonly #folder: string
  #delivered = 0

  constructor(
    served: Awaited<ReturnType<typeof serveTls>>,
    browser: Awaited<ReturnType<typeof makeBrowser>>,
  ) {
    this.#served = served
    this.#browser = browser
    this.#folder = mkdtempSync(join(tmpdir(), 'push-'))
    writeFileSync(join(this.#folder, 'ca.pem'), served.ca)
  }

  static async open(): Promise<PushService> {
    const served = await serveTls((_request, response) => response.writeHead(201).end())
    return new PushService(served, await makeBrowser())
  }

  /** Configuration of a gateway that sends to this service. */
  get gateway(): Pick<GatewayOptions, 'push' | 'environment'> {
    return {
      push: { webPush: { subject: 'mailto:ops@example.test' } },
      environment: { NODE_EXTRA_CA_CERTS: join(this.#folder, 'ca.pem') },
    }
  }

  /**
   * Script that runs in a page before its own scripts: subscriptions use this service instead of the
   * browser's.
   */
  get subscribing(): string {
    const token = this.#browser.token(`https://127.0.0.1:${this.#served.port}/alice`)
    return `PushManager.prototype.subscribe = async () => ({ toJSON: () => (${token}) })`
  }

  /** Waits for the next message of the gateway, and delivers it to the browser of this page. */
  async deliver(device: PushDevice): Promise<void> {
    const at = this.#delivered++
    const seen = await until(
      'the gateway has sent a push message',
      () => this.#served.seen[at],
      (found) => found !== undefined,
    )
    await device.deliver(await this.#browser.decrypt(seen!.body))
  }

  /** Number of the gateway's messages that were not delivered. */
  get left(): number {
    return this.#served.seen.length - this.#delivered
  }

  async close(): Promise<void> {
    rmSync(this.#folder, { recursive: true, force: true })
    await closeServers()
  }
}

/** Browser of a page, with the service worker and notifications that the operating system would handle. */
export class PushDevice {
  readonly #page: Page
  readonly #session: CDPSession
  readonly #origin: string
  #registrationId = ''

  constructor(page: Page, session: CDPSession, origin: string) {
    this.#page = page
    this.#session = session
    this.#origin = origin
    session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      for (const { registrationId, isDeleted } of registrations)
        if (!isDeleted) this.#registrationId = registrationId
    })
  }

  /** Returns the device of a page whose service worker runs. */
  static async of(page: Page): Promise<PushDevice> {
    const session = await page.context().newCDPSession(page)
    const device = new PushDevice(page, session, new URL(page.url()).origin)
    await session.send('ServiceWorker.enable')
    await until('the service worker is known', () => device.#registrationId)
    return device
  }

  /** Delivers a push message, which starts the service worker if necessary. */
  async deliver(data: string): Promise<void> {
    const message = { origin: this.#origin, registrationId: this.#registrationId, data }
    await this.#session.send('ServiceWorker.deliverPushMessage', message)
  }

  /** Waits until exactly these notifications are shown. */
  async shows(...wanted: Shown[]): Promise<void> {
    // Holds the softphone's lock: Chromium forgets a notification that appears while they are listed.
    const ask = `navigator.locks.request('trunkline.alerts', () => registration.getNotifications())
      .then((all) => all.map(({ title, body }) => ({ title, body })))`
    await until(
      `the notifications are ${JSON.stringify(wanted)}`,
      () => this.#inWorker(ask),
      (shown) => JSON.stringify(shown) === JSON.stringify(wanted),
    )
  }

  /** Simulates a click on a button of the notification, or on the notification itself for an empty text. */
  async press(action: string): Promise<void> {
    await this.#inWorker(`(async () => {
      const [notification] = await navigator.locks.request('trunkline.alerts', () => registration.getNotifications())
      const works = []
      const waitUntil = (work) => works.push(work)
      dispatchEvent(Object.assign(new Event('notificationclick'), { notification, action: '${action}', waitUntil }))
      await Promise.all(works)
    })()`)
  }

  async #inWorker(code: string): Promise<unknown> {
    const [worker] = this.#page.context().serviceWorkers()
    if (!worker) throw new Error('there is no service worker')
    return worker.evaluate(code)
  }
}
