/**
 * Decrypts push notifications. This module needs no page, so a service worker can import it
 * (`@trunkline/client/push`).
 *
 * ```ts
 * const readable = await decryptPush(event.data.json(), pushNotificationKey)
 * ```
 */
import { ClientError } from './errors.ts'
import { type Json, record } from './frames.ts'

/** Payload of a push notification. All fields are strings. */
export interface PushPayload {
  /** `call_invite`, or `cancel` after the call has ended or was answered. */
  readonly type: string
  readonly encryption_type: string
  /** Id of the notification. The `call_invite` and the `cancel` of a call have the same id. */
  readonly notification_uuid: string
  readonly with_video: string
  readonly incoming_caller_name: string
  readonly incoming_caller_id: string
  /** Invitation event: JSON, compressed by raw deflate (RFC 1951), encrypted, and encoded in base64. */
  readonly invite: string
  readonly title: string
  /** Initialization vector of AES-GCM: base64 of 12 bytes; empty without encryption. */
  readonly iv: string
  /** Authentication tag of AES-GCM: base64 of 16 bytes; empty without encryption. */
  readonly tag: string
  readonly version: string
}

/** Decrypted payload, for {@link Client.handlePushNotification}. */
export type DecryptedPush = Pick<PushPayload, 'type'> & Partial<PushPayload> & { readonly decrypted: Json }

/**
 * Decrypts (AES-256-GCM) and inflates the invitation of a payload.
 * `key` is the `push_notification_key` from registerDevice or getSubscriberInfo, in base64.
 * Rejects with `bad_argument` if the key is wrong, the payload was changed, or the encryption is unknown.
 */
export const decryptPush = async <Payload extends PushPayload>(
  payload: Payload,
  key: string,
): Promise<Payload & { readonly decrypted: Json }> => {
  try {
    const decrypted = record(await inflated(await opened(payload, key)))
    return { ...payload, decrypted }
  } catch (cause) {
    if (cause instanceof ClientError) throw cause
    throw new ClientError('bad_argument', 'The push notification cannot be read with this key.', { cause })
  }
}

const bytes = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text), (character) => character.charCodeAt(0))

const opened = async (payload: PushPayload, key: string): Promise<Uint8Array<ArrayBuffer>> => {
  const { encryption_type, invite, iv, tag } = payload
  if (encryption_type === 'none') return bytes(invite)
  if (encryption_type !== 'aes_256_gcm')
    throw new ClientError(
      'bad_argument',
      `encryption_type: expected aes_256_gcm or none, got "${encryption_type}"`,
    )
  const secret = await crypto.subtle.importKey('raw', bytes(key), 'AES-GCM', false, ['decrypt'])
  // WebCrypto expects the tag after the ciphertext.
  const sealed = new Uint8Array([...bytes(invite), ...bytes(tag)])
  return new Uint8Array(await crypto.subtle.decrypt({ name: 'AES-GCM', iv: bytes(iv) }, secret, sealed))
}

const inflated = (packed: Uint8Array<ArrayBuffer>): Promise<unknown> =>
  new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'))).json()
