import { createHash } from 'node:crypto'
import type { DeviceRow } from '../directory/tables/devices.ts'
import type { PushHttp } from './push-http.ts'
import { outcomeOf, type PushMessage, type PushOutcome, type PushTransport } from './push-transport.ts'
import type { Vapid } from './vapid.ts'
import { encryptForBrowser, maxPlaintextBytes, type SubscriptionKeys } from './web-push-encryption.ts'

/** A browser's push subscription. */
export interface Subscription {
  readonly endpoint: URL
  readonly keys: SubscriptionKeys
}

/**
 * Reads a device's token that is the JSON of a browser's `PushSubscription` (`JSON.stringify(subscription)`).
 * Returns undefined for any other text, and for keys of a wrong length.
 */
export const subscriptionOf = (token: string): Subscription | undefined => {
  if (!token.startsWith('{')) return undefined
  try {
    const { endpoint, keys } = JSON.parse(token) as { endpoint?: unknown; keys?: Record<string, unknown> }
    const url = typeof endpoint === 'string' ? URL.parse(endpoint) : null
    const p256dh = Buffer.from(String(keys?.p256dh), 'base64url')
    const auth = Buffer.from(String(keys?.auth), 'base64url')
    if (url?.protocol !== 'https:' || p256dh.length !== 65 || auth.length !== 16) return undefined
    return { endpoint: url, keys: { p256dh, auth } }
  } catch {
    return undefined
  }
}

/** Web Push (RFC 8030), encrypted for the browser (RFC 8291), signed with the operator's key (RFC 8292). */
export class WebPush implements PushTransport {
  readonly name = 'web_push'
  readonly #http: PushHttp
  readonly #vapid: Vapid
  readonly #now: () => number

  /** `http` must have a guard, because devices can register any endpoint URL. */
  constructor(http: PushHttp, vapid: Vapid, now: () => number) {
    this.#http = http
    this.#vapid = vapid
    this.#now = now
  }

  takes({ token }: Pick<DeviceRow, 'token'>): boolean {
    return subscriptionOf(token) !== undefined
  }

  async send({ device, payload, expiresAt }: PushMessage, signal: AbortSignal): Promise<PushOutcome> {
    const subscription = subscriptionOf(device.token)
    if (!subscription) return { kind: 'refused', reason: 'bad-token' }
    const text = Buffer.from(JSON.stringify(payload))
    if (text.length > maxPlaintextBytes) return { kind: 'refused', reason: 'too-large' }
    const { endpoint, keys } = subscription
    const body = encrypted(text, keys)
    if (!body) return { kind: 'gone', reason: 'bad-key' }
    const now = this.#now()
    const { status, retryAfterMs } = await this.#http.post(
      {
        url: endpoint.href,
        body,
        headers: {
          authorization: await this.#vapid.authorization(endpoint, now),
          'content-encoding': 'aes128gcm',
          'content-type': 'application/octet-stream',
          ttl: String(Math.max(0, Math.ceil((expiresAt - now) / 1000))),
          urgency: 'high',
          topic: topicOf(payload.notification_uuid),
        },
      },
      signal,
    )
    if (status === 404 || status === 410) return { kind: 'gone', reason: `status-${status}` }
    return outcomeOf(status, undefined, retryAfterMs)
  }

  close(): void {
    this.#http.close()
  }
}

/**
 * Returns the topic, of at most 32 characters. A cancellation replaces an undelivered invitation with the
 * same topic (RFC 8030 section 5.4).
 */
const topicOf = (id: string): string => createHash('sha256').update(id).digest('base64url').slice(0, 32)

/** Returns the encrypted text; undefined if the browser's key is not a point of the curve. */
const encrypted = (text: Uint8Array, keys: SubscriptionKeys): Buffer | undefined => {
  try {
    return encryptForBrowser(text, keys)
  } catch {
    return undefined
  }
}
