import { type AuthParam, readAuthSchemes } from '@trunkline/sip-agent/message'

/** Algorithms of digests, the strongest first (RFC 8760 section 2.1). */
export const algorithms = ['SHA-512-256', 'SHA-256', 'MD5'] as const
/** One of the {@link algorithms}. */
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
  /** Permitted qop values; empty: the answer has no counter (RFC 2069). */
  readonly qop: readonly ('auth' | 'auth-int')[]
  /** The previous answer was right, but its nonce is too old. */
  readonly isStale: boolean
}

/** Maximum length of a value that is read, in characters. */
const maxHeaderLength = 8_192

/**
 * Returns the usable challenges of a WWW-Authenticate or Proxy-Authenticate value in order. Other schemes,
 * unknown algorithms and incomplete challenges are left out. A malformed value has no challenges.
 */
export const parseChallenges = (value: string): readonly Challenge[] => {
  if (value.length > maxHeaderLength) return []
  const found: Challenge[] = []
  for (const read of readAuthSchemes(value)) {
    if (!read?.isStrict) return []
    const challenge = read.scheme === 'digest' ? challengeOf(read.params) : undefined
    if (challenge) found.push(challenge)
  }
  return found
}

const challengeOf = (parameters: ReadonlyMap<string, AuthParam>): Challenge | undefined => {
  const realm = parameters.get('realm')?.value
  const nonce = parameters.get('nonce')?.raw
  const wanted = (parameters.get('algorithm')?.raw ?? 'MD5').toUpperCase()
  const algorithm = algorithms.find((each) => each === wanted)
  if (realm === undefined || nonce === undefined || !algorithm) return undefined
  const offered = parameters.get('qop')?.raw
  const qop = (offered ?? '')
    .toLowerCase()
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each === 'auth' || each === 'auth-int')
  // The challenge permits only unsupported qop values.
  if (offered !== undefined && qop.length === 0) return undefined
  const isStale = parameters.get('stale')?.raw.toLowerCase() === 'true'
  return { realm, nonce, opaque: parameters.get('opaque')?.raw, algorithm, qop, isStale }
}
