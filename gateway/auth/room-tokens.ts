import { createSecretKey, type KeyObject, randomUUID } from 'node:crypto'
import { decodeProtectedHeader, SignJWT } from 'jose'
import type { Clock } from '../core/clock.ts'
import { TrunklineError } from '../core/errors/catalogue.ts'
import type { Revocations } from './revocations.ts'
import {
  type RoomGrant,
  type RoomToken,
  readRoomClaims,
  roomClaimsOf,
  roomHolderId,
  roomTokenHeader,
  roomTokenKey,
} from './room-token-claims.ts'
import type { IssuedToken } from './subscriber-tokens.ts'
import { verifiedPayload } from './verified-payload.ts'

/** Values of {@link RoomTokens}. */
export interface RoomTokensOptions {
  /** The gateway's secret. */
  readonly secret: Uint8Array
  /** Host for the browser SDK, `ch` in the header; default none. */
  readonly publicHost?: string | undefined
}

/** Collaborators of {@link RoomTokens}. */
export interface RoomTokensDeps {
  readonly clock: Pick<Clock, 'now'>
  readonly revocations: Pick<Revocations, 'has'>
}

/** Issues and verifies room tokens: JWTs (RFC 7519) that admit their holder to one room. */
export class RoomTokens {
  readonly #key: KeyObject
  readonly #publicHost: string | undefined
  readonly #deps: RoomTokensDeps

  constructor({ secret, publicHost }: RoomTokensOptions, deps: RoomTokensDeps) {
    this.#key = createSecretKey(roomTokenKey(secret))
    this.#publicHost = publicHost
    this.#deps = deps
  }

  /** Issues a token for `ttlSeconds`. `source`: version of the conference token that it is made from. */
  async issue(
    projectId: string,
    grant: RoomGrant,
    ttlSeconds: number,
    source?: string,
  ): Promise<IssuedToken> {
    const issuedAt = this.#deps.clock.now() / 1000
    const expiresAt = Math.floor(issuedAt) + Math.floor(ttlSeconds)
    const id = randomUUID()
    const subscriberId = roomHolderId(projectId, grant)
    const token = await new SignJWT(
      roomClaimsOf({
        kind: 'room',
        subscriberId,
        projectId,
        id,
        issuedAt,
        expiresAt,
        ...(source !== undefined && { source }),
        grant,
      }),
    )
      .setProtectedHeader(roomTokenHeader(this.#publicHost))
      .sign(this.#key)
    return { token, id, expiresAt }
  }

  /** Verifies a token. Throws `unauthorized` with the reason. */
  async verify(text: string): Promise<RoomToken> {
    const { clock, revocations } = this.#deps
    const token = readRoomClaims(
      await verifiedPayload(text, { key: this.#key, typ: 'VRT', now: clock.now() }),
    )
    if (!token) throw new TrunklineError('unauthorized', 'The token is not valid.')
    if (revocations.has(token)) throw new TrunklineError('unauthorized', 'The token was revoked.')
    return token
  }
}

/** Returns whether a text claims to be a room token. Its signature is not checked. */
export const isRoomToken = (text: string): boolean => {
  try {
    return decodeProtectedHeader(text).typ === 'VRT'
  } catch {
    return false
  }
}
