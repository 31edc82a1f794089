import type { DecryptedPush, PushPayload } from '@trunkline/client'
import type { KeptStore } from './kept.ts'
import { type AlertData, callIdOf, causeOf, type WorkerMessage } from './messages.ts'

/** A notification on the screen. */
export interface ShownAlert {
  readonly data: unknown
  close(): void
}

/** What the service worker takes from the browser. */
export interface NotifierParts {
  readonly kept: KeptStore
  readonly now: () => number
  readonly decrypt: (payload: PushPayload, key: string) => Promise<DecryptedPush>
  readonly show: (title: string, options: AlertOptions) => Promise<void>
  readonly shown: (tag: string) => Promise<readonly ShownAlert[]>
  readonly tellPages: (message: WorkerMessage) => Promise<void>
  /** Brings a page of ours to the front, or opens one. */
  readonly openPage: () => Promise<void>
  /** Declines without a page. Rejects where the gateway cannot be told. */
  readonly decline: (push: DecryptedPush, token: string) => Promise<void>
}

/** What a notification is shown with. */
export type AlertOptions = NotificationOptions & {
  readonly tag: string
  readonly data?: AlertData
  readonly renotify?: boolean
  readonly actions?: readonly { readonly action: string; readonly title: string }[]
}

/** How a ringing call is shown. */
export const ringingAlert = (data: AlertData, name: string, number: string): AlertOptions => ({
  tag: data.id,
  body: number && number !== name ? `${name}\n${number}` : name,
  icon: '/icon-192.png',
  requireInteraction: true,
  renotify: true,
  data,
  actions: [
    { action: 'answer', title: 'Answer' },
    { action: 'decline', title: 'Decline' },
  ],
})

// A call that nobody took. All others were answered or declined, here or elsewhere.
const missed = ['ORIGINATOR_CANCEL', 'NO_ANSWER', 'NO_USER_RESPONSE', 'RECOVERY_ON_TIMER_EXPIRE']

/** What the service worker does: shows calls that are pushed, and what the person makes of them. */
export class Notifier {
  readonly #parts: NotifierParts

  constructor(parts: NotifierParts) {
    this.#parts = parts
  }

  /** A push came. Something is always shown: a browser that is told something and shows nothing takes the permission away. */
  async pushed(payload: PushPayload): Promise<void> {
    const push = await this.#read(payload)
    if (payload.type === 'cancel') return this.#canceled(payload, push)
    const { notification_uuid, incoming_caller_name: name, incoming_caller_id: number } = payload
    const data = { id: notification_uuid, ...(push && { push }) }
    const title = payload.with_video === 'true' ? 'Incoming video call' : 'Incoming call'
    await this.#parts.show(title, ringingAlert(data, name || number || 'Unknown caller', number))
    if (push) await this.#parts.tellPages({ kind: 'ring', id: callIdOf(push), push })
  }

  /** The person pressed a button of a notification, or the notification itself. */
  async clicked(alert: ShownAlert, action: string): Promise<void> {
    alert.close()
    const data = alert.data as AlertData | undefined
    if (!data) return this.#parts.openPage()
    const id = data.push ? callIdOf(data.push) : data.id
    const about = { id, ...(data.push && { push: data.push }) }
    if (action === 'decline') return this.#decline(about)
    // A page that is only being opened finds it there.
    if (data.push)
      await this.#parts.kept.set('pending', { push: data.push, answer: true, at: this.#parts.now() })
    await this.#parts.openPage()
    await this.#parts.tellPages({ kind: 'answer', ...about })
  }

  async #decline(about: { readonly id: string; readonly push?: DecryptedPush }): Promise<void> {
    await this.#parts.tellPages({ kind: 'decline', ...about })
    const { push } = about
    const registration = push && (await this.#parts.kept.get('registration'))
    if (push && registration) await this.#parts.decline(push, registration.account.token)
  }

  async #canceled(payload: PushPayload, push: DecryptedPush | undefined): Promise<void> {
    const id = payload.notification_uuid
    const ringing = await this.#parts.shown(id)
    for (const alert of ringing) alert.close()
    if (!push || !missed.includes(causeOf(push))) return
    const body = payload.incoming_caller_name || payload.incoming_caller_id || 'Unknown caller'
    await this.#parts.show('Missed call', { tag: `missed ${id}`, body, icon: '/icon-192.png' })
  }

  async #read(payload: PushPayload): Promise<DecryptedPush | undefined> {
    try {
      const registration = await this.#parts.kept.get('registration')
      return registration && (await this.#parts.decrypt(payload, registration.key))
    } catch {
      // The page cannot attach to the call then, but who calls is told all the same.
      return undefined
    }
  }
}
