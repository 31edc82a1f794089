import type { KeyObject } from 'node:crypto'
import { errors, type JWTPayload, jwtVerify } from 'jose'
import { TrunklineError } from '../core/errors/catalogue.ts'

/** Expected properties of a JWT. */
export interface ExpectedToken {
  readonly key: KeyObject
  /** Kind of the token in its header. */
  readonly typ: 'SAT' | 'VRT'
  /** Present time in ms since the epoch. */
  readonly now: number
}

/**
 * Verifies the signature (HS256), the kind and the expiry of a JWT (RFC 7519), and returns its claims. Throws
 * `unauthorized` with the reason.
 */
export const verifiedPayload = async (
  text: string,
  { key, typ, now }: ExpectedToken,
): Promise<JWTPayload> => {
  try {
    return (await jwtVerify(text, key, { algorithms: ['HS256'], typ, currentDate: new Date(now) })).payload
  } catch (error) {
    if (error instanceof errors.JWTExpired) throw new TrunklineError('unauthorized', 'The token has expired.')
    throw new TrunklineError('unauthorized', 'The token is not valid.', {}, error)
  }
}
