/**
 * For tests: push services on loopback, and what devices do with what they are sent, written apart from the
 * code that sends it.
 */
import { once } from 'node:events'
import type { IncomingHttpHeaders, RequestListener, Server } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { inflateRawSync } from 'node:zlib'
import { makeAuthority, type TestAuthority } from '@trunkline/sip-agent/testing/certificates'
import type { DeviceRow } from '../../directory/tables/devices.ts'
import type { PushMessage, PushPayload } from '../push-transport.ts'

let shared: Promise<TestAuthority> | undefined
/** Returns the certificate authority of the tests. */
export const authority = (): Promise<TestAuthority> => {
  shared ??= makeAuthority()
  return shared
}

/** Request to a server. */
export interface ReceivedRequest {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

const servers: Server[] = []

/** Starts a server with TLS on 127.0.0.1, which records its requests. */
export const serveTls = async (answer: RequestListener) => {
  const { certificate, issue } = await authority()
  const { certificate: cert, key } = await issue({ dns: ['localhost'], addresses: ['127.0.0.1'] })
  const seen: ReceivedRequest[] = []
  const server = createServer({ cert, key }, async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    seen.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(parts) })
    answer(request, response)
  })
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, seen, ca: certificate }
}

/** Closes every server of the test. */
export const closeServers = async (): Promise<void> => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
}

/** A device, as it is written down. */
export const deviceOf = (token: string, type: DeviceRow['type'], id = 'device-1'): DeviceRow => ({
  id,
  subscriber_id: 'subscriber-1',
  project_id: 'p1',
  token,
  type,
  created_at: 0,
})

/** A notification that is worth something for 30 s after `now`. */
export const messageTo = (device: DeviceRow, now: number): PushMessage => ({
  device,
  expiresAt: now + 30_000,
  payload: {
    type: 'call_invite',
    notification_uuid: '5b1c9c3e-7d5a-4d0e-9d0c-0a5ff9a4a0d1',
    encryption_type: 'none',
    invite: 'aW52aXRl',
    iv: '',
    tag: '',
    with_video: 'false',
    incoming_caller_name: 'Zoë',
    incoming_caller_id: '+15551230001',
    title: 'Incoming call',
    version: '1.0',
  },
})

/** Decrypts and inflates an invitation, as an application does. */
export const openInvite = async (
  { encryption_type, invite, iv, tag }: PushPayload,
  key: string,
): Promise<unknown> => {
  const bytes = Buffer.from(invite, 'base64')
  if (encryption_type === 'none') return JSON.parse(inflateRawSync(bytes).toString())
  const raw = await crypto.subtle.importKey('raw', Buffer.from(key, 'base64'), 'AES-GCM', false, ['decrypt'])
  // WebCrypto wants the tag behind the text.
  const sealed = Buffer.concat([bytes, Buffer.from(tag, 'base64')])
  const algorithm = { name: 'AES-GCM', iv: Buffer.from(iv, 'base64') }
  const packed = await crypto.subtle.decrypt(algorithm, raw, sealed)
  return JSON.parse(inflateRawSync(new Uint8Array(packed)).toString())
}

type Bytes = ArrayBuffer | Uint8Array<ArrayBuffer>

/** A browser's side of Web Push, by WebCrypto. */
export const makeBrowser = async () => {
  const curve = { name: 'ECDH', namedCurve: 'P-256' }
  const pair = await crypto.subtle.generateKey(curve, true, ['deriveBits'])
  const p256dh = new Uint8Array(await crypto.subtle.exportKey('raw', pair.publicKey))
  const auth = crypto.getRandomValues(new Uint8Array(16))
  /** HKDF with SHA-256, of `bytes` bytes. */
  const hkdf = async (keying: Bytes, salt: Bytes, info: Bytes, bytes: number) => {
    const key = await crypto.subtle.importKey('raw', keying, 'HKDF', false, ['deriveBits'])
    return crypto.subtle.deriveBits({ name: 'HKDF', hash: 'SHA-256', salt, info }, key, bytes * 8)
  }
  const utf8 = new TextEncoder()
  const decrypt = async (body: Buffer): Promise<string> => {
    const salt = body.subarray(0, 16)
    const rest = body.subarray(16)
    const size = rest.readUInt32BE(0)
    const sender = rest.subarray(5, 5 + rest.readUInt8(4))
    const record = rest.subarray(5 + sender.length)
    if (record.length > size) throw new Error('more than one record')
    const senderKey = await crypto.subtle.importKey('raw', new Uint8Array(sender), curve, false, [])
    const agreement = { name: 'ECDH', public: senderKey }
    const agreed = await crypto.subtle.deriveBits(agreement, pair.privateKey, 256)
    const info = new Uint8Array([...utf8.encode('WebPush: info\0'), ...p256dh, ...sender])
    const keying = await hkdf(agreed, auth, info, 32)
    const derive = (what: string, bytes: number) =>
      hkdf(keying, new Uint8Array(salt), utf8.encode(`Content-Encoding: ${what}\0`), bytes)
    const key = await crypto.subtle.importKey('raw', await derive('aes128gcm', 16), 'AES-GCM', false, [
      'decrypt',
    ])
    const algorithm = { name: 'AES-GCM', iv: await derive('nonce', 12) }
    const text = new Uint8Array(await crypto.subtle.decrypt(algorithm, key, new Uint8Array(record)))
    const end = text.findLastIndex((byte) => byte !== 0)
    if (text[end] !== 2) throw new Error('the last record ends otherwise')
    return new TextDecoder().decode(text.subarray(0, end))
  }
  const base64url = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url')
  /** The device's token of a subscription at this endpoint. */
  const token = (endpoint: string) =>
    JSON.stringify({
      endpoint,
      expirationTime: null,
      keys: { p256dh: base64url(p256dh), auth: base64url(auth) },
    })
  return { p256dh, auth, decrypt, token }
}
