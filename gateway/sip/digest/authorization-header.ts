/** Digest credentials of a caller (RFC 7616 section 3.4). */
export interface DigestAnswer {
  readonly username: string
  readonly realm: string
  readonly nonce: string
  readonly uri: string
  /** Hex, lower case. */
  readonly response: string
  readonly algorithm: 'MD5' | 'SHA-256'
  /** Undefined: the old way, without a counter (RFC 2069). */
  readonly counted?: { readonly qop: 'auth' | 'auth-int'; readonly nc: string; readonly cnonce: string }
}

/** Longest Authorization value that is read, in characters. */
const maxHeaderLength = 4_096

const scheme = /[\s,]*([A-Za-z0-9-]+)\s+(?=[A-Za-z0-9*-]+\s*=)/y
const parameter = /\s*([A-Za-z0-9*-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))\s*(?:,|$)/y

/**
 * Returns the answer for one realm in the Authorization header, whose fields may have been joined with
 * commas; undefined without one.
 */
export const readAnswer = (header: string | undefined, realm: string): DigestAnswer | undefined => {
  if (header === undefined || header.length > maxHeaderLength) return undefined
  let at = 0
  while (at < header.length) {
    scheme.lastIndex = at
    const name = scheme.exec(header)?.[1]
    if (name === undefined) return undefined
    const { fields, end } = readFields(header, scheme.lastIndex)
    if (end === scheme.lastIndex) return undefined
    at = end
    if (name.toLowerCase() === 'digest' && fields.get('realm') === realm) return answerOf(fields)
  }
  return undefined
}

const readFields = (text: string, start: number): { fields: ReadonlyMap<string, string>; end: number } => {
  const fields = new Map<string, string>()
  let end = start
  for (;;) {
    scheme.lastIndex = end
    parameter.lastIndex = end
    const found = fields.size > 0 && scheme.test(text) ? null : parameter.exec(text)
    if (!found) return { fields, end }
    const [, name = '', quoted, plain = ''] = found
    fields.set(name.toLowerCase(), quoted === undefined ? plain : quoted.replace(/\\(.)/g, '$1'))
    end = parameter.lastIndex
  }
}

const answerOf = (fields: ReadonlyMap<string, string>): DigestAnswer | undefined => {
  const field = (name: string) => fields.get(name) ?? ''
  const algorithm = (fields.get('algorithm') ?? 'MD5').toUpperCase()
  const qop = fields.get('qop')?.toLowerCase()
  const [nc, cnonce] = [field('nc'), field('cnonce')]
  const response = field('response').toLowerCase()
  if (algorithm !== 'MD5' && algorithm !== 'SHA-256') return undefined
  if (response.length !== (algorithm === 'MD5' ? 32 : 64) || !/^[0-9a-f]+$/.test(response)) return undefined
  const answer = {
    username: field('username'),
    realm: field('realm'),
    nonce: field('nonce'),
    uri: field('uri'),
    ...({ response, algorithm } as const),
  }
  if (qop === undefined) return answer
  if (qop !== 'auth' && qop !== 'auth-int') return undefined
  return /^[0-9a-f]{8}$/i.test(nc) && cnonce !== '' ? { ...answer, counted: { qop, nc, cnonce } } : undefined
}
