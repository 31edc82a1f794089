import type { DecryptedPush, PushPayload } from '@trunkline/client'
import type { AlertTexts } from '../texts/alerts.ts'
import type { KeptStore } from './kept.ts'
import { type AlertData, callIdOf, causeOf, type WorkerMessage } from './messages.ts'

/** Visible notification. */
export interface ShownAlert {
  readonly data: unknown
  close(): void
}

/** Collaborators of {@link Notifier}. */
export interface NotifierDeps {
  readonly kept: KeptStore
  /** Returns the texts in the language of the page. */
  readonly words: () => Promise<AlertTexts>
  readonly now: () => number
  readonly decrypt: (payload: PushPayload, key: string) => Promise<DecryptedPush>
  readonly show: (title: string, options: AlertOptions) => Promise<void>
  readonly shown: (tag: string) => Promise<readonly ShownAlert[]>
  readonly tellPages: (message: WorkerMessage) => Promise<void>
  /** Focuses a page of this site, or opens one. */
  readonly openPage: () => Promise<void>
  /** Declines without a page. Rejects if the gateway cannot be reached. */
  readonly decline: (push: DecryptedPush, token: string) => Promise<void>
}

/** Options of a notification. */
export type AlertOptions = NotificationOptions & {
  readonly tag: string
  readonly data?: AlertData
  readonly renotify?: boolean
  readonly actions?: readonly { readonly action: string; readonly title: string }[]
}

/** Returns the notification of a ringing call. */
export const ringingAlert = (
  data: AlertData,
  name: string,
  number: string,
  words: AlertTexts,
): AlertOptions => ({
  tag: data.id,
  body: number && number !== name ? `${name}\n${number}` : name,
  icon: '/icon-192.png',
  requireInteraction: true,
  renotify: true,
  data,
  actions: [
    { action: 'answer', title: words.answer },
    { action: 'decline', title: words.decline },
  ],
})

// Causes of a missed call. All others were answered or declined, here or elsewhere.
const missed = ['ORIGINATOR_CANCEL', 'NO_ANSWER', 'NO_USER_RESPONSE', 'RECOVERY_ON_TIMER_EXPIRE']

/** Logic of the service worker: shows calls that arrive by push, and handles the user's choices. */
export class Notifier {
  readonly #deps: NotifierDeps

  constructor(deps: NotifierDeps) {
    this.#deps = deps
  }

  /** Handles a push. It always shows a notification: otherwise the browser would withdraw the permission. */
  async pushed(payload: PushPayload): Promise<void> {
    const push = await this.#read(payload)
    if (payload.type === 'cancel') return this.#canceled(payload, push)
    const { notification_uuid, incoming_caller_name: name, incoming_caller_id: number } = payload
    const data = { id: notification_uuid, ...(push && { push }) }
    const words = await this.#deps.words()
    const title = payload.with_video === 'true' ? words.incomingVideoCall : words.incomingCall
    await this.#deps.show(title, ringingAlert(data, name || number || words.unknownNumber, number, words))
    if (push) await this.#deps.tellPages({ kind: 'ring', id: callIdOf(push), push })
  }

  /** Handles a click on a notification or one of its buttons. */
  async clicked(alert: ShownAlert, action: string): Promise<void> {
    alert.close()
    const data = alert.data as AlertData | undefined
    if (!data) return this.#deps.openPage()
    const id = data.push ? callIdOf(data.push) : data.id
    const about = { id, ...(data.push && { push: data.push }) }
    if (action === 'decline') return this.#decline(about)
    // A page that is being opened reads the call from the store.
    if (data.push)
      await this.#deps.kept.set('pending', { push: data.push, answer: true, at: this.#deps.now() })
    await this.#deps.openPage()
    await this.#deps.tellPages({ kind: 'answer', ...about })
  }

  async #decline(about: { readonly id: string; readonly push?: DecryptedPush }): Promise<void> {
    await this.#deps.tellPages({ kind: 'decline', ...about })
    const { push } = about
    const registration = push && (await this.#deps.kept.get('registration'))
    if (push && registration) await this.#deps.decline(push, registration.account.token)
  }

  async #canceled(payload: PushPayload, push: DecryptedPush | undefined): Promise<void> {
    const id = payload.notification_uuid
    const ringing = await this.#deps.shown(id)
    for (const alert of ringing) alert.close()
    if (!push || !missed.includes(causeOf(push))) return
    const words = await this.#deps.words()
    const body = payload.incoming_caller_name || payload.incoming_caller_id || words.unknownNumber
    await this.#deps.show(words.missedCall, { tag: `missed ${id}`, body, icon: '/icon-192.png' })
  }

  async #read(payload: PushPayload): Promise<DecryptedPush | undefined> {
    try {
      const registration = await this.#deps.kept.get('registration')
      return registration && (await this.#deps.decrypt(payload, registration.key))
    } catch {
      // The page cannot attach to the call then, but the caller is still shown.
      return undefined
    }
  }
}
