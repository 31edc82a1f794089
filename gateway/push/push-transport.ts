import type { DeviceRow } from '../directory/devices.ts'

/** What an application is handed; every value is a text, as the platforms want it. */
export interface PushPayload {
  readonly type: 'call_invite' | 'cancel'
  /** Of the call's notification: the same at every device, and when it is cancelled. */
  readonly notification_uuid: string
  readonly encryption_type: 'aes_256_gcm' | 'none'
  /** Base64 of the encrypted event, which is JSON compressed by raw deflate (RFC 1951). */
  readonly invite: string
  /** Base64 of 12 bytes; empty where nothing is encrypted. */
  readonly iv: string
  /** Base64 of 16 bytes; empty where nothing is encrypted. */
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
  /** When nobody wants it any more; milliseconds since the Unix epoch. */
  readonly expiresAt: number
}

/**
 * What came of a try. `later`: it may be tried again, after `afterMs` where the service says when. `gone`:
 * the device's token will never be good again. `reason` is a metric's label, `detail` what the service said;
 * neither has anything of a token.
 */
export type PushOutcome =
  | { readonly kind: 'sent' }
  | { readonly kind: 'later'; readonly reason: string; readonly detail?: string; readonly afterMs?: number }
  | { readonly kind: 'gone' | 'refused'; readonly reason: string; readonly detail?: string }

/** The way to a push service. */
export interface PushTransport {
  readonly name: 'web_push' | 'apns' | 'fcm' | 'webhook'
  /** Whether a device's token is one of this service. */
  takes(device: Pick<DeviceRow, 'token' | 'type'>): boolean
  /** Tries once. Rejects where no answer came. */
  send(message: PushMessage, signal: AbortSignal): Promise<PushOutcome>
  close(): void
}

/**
 * What a status means where the service says no more of it: 429 and 5xx pass by, everything else is refused
 * for good.
 */
export const outcomeOf = (status: number, detail?: string, afterMs?: number): PushOutcome => {
  if (status >= 200 && status <= 299) return { kind: 'sent' }
  const facts = { reason: `status-${status}`, ...(detail && { detail }) }
  if (status !== 429 && status < 500) return { kind: 'refused', ...facts }
  return { kind: 'later', ...facts, ...(afterMs !== undefined && { afterMs }) }
}
