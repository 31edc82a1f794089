import { createHmac } from 'node:crypto'
import { isStun } from '../../../config/rules-turn.ts'
import type { TurnConfig } from '../../../config/types.ts'

/** An RTCIceServer of WebRTC, as pages hand it to their RTCPeerConnection. */
export interface IceServer {
  readonly urls: readonly string[]
  readonly username?: string
  readonly credential?: string
}

/** Who is given a password. */
export interface IceServerUser {
  /** Of the subscriber or guest: the TURN server can count by it. */
  readonly id: string
  /** When the token of the page ends; seconds since the Unix epoch. */
  readonly expiresAt: number
}

/**
 * The servers that a page is told of. The password is good for `ttlMs`, and no less than the page's token:
 * the page gets another one only with a new connection or a new token. `nowMs` in milliseconds since the Unix
 * epoch.
 */
export const iceServersFor = (turn: TurnConfig, user: IceServerUser, nowMs: number): readonly IceServer[] => {
  const { urls, secret, ttlMs } = turn
  const stun = urls.filter(isStun)
  const relays = urls.filter((url) => !stun.includes(url))
  const expiresAt = Math.max(Math.ceil((nowMs + ttlMs) / 1000), user.expiresAt)
  return [
    ...(stun.length > 0 ? [{ urls: stun }] : []),
    ...(relays.length > 0 && secret !== undefined
      ? [{ urls: relays, ...turnCredential(secret, user.id, expiresAt) }]
      : []),
  ]
}

/**
 * User name and password of limited time, by the secret that the TURN server knows too
 * (draft-uberti-behave-turn-rest-00 section 2.2; of coturn, `use-auth-secret`). `expiresAt` in seconds since
 * the Unix epoch.
 */
export const turnCredential = (
  secret: string,
  id: string,
  expiresAt: number,
): { readonly username: string; readonly credential: string } => {
  const username = `${expiresAt}:${id}`
  return { username, credential: createHmac('sha1', secret).update(username).digest('base64') }
}
