import type { Client } from '@trunkline/client'
import type { Account } from '../api.ts'
import { pushTexts } from '../texts/push.ts'
import type { KeptStore } from './kept.ts'

/** Used part of the browser. */
export interface PushBrowser {
  /** Undefined if notifications are not supported: the browser is too old, or the page has no TLS. */
  readonly permission: NotificationPermission | undefined
  ask(): Promise<NotificationPermission>
  /** Returns the service worker; starts it if needed. */
  worker(): Promise<PushWorker>
  /** Returns the running service worker. */
  started(): Promise<PushWorker | undefined>
}

/** Registration of a service worker. */
export interface PushWorker {
  /** Undefined if the browser does not support push. */
  readonly pushManager?: Pick<PushManager, 'getSubscription' | 'subscribe'>
}

/** Collaborators of {@link BrowserPush}. */
export interface BrowserPushDeps {
  readonly browser: PushBrowser
  readonly client: Pick<Client, 'registerDevice' | 'unregisterDevice'>
  readonly account: Account
  readonly kept: KeptStore
  /** Public key of the gateway (base64url); undefined if it sends no push notifications to browsers. */
  readonly serverKey: string | undefined
  readonly changed: () => void
}

/** `open`: notifications are shown while a page is open. `always`: also without an open page. */
export type PushState = 'unsupported' | 'blocked' | 'off' | 'working' | 'open' | 'always'

/** Notifications of calls in this browser, and its registration as a device of the subscriber. */
export class BrowserPush {
  readonly #deps: BrowserPushDeps
  #state: PushState = 'off'
  #fault: string | undefined

  constructor(deps: BrowserPushDeps) {
    this.#deps = deps
  }

  get state(): PushState {
    return this.#state
  }

  /** Message for the user after a failure. */
  get fault(): string | undefined {
    return this.#fault
  }

  /** Whether the gateway can reach this browser without an open page. */
  get isOffered(): boolean {
    return this.#deps.serverKey !== undefined
  }

  /** Reads the current state. Never rejects. */
  async load(): Promise<void> {
    const { browser, kept, account } = this.#deps
    if (browser.permission !== 'granted') {
      this.#become(
        browser.permission === undefined
          ? 'unsupported'
          : browser.permission === 'denied'
            ? 'blocked'
            : 'off',
      )
      return
    }
    const worker = await browser.started().catch(() => undefined)
    const registration = await kept.get('registration').catch(() => undefined)
    if (registration && registration.account.address !== account.address) {
      // Another subscriber was signed in here, whose calls must no longer reach this browser.
      await this.#forget(worker)
      this.#become('off')
    } else if (registration && worker) {
      await kept.set('registration', { ...registration, account }).catch(() => {})
      this.#become(await this.#renewed(worker))
    } else this.#become(worker ? 'open' : 'off')
  }

  /** Asks the user for permission, and registers this browser. Never rejects. */
  async enable(): Promise<void> {
    const { browser } = this.#deps
    this.#fault = undefined
    this.#become('working')
    try {
      const permission = await browser.ask()
      if (permission !== 'granted') return this.#become(permission === 'denied' ? 'blocked' : 'off')
      this.#become(await this.#register(await browser.worker()))
    } catch {
      this.#fault = pushTexts().registerFailed
      this.#become('off')
    }
  }

  /** Disables notifications. Never rejects. */
  async disable(): Promise<void> {
    const { browser, client, kept } = this.#deps
    this.#fault = undefined
    this.#become('working')
    const registration = await kept.get('registration').catch(() => undefined)
    if (registration) await client.unregisterDevice({ id: registration.deviceId }).catch(() => {})
    await this.#forget(await browser.started().catch(() => undefined))
    this.#become('off')
  }

  async #renewed(worker: PushWorker): Promise<PushState> {
    const { serverKey } = this.#deps
    const present = await worker.pushManager?.getSubscription().catch(() => null)
    if (serverKey === undefined || !present || isFor(present, serverKey)) return 'always'
    return this.#register(worker).catch(() => {
      this.#fault = pushTexts().registerFailed
      return 'off'
    })
  }

  // Without a push service, a browser can still notify while the page is open.
  async #register(worker: PushWorker): Promise<PushState> {
    const { serverKey, client, kept, account } = this.#deps
    if (serverKey === undefined || !worker.pushManager) return 'open'
    let subscription: PushSubscription
    try {
      // A subscription with another key receives nothing, and prevents a new one.
      const present = await worker.pushManager.getSubscription()
      if (present && !isFor(present, serverKey)) await present.unsubscribe()
      const options = { userVisibleOnly: true, applicationServerKey: serverKey }
      subscription = await worker.pushManager.subscribe(options)
    } catch {
      this.#fault = pushTexts().subscribeFailed
      return 'open'
    }
    const device = await client.registerDevice({
      deviceToken: JSON.stringify(subscription),
      deviceType: 'Desktop',
    })
    await kept.set('registration', { account, deviceId: device.id, key: device.push_notification_key })
    return 'always'
  }

  async #forget(worker: PushWorker | undefined): Promise<void> {
    const { kept } = this.#deps
    await kept.remove('registration').catch(() => {})
    await kept.remove('pending').catch(() => {})
    const subscription = await worker?.pushManager?.getSubscription().catch(() => null)
    await subscription?.unsubscribe().catch(() => false)
  }

  #become(state: PushState): void {
    this.#state = state
    this.#deps.changed()
  }
}

/** Whether a subscription was created with this key, as far as the browser reports. */
const isFor = ({ options }: PushSubscription, serverKey: string): boolean => {
  const key = options?.applicationServerKey
  if (!key) return true
  const bytes = atob(serverKey.replaceAll('-', '+').replaceAll('_', '/'))
  return String.fromCharCode(...new Uint8Array(key)) === bytes
}
