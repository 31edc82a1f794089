import { createHmac } from 'node:crypto'
import { isStun } from '../../../config/rules/turn-rules.ts'
import type { TurnConfig } from '../../../config/types.ts'
import type { Clock } from '../../core/clock.ts'
import type { BrowserSession } from './browser-session.ts'

/** An `RTCIceServer` of WebRTC. */
export interface IceServer {
  readonly urls: readonly string[]
  readonly username?: string
  readonly credential?: string
}

/** ICE servers for browsers, from the configuration in force. */
export class IceServers {
  readonly #clock: Pick<Clock, 'now'>
  #turn: TurnConfig | undefined

  /** Without `turn`, browsers get no ICE servers. */
  constructor(clock: Pick<Clock, 'now'>, turn: TurnConfig | undefined) {
    this.#clock = clock
    this.#turn = turn
  }

  /** Changes the settings; browsers get them with their next connection or token. */
  change(turn: TurnConfig | undefined): void {
    this.#turn = turn
  }

  /** Returns the ICE servers for a browser, with new credentials; undefined if none are configured. */
  of({
    identity,
    expiresAt,
  }: Pick<BrowserSession, 'identity' | 'expiresAt'>): readonly IceServer[] | undefined {
    return this.#turn && iceServersFor(this.#turn, { id: identity.id, expiresAt }, this.#clock.now())
  }
}

/** User of TURN credentials. */
export interface IceServerUser {
  /** Id of the subscriber or guest, by which the TURN server can apply quotas. */
  readonly id: string
  /** Expiry of the user's token; seconds since the Unix epoch. */
  readonly expiresAt: number
}

/**
 * Returns the ICE servers for a browser. The credentials are valid for `ttlMs`, and at least until the token
 * expires. A browser gets new credentials only with a new connection or token. `nowMs` is in milliseconds
 * since the Unix epoch.
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
 * Returns time-limited TURN credentials by a secret shared with the TURN server
 * (draft-uberti-behave-turn-rest-00 section 2.2; `use-auth-secret` of coturn). `expiresAt` is in seconds
 * since the Unix epoch.
 */
export const turnCredential = (
  secret: string,
  id: string,
  expiresAt: number,
): { readonly username: string; readonly credential: string } => {
  const username = `${expiresAt}:${id}`
  return { username, credential: createHmac('sha1', secret).update(username).digest('base64') }
}
