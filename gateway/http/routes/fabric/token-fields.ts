import { defaultSeconds, type TokenPair } from '../../../auth/token-pairs.ts'
import { badField } from '../shared/field-schemas.ts'

/** Maximum lifetime of an access token in seconds. */
const maxSeconds = 30 * 86_400

/** Schema of the id of an address. */
export const addressId = { type: 'string', minLength: 1, maxLength: 64 } as const

/** Schema of the expiry of a token, in seconds since the Unix epoch. */
export const expiry = {
  type: 'integer',
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'Expiry in seconds since 1970: by default two hours from now, at most 30 days from now.',
} as const

/** Schema of the host that the browser SDK connects to. */
export const connectTo = {
  type: 'string',
  maxLength: 255,
  pattern: '^(wss?://)?[A-Za-z0-9.\\-\\[\\]:]+(/[A-Za-z0-9/._~\\-]*)?$',
  description: 'Host that the SDK connects to; default the public host of the gateway.',
} as const

const secret = { type: 'string' } as const

/** Returns the schema of a response with both tokens and further properties. */
export const pairSchema = (more: Readonly<Record<string, object>> = {}) => ({
  type: 'object',
  required: [...Object.keys(more), 'token', 'refresh_token'],
  properties: { ...more, token: secret, refresh_token: secret },
})

/** Schema of a response with one token. */
export const tokenSchema = { type: 'object', required: ['token'], properties: { token: secret } } as const

/** Returns a pair of tokens for responses. */
export const pairBody = ({ token, refreshToken }: TokenPair) => ({ token, refresh_token: refreshToken })

/**
 * Returns the lifetime of a token in seconds; `usual` if no expiry is given. Throws `invalid_field` if the
 * time is in the past or too far in the future.
 */
export const secondsUntil = (
  field: string,
  end: number | undefined,
  nowMs: number,
  { most = maxSeconds, usual = defaultSeconds } = {},
): number => {
  if (end === undefined) return usual
  const left = end - Math.floor(nowMs / 1000)
  if (left <= 0) throw badField(field, `${field} is in the past.`)
  if (left > most) throw badField(field, `${field} is more than ${most / 86_400} days away.`)
  return left
}
