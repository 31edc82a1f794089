import { createHash, randomBytes } from 'node:crypto'
import type { Headers } from '../srf.ts'
import { type Algorithm, algorithms, type Challenge, parseChallenges } from './challenge-header.ts'

/** Credentials of the gateway, and the realms that they may be shown to. */
export interface Credentials {
  readonly username: string
  readonly password: string
  /** Realms of the credentials; undefined: the realm of the receiver of the request. */
  readonly realms?: readonly string[]
  /** Realm whose answer was accepted; used if {@link realms} is undefined. */
  readonly learned?: LearnedRealm
}

/**
 * Realm of a peer without a configured realm: the realm of the first answer that the peer accepted. From then
 * on, challenges for any other realm are not answered. Otherwise the peer could forward a challenge from
 * another server. The digest in the answer would let that server guess the password.
 */
export interface LearnedRealm {
  realm?: string
}

/** Parts of a request that are signed. `uri` is its real request-URI. */
export interface SignedRequest {
  readonly method: string
  readonly uri: string
  readonly body: string
}

/** A response with a challenge. */
export interface ChallengeResponse {
  readonly status: number
  get(name: string): string | undefined
}

/** Headers for repeating a challenged request, or the reason why it is not repeated. */
export type ChallengeAnswer =
  | { readonly headers: Headers }
  | { readonly why: 'no credentials' | 'no usable challenge' | 'another realm' | 'rejected' | 'too many' }

/**
 * Maximum number of challenges that are answered for one request. A second one comes from the far side after
 * a proxy's challenge, or because of a stale nonce.
 */
const maxChallenges = 2

const hashes: Readonly<Record<Algorithm, string>> = {
  'SHA-512-256': 'sha512-256',
  'SHA-256': 'sha256',
  MD5: 'md5',
}

type Field = 'Authorization' | 'Proxy-Authorization'

/**
 * Answers challenges with one set of credentials (RFC 7616, RFC 8760, RFC 3261 section 22), only for the
 * realms that {@link Credentials} names. If any realm were answered, a peer could use the answer at the real
 * one (CVE-2021-41158).
 */
export class DigestSession {
  #credentials: Credentials | undefined
  #newNonce: () => string
  #answered = new Map<Field, { challenge: Challenge; count: number }>()
  #challenges = 0

  /** `newNonce` makes client nonces; default 128 random bits. */
  constructor(
    credentials: Credentials | undefined,
    newNonce: () => string = () => randomBytes(16).toString('hex'),
  ) {
    this.#credentials = credentials
    this.#newNonce = newNonce
  }

  /** Realms that were answered. */
  get realms(): readonly string[] {
    return [...this.#answered.values()].map(({ challenge }) => challenge.realm)
  }

  /** Records that the request was accepted with the answer. */
  accepted(): void {
    const learnt = this.#credentials?.learned
    const [realm] = this.realms
    if (learnt && learnt.realm === undefined && realm !== undefined) learnt.realm = realm
  }

  /**
   * Starts a new request: its challenges are counted anew. Returns the previous credentials, which save a
   * round trip.
   */
  begin(request: SignedRequest): Headers {
    this.#challenges = 0
    return this.#headers(request)
  }

  /** Returns the answer to a 401 or 407. */
  answer(response: ChallengeResponse, request: SignedRequest): ChallengeAnswer {
    const credentials = this.#credentials
    if (!credentials) return { why: 'no credentials' }
    const proxy = response.status === 407
    const field: Field = proxy ? 'Proxy-Authorization' : 'Authorization'
    const offered = parseChallenges(response.get(proxy ? 'Proxy-Authenticate' : 'WWW-Authenticate') ?? '')
    if (offered.length === 0) return { why: 'no usable challenge' }
    const realms = this.#permitted(credentials)
    const ours = offered.filter(({ realm }) => !realms || realms.includes(realm))
    const challenge = strongest(ours)
    if (!challenge) return { why: 'another realm' }
    const before = this.#answered.get(field)?.challenge
    // The same realm challenges again although the nonce was not too old: the password is wrong.
    if (this.#challenges > 0 && before?.realm === challenge.realm && !challenge.isStale)
      return { why: 'rejected' }
    if (this.#challenges >= maxChallenges) return { why: 'too many' }
    this.#challenges++
    this.#answered.set(field, { challenge, count: 0 })
    return { headers: this.#headers(request) }
  }

  #permitted({ realms, learned }: Credentials): readonly string[] | undefined {
    if (realms || !learned) return realms
    if (learned.realm !== undefined) return [learned.realm]
    // If one request is challenged for two realms, the first one is that of the nearer peer.
    return this.#answered.size > 0 ? this.realms : undefined
  }

  #headers(request: SignedRequest): Headers {
    const headers: Headers = {}
    const credentials = this.#credentials
    if (!credentials) return headers
    for (const [field, entry] of this.#answered) {
      entry.count++
      const use = { count: entry.count, nonce: this.#newNonce() }
      headers[field] = authorization(entry.challenge, credentials, request, use)
    }
    return headers
  }
}

const strongest = (challenges: readonly Challenge[]): Challenge | undefined =>
  [...challenges].sort((a, b) => algorithms.indexOf(a.algorithm) - algorithms.indexOf(b.algorithm))[0]

/**
 * Returns the value of Authorization or Proxy-Authorization (RFC 7616 section 3.4). `use`: the count of uses
 * of this nonce, and the client nonce.
 */
export const authorization = (
  challenge: Challenge,
  credentials: Pick<Credentials, 'username' | 'password'>,
  request: SignedRequest,
  use: { readonly count: number; readonly nonce: string },
): string => {
  const { realm, nonce, algorithm, opaque, qop } = challenge
  const { username, password } = credentials
  const hash = (...parts: string[]) => createHash(hashes[algorithm]).update(parts.join(':')).digest('hex')
  // A proxy that rewrites the body would break `auth-int`: it is used only if nothing else is offered.
  const quality = qop.includes('auth') ? 'auth' : qop[0]
  const secret = hash(username, realm, password)
  const signed =
    quality === 'auth-int'
      ? hash(request.method, request.uri, hash(request.body))
      : hash(request.method, request.uri)
  const count = use.count.toString(16).padStart(8, '0')
  const response = quality
    ? hash(secret, nonce, count, use.nonce, quality, signed)
    : hash(secret, nonce, signed)
  const fields = [
    `username=${quoted(username)}`,
    `realm=${quoted(realm)}`,
    `nonce="${nonce}"`,
    `uri=${quoted(request.uri)}`,
    `response="${response}"`,
    `algorithm=${algorithm}`,
    ...(opaque === undefined ? [] : [`opaque="${opaque}"`]),
    ...(quality ? [`qop=${quality}`, `nc=${count}`, `cnonce=${quoted(use.nonce)}`] : []),
  ]
  return `Digest ${fields.join(', ')}`
}

const quoted = (text: string): string => `"${text.replace(/[\\"]/g, '\\$&')}"`
