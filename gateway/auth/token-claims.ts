import { createHmac } from 'node:crypto'
import type { JWTPayload } from 'jose'

/**
 * Whom a subscriber access token lets act: a subscriber; a guest, who is nobody and may call a few addresses; or whoever a subscriber invited,
 * who calls one address on the subscriber's behalf.
 */
export const tokenKinds = ['subscriber', 'guest', 'invite'] as const

/** One of {@link tokenKinds}. */
export type TokenKind = (typeof tokenKinds)[number]

/** What a valid subscriber access token says. Times are seconds since the Unix epoch. */
export interface SubscriberToken {
  readonly kind: TokenKind
  /** Of guests: an id of their own, which no subscriber has. */
  readonly subscriberId: string
  readonly projectId: string
  /** Unique per token; holds no underscore, because the browser SDK takes the protocol apart at underscores. */
  readonly id: string
  readonly issuedAt: number
  readonly expiresAt: number
  /** Ids of the addresses that may be called; absent for subscribers, who may call all. */
  readonly addressIds?: readonly string[]
  /** Words of RFC 6749 section 3.3, such as `sat:refresh`. */
  readonly scopes: readonly string[]
  /** The OAuth client that it was given to; absent where it came by the API. */
  readonly clientId?: string
}

/** Most addresses of one guest. */
export const mostAddresses = 10

/** The key of subscriber access tokens (HS256, RFC 7518 section 3.2), made of the gateway's secret. A secret. */
export const tokenKey = (secret: Uint8Array): Uint8Array =>
  createHmac('sha256', secret).update('subscriber tokens').digest()

/** The header of a token; `publicHost` stands in it as `ch`: the host that the browser SDK connects to. */
export const tokenHeader = (publicHost?: string) => ({
  alg: 'HS256' as const,
  typ: 'SAT' as const,
  ...(publicHost && { ch: publicHost }),
})

/** The claims of a token (RFC 7519 section 4). Throws where its id could not go through the browser SDK. */
export const claimsOf = (token: SubscriberToken): JWTPayload => {
  const { kind, subscriberId, projectId, id, issuedAt, expiresAt, addressIds, scopes, clientId } = token
  if (id.includes('_')) throw new Error('The id of a token holds no underscore.')
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
    // The published SDK keeps a tab's session, and the call to take back after a reload, under this name.
    r: 'SAT',
  }
}

/** Reads claims whose signature was checked; undefined where one is missing or not what it should be, so that no kind is taken for another. */
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

/** Null where the kind should have others. */
const addressesOf = (kind: TokenKind, given: unknown): readonly string[] | undefined | null => {
  if (kind === 'subscriber') return given === undefined ? undefined : null
  if (!Array.isArray(given) || !given.every(isText)) return null
  const most = kind === 'guest' ? mostAddresses : 1
  return given.length >= 1 && given.length <= most ? given : null
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)
const isKind = (value: unknown): value is TokenKind => tokenKinds.includes(value as TokenKind)
