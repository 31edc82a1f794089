import type { DeviceRow } from '../directory/tables/devices.ts'

/** Payload that the application on the device receives. All values are strings, as the platforms require. */
export interface PushPayload {
  readonly type: 'call_invite' | 'cancel'
  /** Id of the notification: the same for all devices and for the cancellation. */
  readonly notification_uuid: string
  readonly encryption_type: 'aes_256_gcm' | 'none'
  /** Base64 of the encrypted event, which is JSON compressed by raw deflate (RFC 1951). */
  readonly invite: string
  /** Initialization vector: base64 of 12 bytes; empty without encryption. */
  readonly iv: string
  /** Authentication tag: base64 of 16 bytes; empty without encryption. */
  readonly tag: string
  readonly with_video: 'true' | 'false'
  readonly incoming_caller_name: string
  readonly incoming_caller_id: string
  readonly title: string
  readonly version: string
}

/** One notification to one device. */
export interface PushMessage {
  readonly device: DeviceRow
  readonly payload: PushPayload
  /** Time of expiry, in ms since the Unix epoch. */
  readonly expiresAt: number
}

/**
 * Outcome of an attempt. `later`: a retry is possible, after `afterMs` if the service gives a time. `gone`:
 * the device's token is permanently invalid. `reason` is a metric label, `detail` the service's text; neither
 * contains parts of a token.
 */
export type PushOutcome =
  | { readonly kind: 'sent' }
  | { readonly kind: 'later'; readonly reason: string; readonly detail?: string; readonly afterMs?: number }
  | { readonly kind: 'gone' | 'refused'; readonly reason: string; readonly detail?: string }

/** Client of a push service. */
export interface PushTransport {
  readonly name: 'web_push' | 'apns' | 'fcm' | 'webhook'
  /** Returns whether a device's token belongs to this service. */
  takes(device: Pick<DeviceRow, 'token' | 'type'>): boolean
  /** Makes one attempt. Rejects if no response arrives. */
  send(message: PushMessage, signal: AbortSignal): Promise<PushOutcome>
  close(): void
}

/**
 * Returns the outcome for the status of an unsuccessful response: 429 and 5xx are temporary, all others
 * permanent.
 */
export const outcomeOf = (status: number, detail?: string, afterMs?: number): PushOutcome => {
  if (status >= 200 && status <= 299) return { kind: 'sent' }
  const facts = { reason: `status-${status}`, ...(detail && { detail }) }
  if (status !== 429 && status < 500) return { kind: 'refused', ...facts }
  return { kind: 'later', ...facts, ...(afterMs !== undefined && { afterMs }) }
}
