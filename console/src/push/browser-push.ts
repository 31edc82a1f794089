import type { Client } from '@trunkline/client'
import type { Account } from '../api.ts'
import type { KeptStore } from './kept.ts'

/** What of the browser is used. */
export interface PushBrowser {
  /** Undefined where the browser or the page cannot show any: too old, or without TLS. */
  readonly permission: NotificationPermission | undefined
  ask(): Promise<NotificationPermission>
  /** The service worker, started where it is not yet. */
  worker(): Promise<PushWorker>
  /** The service worker that runs already. */
  started(): Promise<PushWorker | undefined>
}

/** A service worker's registration. */
export interface PushWorker {
  /** Undefined where the browser knows no push. */
  readonly pushManager?: Pick<PushManager, 'getSubscription' | 'subscribe'>
}

/** What {@link BrowserPush} is made of. */
export interface BrowserPushParts {
  readonly browser: PushBrowser
  readonly client: Pick<Client, 'registerDevice' | 'unregisterDevice'>
  readonly account: Account
  readonly kept: KeptStore
  /** Public key of the gateway (base64url); undefined where it sends no push notifications to browsers. */
  readonly serverKey: string | undefined
  readonly changed: () => void
}

/** `open`: calls are notified while a page is open. `always`: also without one. */
export type PushState = 'unsupported' | 'blocked' | 'off' | 'working' | 'open' | 'always'

const faults = {
  subscribe:
    'The push service of this browser cannot be reached, so calls are told only while this page is open.',
  register: 'The gateway did not take this browser as a device. Please try again.',
} as const

/** Notifications of calls in this browser, and this browser as a device of the subscriber. */
export class BrowserPush {
  readonly #parts: BrowserPushParts
  #state: PushState = 'off'
  #fault: string | undefined

  constructor(parts: BrowserPushParts) {
    this.#parts = parts
  }

  get state(): PushState {
    return this.#state
  }

  /** A sentence for the person, where something did not work. */
  get fault(): string | undefined {
    return this.#fault
  }

  /** Whether the gateway can reach this browser while no page is open. */
  get isOffered(): boolean {
    return this.#parts.serverKey !== undefined
  }

  /** Finds out how things are. Never rejects. */
  async load(): Promise<void> {
    const { browser, kept, account } = this.#parts
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
      // Somebody else was signed in here: their calls are nothing for this browser any more.
      await this.#forget(worker)
      this.#become('off')
    } else if (registration && worker) {
      await kept.set('registration', { ...registration, account }).catch(() => {})
      this.#become(await this.#renewed(worker))
    } else this.#become(worker ? 'open' : 'off')
  }

  /** Asks the person, and registers this browser. Never rejects. */
  async enable(): Promise<void> {
    const { browser } = this.#parts
    this.#fault = undefined
    this.#become('working')
    try {
      const permission = await browser.ask()
      if (permission !== 'granted') return this.#become(permission === 'denied' ? 'blocked' : 'off')
      this.#become(await this.#register(await browser.worker()))
    } catch {
      this.#fault = faults.register
      this.#become('off')
    }
  }

  /** Notifies no more. Never rejects. */
  async disable(): Promise<void> {
    const { browser, client, kept } = this.#parts
    this.#fault = undefined
    this.#become('working')
    const registration = await kept.get('registration').catch(() => undefined)
    if (registration) await client.unregisterDevice({ id: registration.deviceId }).catch(() => {})
    await this.#forget(await browser.started().catch(() => undefined))
    this.#become('off')
  }

  async #renewed(worker: PushWorker): Promise<PushState> {
    const { serverKey } = this.#parts
    const present = await worker.pushManager?.getSubscription().catch(() => null)
    if (serverKey === undefined || !present || isFor(present, serverKey)) return 'always'
    return this.#register(worker).catch(() => {
      this.#fault = faults.register
      return 'off'
    })
  }

  // Without a push service of its own, a browser can still notify while the page is open.
  async #register(worker: PushWorker): Promise<PushState> {
    const { serverKey, client, kept, account } = this.#parts
    if (serverKey === undefined || !worker.pushManager) return 'open'
    let subscription: PushSubscription
    try {
      // With another key of the gateway's it hears nothing, and keeps this one out.
      const present = await worker.pushManager.getSubscription()
      if (present && !isFor(present, serverKey)) await present.unsubscribe()
      const options = { userVisibleOnly: true, applicationServerKey: serverKey }
      subscription = await worker.pushManager.subscribe(options)
    } catch {
      this.#fault = faults.subscribe
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
    const { kept } = this.#parts
    await kept.remove('registration').catch(() => {})
    await kept.remove('pending').catch(() => {})
    const subscription = await worker?.pushManager?.getSubscription().catch(() => null)
    await subscription?.unsubscribe().catch(() => false)
  }

  #become(state: PushState): void {
    this.#state = state
    this.#parts.changed()
  }
}

/** Whether a subscription was made with this key, as far as the browser tells. */
const isFor = ({ options }: PushSubscription, serverKey: string): boolean => {
  const key = options?.applicationServerKey
  if (!key) return true
  const bytes = atob(serverKey.replaceAll('-', '+').replaceAll('_', '/'))
  return String.fromCharCode(...new Uint8Array(key)) === bytes
}
