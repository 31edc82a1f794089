import { type AuthParam, readAuthSchemes } from '@trunkline/sip-agent/message'

/** Digest credentials of a caller (RFC 7616 section 3.4). */
export interface DigestAnswer {
  readonly username: string
  readonly realm: string
  readonly nonce: string
  readonly uri: string
  /** Hex, lower case. */
  readonly response: string
  readonly algorithm: 'MD5' | 'SHA-256'
  /** Counter and qop; undefined: without a counter (RFC 2069). */
  readonly counted?: { readonly qop: 'auth' | 'auth-int'; readonly nc: string; readonly cnonce: string }
}

/** Longest Authorization value that is read, in characters. */
const maxHeaderLength = 4_096

/**
 * Returns the answer for one realm in the Authorization header; undefined if it has none. Repeated header
 * fields may be joined with commas.
 */
export const readAnswer = (header: string | undefined, realm: string): DigestAnswer | undefined => {
  if (header === undefined || header.length > maxHeaderLength) return undefined
  for (const read of readAuthSchemes(header)) {
    if (!read) return undefined
    if (read.scheme === 'digest' && read.params.get('realm')?.value === realm) return answerOf(read.params)
  }
  return undefined
}

const answerOf = (fields: ReadonlyMap<string, AuthParam>): DigestAnswer | undefined => {
  const field = (name: string) => fields.get(name)?.value ?? ''
  const algorithm = (fields.get('algorithm')?.value ?? 'MD5').toUpperCase()
  const qop = fields.get('qop')?.value.toLowerCase()
  const nc = field('nc')
  const cnonce = field('cnonce')
  const response = field('response').toLowerCase()
  if (algorithm !== 'MD5' && algorithm !== 'SHA-256') return undefined
  if (response.length !== (algorithm === 'MD5' ? 32 : 64) || !/^[0-9a-f]+$/.test(response)) return undefined
  const answer: DigestAnswer = {
    username: field('username'),
    realm: field('realm'),
    nonce: field('nonce'),
    uri: field('uri'),
    response,
    algorithm,
  }
  if (qop === undefined) return answer
  if (qop !== 'auth' && qop !== 'auth-int') return undefined
  return /^[0-9a-f]{8}$/i.test(nc) && cnonce !== '' ? { ...answer, counted: { qop, nc, cnonce } } : undefined
}
