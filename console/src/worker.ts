/**
 * Service worker of the page: shows calls that arrive by push without an open page.
 * Served at `/worker.js`, so that it controls the whole site.
 */
import { browserEnvironment, Client, type DecryptedPush, type PushPayload } from '@trunkline/client'
import { decryptPush } from '@trunkline/client/push'
import { Alerts } from './push/alerts.ts'
import { BrowserStore } from './push/kept.ts'
import type { WorkerMessage } from './push/messages.ts'
import { Notifier } from './push/notifier.ts'
import type { OpenPage, WorkerEvents, WorkerScope } from './push/worker-scope.ts'
import { alertTexts, type Language } from './texts/alerts.ts'

const worker = globalThis as unknown as WorkerScope

const kept = new BrowserStore()

const alerts = new Alerts(worker.registration)

const pages = (): Promise<readonly OpenPage[]> =>
  worker.clients.matchAll({ type: 'window', includeUncontrolled: true })

const tellPages = async (message: WorkerMessage): Promise<void> => {
  for (const page of await pages()) page.postMessage(message)
}

const openPage = async (): Promise<void> => {
  const open = await pages()
  const page = open.find(({ visibilityState }) => visibilityState === 'visible') ?? open[0]
  // A browser may refuse both. The call is then stored for the page that the user opens.
  if (page) await page.focus().catch(() => undefined)
  else await worker.clients.openWindow('/').catch(() => undefined)
}

/** Creates a client without media: a worker has none, and declining needs none. */
const clientOf = (token: string): Client => {
  const createStream = () => ({ addTrack: () => {}, getTracks: () => [] }) as unknown as MediaStream
  return new Client({ token, host: worker.location.host }, { ...browserEnvironment(), createStream })
}

const decline = async (push: DecryptedPush, token: string): Promise<void> => {
  const client = clientOf(token)
  try {
    const { resultObject: call } = await client.handlePushNotification(push)
    await call.hangup()
  } finally {
    client.disconnect()
  }
}

/** Returns the language of the page; that of the browser if no page has stored one. */
const language = async (): Promise<Language> =>
  (await kept.get('language').catch(() => undefined)) ?? (navigator.language.startsWith('de') ? 'de' : 'en')

const notifier = new Notifier({
  kept,
  words: async () => alertTexts[await language()],
  decrypt: decryptPush,
  tellPages,
  openPage,
  decline,
  now: () => Date.now(),
  show: (title, options) => alerts.show(title, options),
  shown: (tag) => alerts.shown(tag),
})

// The push service replaced its subscription: the gateway must use the new one.
const renewed = async ({ newSubscription }: WorkerEvents['pushsubscriptionchange']): Promise<void> => {
  const registration = await kept.get('registration')
  if (!registration || !newSubscription) return
  const client = clientOf(registration.account.token)
  const deviceToken = JSON.stringify(newSubscription)
  const { id, push_notification_key: key } = await client.registerDevice({
    deviceToken,
    deviceType: 'Desktop',
  })
  await kept.set('registration', { ...registration, deviceId: id, key })
  await client.unregisterDevice({ id: registration.deviceId })
}

worker.addEventListener('install', () => void worker.skipWaiting())
worker.addEventListener('activate', (event) => event.waitUntil(worker.clients.claim()))
worker.addEventListener('push', (event) => {
  if (event.data) event.waitUntil(notifier.pushed(event.data.json() as PushPayload))
})
worker.addEventListener('notificationclick', (event) =>
  event.waitUntil(notifier.clicked(event.notification, event.action)),
)
worker.addEventListener('pushsubscriptionchange', (event) => event.waitUntil(renewed(event)))
