import { createHmac } from 'node:crypto'
import type { JWTPayload } from 'jose'

/**
 * Identities of a subscriber access token. A `guest` is anonymous and may call a few addresses. An `invite`
 * calls one address on behalf of the subscriber who created the invite.
 */
export const tokenKinds = ['subscriber', 'guest', 'invite'] as const

/** One of {@link tokenKinds}. */
export type TokenKind = (typeof tokenKinds)[number]

/** Content of a valid subscriber access token. Times are seconds since the Unix epoch. */
export interface SubscriberToken {
  readonly kind: TokenKind
  /** For a guest, a separate id that no subscriber has. */
  readonly subscriberId: string
  readonly projectId: string
  /** Unique per token; without underscores, because the browser SDK splits the protocol at them. */
  readonly id: string
  readonly issuedAt: number
  readonly expiresAt: number
  /** Ids of the addresses that may be called; absent for subscribers, who may call all. */
  readonly addressIds?: readonly string[]
  /** Scopes of RFC 6749 section 3.3, such as `sat:refresh`. */
  readonly scopes: readonly string[]
  /** OAuth client of the token; absent for tokens of the API. */
  readonly clientId?: string
}

/** Maximum number of addresses that one guest may call. */
export const maxAddresses = 10

/**
 * Returns the key that signs subscriber access tokens (HS256, RFC 7518 section 3.2), derived from the
 * gateway's secret. Must stay secret.
 */
export const tokenKey = (secret: Uint8Array): Uint8Array =>
  createHmac('sha256', secret).update('subscriber tokens').digest()

/** Returns the header of a token. `publicHost` becomes `ch`, the host for the browser SDK. */
export const tokenHeader = (publicHost?: string) => ({
  alg: 'HS256' as const,
  typ: 'SAT' as const,
  ...(publicHost && { ch: publicHost }),
})

/**
 * Returns the claims of a token (RFC 7519 section 4). Throws for an id that the browser SDK cannot handle.
 */
export const claimsOf = (token: SubscriberToken): JWTPayload => {
  const { kind, subscriberId, projectId, id, issuedAt, expiresAt, addressIds, scopes, clientId } = token
  if (id.includes('_')) throw new Error('The id of a token must not contain an underscore.')
  return {
    sub: subscriberId,
    jti: id,
    iat: issuedAt,
    exp: expiresAt,
    project: projectId,
    kind,
    scope: scopes.join(' '),
    ...(addressIds && { addresses: [...addressIds] }),
    ...(clientId !== undefined && { client: clientId }),
    // The published SDK uses this claim as the storage key of a tab's session and of the call to resume after
    // a reload.
    r: 'SAT',
  }
}

/**
 * Reads verified claims. Returns undefined if one is missing or malformed, so that a token of one kind never
 * passes as another.
 */
export const readClaims = (payload: JWTPayload): SubscriberToken | undefined => {
  const { sub, jti, iat, exp, project, kind, scope, addresses, client } = payload
  if (!isText(sub) || !isText(jti) || !isText(project) || typeof scope !== 'string') return undefined
  if (!isTime(iat) || !isTime(exp) || !isKind(kind) || jti.includes('_')) return undefined
  if (client !== undefined && !isText(client)) return undefined
  const addressIds = addressesOf(kind, addresses)
  if (addressIds === null) return undefined
  return {
    kind,
    subscriberId: sub,
    projectId: project,
    id: jti,
    issuedAt: iat,
    expiresAt: exp,
    ...(addressIds && { addressIds }),
    scopes: scope.split(' ').filter((word) => word !== ''),
    ...(client !== undefined && { clientId: client }),
  }
}

/** Returns the addresses if they are valid for the token's kind; otherwise null. */
const addressesOf = (kind: TokenKind, addresses: unknown): readonly string[] | undefined | null => {
  if (kind === 'subscriber') return addresses === undefined ? undefined : null
  if (!Array.isArray(addresses) || !addresses.every(isText)) return null
  const max = kind === 'guest' ? maxAddresses : 1
  return addresses.length >= 1 && addresses.length <= max ? addresses : null
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)
const isKind = (value: unknown): value is TokenKind => tokenKinds.includes(value as TokenKind)
