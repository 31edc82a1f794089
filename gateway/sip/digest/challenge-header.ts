/** Algorithms of digests, the strongest first (RFC 8760 section 2.1). */
export const algorithms = ['SHA-512-256', 'SHA-256', 'MD5'] as const
/** One of them. */
export type Algorithm = (typeof algorithms)[number]

/** A challenge that can be answered (RFC 7616 section 3.3). */
export interface Challenge {
  readonly realm: string
  /**
   * Nonce as written, with its escapes: it is hashed and returned unchanged (RFC 7616 section 3.4, `unq`).
   */
  readonly nonce: string
  /** Opaque value as written. */
  readonly opaque: string | undefined
  readonly algorithm: Algorithm
  /** Permitted qop values; empty: without a counter (RFC 2069). */
  readonly qop: readonly ('auth' | 'auth-int')[]
  /** The answer was right, but its nonce is too old. */
  readonly isStale: boolean
}

const maxHeaderLength = 8_192
const token = "[A-Za-z0-9\\-.!%*_+`'~]+"
const scheme = new RegExp(`[\\s,]*(${token})[ \\t]+(?=${token}\\s*=)`, 'y')
const parameter = new RegExp(`(${token})\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|(${token}))\\s*(?:,\\s*|$)`, 'y')

/**
 * The challenges of a WWW-Authenticate or Proxy-Authenticate value that can be answered, in order; several
 * may stand in one value. Other schemes, unknown algorithms and incomplete challenges are left out, and a
 * value that is not well-formed has none at all.
 */
export const parseChallenges = (value: string): readonly Challenge[] => {
  const found: Challenge[] = []
  let at = 0
  while (value.length <= maxHeaderLength && !/^[\s,]*$/.test(value.slice(at))) {
    scheme.lastIndex = at
    const name = scheme.exec(value)?.[1]
    if (name === undefined) return []
    const read = readParameters(value, scheme.lastIndex)
    if (!read) return []
    at = read.end
    const challenge = name.toLowerCase() === 'digest' ? challengeOf(read.parameters) : undefined
    if (challenge) found.push(challenge)
  }
  return found
}

/**
 * Returns the parameters up to the next scheme or the end; undefined if they are malformed, or if a parameter
 * is repeated.
 */
const readParameters = (
  value: string,
  start: number,
): { parameters: ReadonlyMap<string, string>; end: number } | undefined => {
  const parameters = new Map<string, string>()
  let end = start
  for (;;) {
    scheme.lastIndex = end
    if (end === value.length || (parameters.size > 0 && scheme.test(value))) return { parameters, end }
    parameter.lastIndex = end
    const [, name = '', quoted, plain = ''] = parameter.exec(value) ?? []
    const key = name.toLowerCase()
    if (key === '' || parameters.has(key)) return undefined
    parameters.set(key, quoted ?? plain)
    end = parameter.lastIndex
  }
}

const challengeOf = (parameters: ReadonlyMap<string, string>): Challenge | undefined => {
  const realm = parameters.get('realm')?.replace(/\\(.)/gs, '$1')
  const nonce = parameters.get('nonce')
  const wanted = (parameters.get('algorithm') ?? 'MD5').toUpperCase()
  const algorithm = algorithms.find((each) => each === wanted)
  if (realm === undefined || nonce === undefined || !algorithm) return undefined
  const offered = parameters.get('qop')
  const qop = (offered ?? '')
    .toLowerCase()
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each === 'auth' || each === 'auth-int')
  // The challenge requires an unsupported protection.
  if (offered !== undefined && qop.length === 0) return undefined
  const isStale = parameters.get('stale')?.toLowerCase() === 'true'
  return { realm, nonce, opaque: parameters.get('opaque'), algorithm, qop, isStale }
}
