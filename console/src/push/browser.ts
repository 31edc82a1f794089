import type { Incoming } from '../phone.ts'
import { texts } from '../texts/language.ts'
import { Alerts } from './alerts.ts'
import type { PushBrowser, PushWorker } from './browser-push.ts'
import { ringingAlert } from './notifier.ts'

const path = '/worker.js'

const registered = async (): Promise<ServiceWorkerRegistration | undefined> => {
  if (!('serviceWorker' in navigator)) return undefined
  const found = await navigator.serviceWorker.getRegistration('/')
  return found?.active ? found : undefined
}

/** Notifications and service worker of this browser. */
export const pushBrowser: PushBrowser = {
  get permission() {
    const able = 'serviceWorker' in navigator && 'Notification' in window && window.isSecureContext
    return able ? Notification.permission : undefined
  },
  ask: () => Notification.requestPermission(),
  async worker(): Promise<PushWorker> {
    await navigator.serviceWorker.register(path, { scope: '/' })
    return navigator.serviceWorker.ready
  },
  started: registered,
}

/** Notifications of calls that ring in a hidden page. */
export class HiddenCalls {
  #displayed = new Set<string>()

  /** Updates the notifications of the incoming calls. They are shown only while the page is `hidden`. */
  update(incoming: readonly Incoming[], hidden: boolean): void {
    const waiting = hidden ? incoming.filter(({ answering }) => !answering) : []
    for (const id of this.#displayed) if (!waiting.some((call) => call.id === id)) void this.#close(id)
    for (const call of waiting) if (!this.#displayed.has(call.id)) void this.#show(call)
  }

  async #show({ id, name, number, video }: Incoming): Promise<void> {
    if (pushBrowser.permission !== 'granted') return
    this.#displayed.add(id)
    const worker = await registered()
    // The call may have ended meanwhile.
    if (!this.#displayed.has(id)) return
    const title = video ? texts.value.incomingVideoCall : texts.value.incomingCall
    if (!worker) return
    const alert = ringingAlert({ id }, name, number, texts.value)
    await new Alerts(worker).show(title, alert).catch(() => {})
  }

  async #close(id: string): Promise<void> {
    this.#displayed.delete(id)
    const worker = await registered()
    if (worker) for (const alert of await new Alerts(worker).shown(id)) alert.close()
  }
}
