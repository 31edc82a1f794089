import { createHash, randomBytes } from 'node:crypto'
import type { Headers } from '../srf.ts'
import { type Algorithm, algorithms, type Challenge, parseChallenges } from './challenge-header.ts'

/** What we prove who we are with, and to whom we may. */
export interface Credentials {
  readonly username: string
  readonly password: string
  /** The only realms that they are for; undefined: whatever the one says whom the request was sent to. */
  readonly realms?: readonly string[]
  /** Where {@link realms} is undefined: the one realm that was found to be right. */
  readonly learned?: LearnedRealm
}

/**
 * The realm of a far side whose realm nobody has told us: that of the first answer which was accepted. From
 * then on no other is answered: a challenge that came from behind it, passed on, would get a digest to guess
 * the password by.
 */
export interface LearnedRealm {
  realm?: string
}

/** What is signed of a request. `uri` is its real request-URI. */
export interface SignedRequest {
  readonly method: string
  readonly uri: string
  readonly body: string
}

/** A response that challenges us. */
export interface ChallengeResponse {
  readonly status: number
  get(name: string): string | undefined
}

/** The headers with which a challenged request is sent again, or why it is not. */
export type ChallengeAnswer =
  | { readonly headers: Headers }
  | { readonly why: 'no credentials' | 'no usable challenge' | 'another realm' | 'rejected' | 'too many' }

/**
 * Challenges of one request that are answered: those of a proxy and of the far side, or a nonce that had
 * grown old.
 */
const maxChallenges = 2

const hashes: Readonly<Record<Algorithm, string>> = {
  'SHA-512-256': 'sha512-256',
  'SHA-256': 'sha256',
  MD5: 'md5',
}

type Field = 'Authorization' | 'Proxy-Authorization'

/**
 * Answers challenges with one set of credentials (RFC 7616, RFC 8760, RFC 3261 section 22). They are shown to
 * nobody but those whom {@link Credentials} names: a far side that could make us answer any realm would sell
 * our answers to the real one (CVE-2021-41158).
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

  /** The request was taken with what was answered. */
  accepted(): void {
    const learnt = this.#credentials?.learned
    const [realm] = this.realms
    if (learnt && learnt.realm === undefined && realm !== undefined) learnt.realm = realm
  }

  /**
   * A new request begins: its challenges are counted anew. What the last one was answered with goes along,
   * and saves a round.
   */
  begin(request: SignedRequest): Headers {
    this.#challenges = 0
    return this.#headers(request)
  }

  /** What to answer a 401 or 407 with. */
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
    // The same realm asks again although our answer was not too old: the password is wrong, and will be so
    // the next time.
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
    // Of two realms in one request the first is that of whoever is nearer.
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
 * The value of Authorization or Proxy-Authorization (RFC 7616 section 3.4). `use`: the how many-th with this
 * nonce, and our own nonce.
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
  // A box on the way that rewrites the body would break auth-int: it is taken only where nothing else is
  // offered.
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
