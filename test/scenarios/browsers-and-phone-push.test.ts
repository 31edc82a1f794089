/** @schedule tones: several browsers run at the same time. */

/** Web Push of the gateway to a closed page, which its service worker wakes. */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import {
  authority,
  closeServers,
  makeBrowser,
  type ReceivedRequest,
  serveTls,
} from '../../gateway/push/testing/push-servers.ts'
import { newVapidKeys } from '../../gateway/push/vapid.ts'
import { application, scripted } from '../support/applications.ts'
import { Browser } from '../support/browser.ts'
import { Carrier } from '../support/carrier.ts'
import { act, reaches } from '../support/client-calls.ts'
import { ClientPage, type ClientWindow } from '../support/client-page.ts'
import { Gateway } from '../support/gateway.ts'
import { hears } from '../support/page-audio.ts'
import { until } from '../support/until.ts'

const tone = 1200

let gateway: Gateway
let browser: Browser
let service: Awaited<ReturnType<typeof serveTls>>
let folder: string

beforeAll(async () => {
  service = await serveTls((_, response) => response.writeHead(201).end())
  folder = mkdtempSync(join(tmpdir(), 'push-'))
  const ca = join(folder, 'ca.pem')
  writeFileSync(ca, (await authority()).certificate)
  // The gateway's process reads the variable at its start.
  process.env.NODE_EXTRA_CA_CERTS = ca
  const browsing = Browser.start(tone)
  gateway = await Gateway.start({
    domains: [
      application('sdk.test', scripted({ connect: { to: '/public/alice', answer_on_bridge: true } })),
    ],
    push: { webPush: { subject: 'mailto:ops@gateway.example', ...newVapidKeys() } },
  }).finally(() => delete process.env.NODE_EXTRA_CA_CERTS)
  browser = await browsing
})

afterAll(async () => {
  await browser?.stop()
  await gateway?.stop()
  await closeServers()
  rmSync(folder, { recursive: true, force: true })
})

/** Visible notification. */
interface Shown {
  readonly title: string
  readonly body: string
  readonly data: object
}

/** Global scope of a service worker. */
interface WorkerScope {
  readonly registration: { getNotifications(): Promise<Shown[]> }
}

/** Subscriber whose browser is open while the page is closed. */
class Sleeper {
  readonly #opened: ClientPage
  readonly #url: string
  /** Path of the browser's subscription at the push service. */
  readonly #path: string
  readonly #deliver: (text: string) => Promise<unknown>
  readonly #decrypt: (body: Buffer) => Promise<string>

  private constructor(
    opened: ClientPage,
    path: string,
    deliver: (text: string) => Promise<unknown>,
    decrypt: (body: Buffer) => Promise<string>,
  ) {
    this.#opened = opened
    this.#url = opened.page.url()
    this.#path = path
    this.#deliver = deliver
    this.#decrypt = decrypt
  }

  /** Signs in, registers the browser as a device, and leaves the page. */
  static async open(): Promise<Sleeper> {
    const opened = await ClientPage.open(browser, gateway, await gateway.token())
    onTestFinished(() => opened.close())
    const { page } = opened
    const { origin } = new URL(page.url())
    await page.context().grantPermissions(['notifications', 'microphone'], { origin })
    // The browser's own push service is outside this machine, so keys and endpoint come from the test's
    // service.
    const { token, decrypt } = await makeBrowser()
    // A path for each test, because devices of earlier tests stay registered for the subscriber.
    const path = `/push/${randomUUID()}`
    const deviceToken = token(`https://localhost:${service.port}${path}`)
    const key = await page.evaluate(async (deviceToken) => {
      const { client } = globalThis as unknown as ClientWindow
      return (await client.registerDevice({ deviceToken, deviceType: 'Desktop' })).push_notification_key
    }, deviceToken)
    const cdp = await page.context().newCDPSession(page)
    const registered = new Promise<string>((resolve) =>
      cdp.on('ServiceWorker.workerRegistrationUpdated', ({ registrations: [first] }) => {
        if (first) resolve(first.registrationId)
      }),
    )
    await cdp.send('ServiceWorker.enable')
    await opened.registerWorker(key)
    const registrationId = await registered
    const deliver = (data: string) =>
      cdp.send('ServiceWorker.deliverPushMessage', { origin, registrationId, data })
    const sleeper = new Sleeper(opened, path, deliver, decrypt)
    await page.goto('about:blank')
    return sleeper
  }

  /** Delivers the gateway's `count`th push to the service worker, as the browser's push service does. */
  async isTold(count: number): Promise<void> {
    const seen = (): ReceivedRequest | undefined =>
      service.seen.filter(({ path }) => path === this.#path)[count - 1]
    const sent = await until(`push ${count}`, seen, Boolean)
    await this.#deliver(await this.#decrypt(sent!.body))
    await until(
      `push ${count} is handled`,
      () => this.#handled(),
      (handled) => handled >= count,
    )
  }

  /** Number of pushes that the service worker has handled. */
  async #handled(): Promise<number> {
    const [worker] = this.#opened.page.context().serviceWorkers()
    return worker ? worker.evaluate('handledPushes') : 0
  }

  /**
   * Waits until so many notifications are shown. Must follow {@link isTold}: Chromium deletes a notification
   * that is listed after it was stored and before it is shown.
   */
  shows(count: number): Promise<Shown[]> {
    const shown = async (): Promise<Shown[]> => {
      const [worker] = this.#opened.page.context().serviceWorkers()
      if (!worker) return []
      return worker.evaluate(async () => {
        const { registration } = globalThis as unknown as WorkerScope
        const all = await registration.getNotifications()
        return all.map(({ title, body, data }) => ({ title, body, data }))
      })
    }
    return until(`${count} notifications`, shown, ({ length }) => length === count)
  }

  /** Opens the page with the data of a notification, and sets `window.call` to its call. */
  async wakes(notification: object): Promise<ClientPage> {
    await this.#opened.page.goto(this.#url)
    await this.#opened.signIn()
    await this.#opened.page.evaluate(async (notification) => {
      const window = globalThis as unknown as ClientWindow
      window.call = (await window.client.handlePushNotification(notification)).resultObject
    }, notification)
    return this.#opened
  }
}

it('a push shows a notification of the call; the page answers the call, and the notification disappears', async () => {
  const sleeper = await Sleeper.open()
  const carrier = await Carrier.calls(gateway, { domain: 'sdk.test', scenario: 'caller-released' })
  await sleeper.isTold(1)
  const [{ title, body, data }] = (await sleeper.shows(1)) as [Shown]
  expect([title, body]).toEqual(['Incoming call', 'Carrier'])
  const opened = await sleeper.wakes(data)
  await act(opened, 'answer')
  await carrier.talks('answered', 440)
  await hears(opened.page, 440)
  await carrier.hears(tone, 500)
  await sleeper.isTold(2)
  await sleeper.shows(0)
  await act(opened, 'hangup')
  await carrier.done()
  await gateway.settled()
})

it('a notification disappears when the caller gives up, and a page that opens it later finds the call ended', async () => {
  const sleeper = await Sleeper.open()
  const carrier = await Carrier.calls(gateway, {
    domain: 'sdk.test',
    scenario: 'caller-cancels',
    holdMs: 'manual',
  })
  await sleeper.isTold(1)
  const [{ data }] = (await sleeper.shows(1)) as [Shown]
  await carrier.sipp.event('ringing')
  await carrier.goesOn()
  await carrier.done()
  await sleeper.isTold(2)
  await sleeper.shows(0)
  const opened = await sleeper.wakes(data)
  await reaches(opened, 'ended')
  await gateway.settled()
})
