import { createCipheriv, randomBytes } from 'node:crypto'
import { deflateRawSync } from 'node:zlib'
import type { PushPayload } from './push-transport.ts'

/** Content of a notification about a call. */
export interface CallNotice {
  readonly type: PushPayload['type']
  readonly id: string
  readonly callerName: string
  readonly callerId: string
  readonly withVideo: boolean
  /** Event that a connected browser receives; `handlePushNotification` takes it as `decrypted`. */
  readonly event: Readonly<Record<string, unknown>>
}

/** Version of the payload's format. */
const version = '1.0'

const titles = { call_invite: 'Incoming call', cancel: 'Call ended' } as const

/**
 * Returns the payload of a notification. A key of 32 bytes encrypts the event with AES-256-GCM; without a
 * key, the push service can read the event.
 */
export const sealedPayloadOf = (notice: CallNotice, key?: Uint8Array): PushPayload => ({
  type: notice.type,
  notification_uuid: notice.id,
  ...sealed(deflateRawSync(JSON.stringify(notice.event)), key),
  with_video: notice.withVideo ? 'true' : 'false',
  incoming_caller_name: notice.callerName,
  incoming_caller_id: notice.callerId,
  title: titles[notice.type],
  version,
})

const sealed = (
  packed: Uint8Array,
  key: Uint8Array | undefined,
): Pick<PushPayload, 'encryption_type' | 'invite' | 'iv' | 'tag'> => {
  if (!key) return { encryption_type: 'none', invite: base64(packed), iv: '', tag: '' }
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, iv)
  const invite = Buffer.concat([cipher.update(packed), cipher.final()])
  return {
    encryption_type: 'aes_256_gcm',
    invite: base64(invite),
    iv: base64(iv),
    tag: base64(cipher.getAuthTag()),
  }
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')
