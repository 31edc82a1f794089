import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { DigestSecret } from '../../directory/model/digest-secret.ts'
import { type DigestAnswer, readAnswer } from '../digest/authorization-header.ts'
import { Nonces } from '../digest/nonces.ts'
import { sourceOf } from '../signalling-source.ts'
import type { Headers, SipRequest } from '../srf.ts'

/** A request whose sender must authenticate. */
export interface DigestRequest {
  readonly method: string
  /** The request-URI. */
  readonly uri: string
  readonly body: string
  /** Address that the packet came from. */
  readonly source: string
  /**
   * The request came over a connection. Then only a nonce that was sent to the same address is valid. Default
   * false.
   */
  readonly isOverConnection?: boolean
  /** Value of the Authorization header. */
  readonly authorization: string | undefined
}

/** Returns the parts of a request that a digest check needs. */
export const digestRequestOf = (request: SipRequest): DigestRequest => {
  const { method, uri, body = '', source_address: source } = request
  const isOverConnection = sourceOf(request).transport !== 'udp'
  return { method, uri, body, source, isOverConnection, authorization: request.get('Authorization') }
}

/** Result of a digest check. */
export type DigestCheck =
  | { readonly kind: 'accepted'; readonly username: string }
  | {
      readonly kind: 'challenge'
      /**
       * `missing`: no readable answer for the realm. `stale`: a right answer, but its nonce is too old or,
       * over a connection, was sent to another address. `wrong`: a wrong password, or MD5 although MD5 was
       * not offered.
       */
      readonly why: 'missing' | 'stale' | 'wrong'
      /** Headers of the 401. */
      readonly headers: Headers
    }

/** Algorithms of challenges. */
export type DigestAlgorithm = 'MD5' | 'SHA-256'

/**
 * Challenges senders and checks their answers (RFC 7616, RFC 8760: SHA-256 and MD5). It accepts the
 * algorithms that it offers, and SHA-256. It offers qop `auth` only, as some phones fail at `auth-int`, but
 * accepts both. The work and the response are the same for an unknown user as for a known one.
 */
export class Challenger {
  readonly #nonces: Nonces
  readonly #recordOffense: (address: string) => void
  #algorithms: readonly DigestAlgorithm[]
  /** Dummy secret for an unknown user; no password matches it. */
  readonly #unknownUser: DigestSecret

  /**
   * `algorithms`: the response has one challenge for each, in this order. Of several challenges, some phones
   * read only the first one, some only the last one, and some fail at an unknown algorithm. A single
   * challenge with MD5 works with all phones. `recordOffense` is called with an address that certainly sent a
   * wrong password.
   */
  constructor(
    now: () => number,
    algorithms: readonly DigestAlgorithm[] = ['MD5'],
    recordOffense: (address: string) => void = () => {},
  ) {
    this.#nonces = new Nonces(now)
    this.#recordOffense = recordOffense
    this.#algorithms = algorithms
    const unknown = (bytes: number) => randomBytes(bytes).toString('hex')
    this.#unknownUser = { username: unknown(8), realm: '', md5: unknown(16), sha256: unknown(32) }
  }

  /** Changes the algorithms of future challenges; nonces in use stay valid. */
  change(algorithms: readonly DigestAlgorithm[]): void {
    this.#algorithms = algorithms
  }

  /** Number of nonces that are remembered, so that no answer is accepted twice; bounded. */
  get size(): number {
    return this.#nonces.size
  }

  /**
   * Checks the answer for a realm. Each answer is accepted once. `secretOf` returns the secret of a user in
   * that realm.
   */
  check(
    request: DigestRequest,
    realm: string,
    secretOf: (username: string) => DigestSecret | undefined,
  ): DigestCheck {
    const answer = readAnswer(request.authorization, realm)
    if (!answer) return this.#challenge(request, realm, 'missing')
    const secret = secretOf(answer.username)
    // SHA-256 is accepted even if only MD5 was offered, as it is stronger.
    const isOffered = answer.algorithm === 'SHA-256' || this.#algorithms.includes(answer.algorithm)
    const isRight = matches(answer, secret ?? this.#unknownUser, request) && secret !== undefined && isOffered
    const { isValid, isProven } = this.#nonces.check(answer.nonce, request.source)
    if (!isRight) {
      // A wrong MD5 answer that was not offered proves nothing about its sender.
      if (isProven && isOffered) this.#recordOffense(request.source)
      return this.#challenge(request, realm, 'wrong')
    }
    const count = answer.counted ? Number.parseInt(answer.counted.nc, 16) : 1
    const isHere = isProven || !request.isOverConnection
    if (!isValid || !isHere || !this.#nonces.use(answer.nonce, count))
      return this.#challenge(request, realm, 'stale')
    return { kind: 'accepted', username: answer.username }
  }

  #challenge(request: DigestRequest, realm: string, why: 'missing' | 'stale' | 'wrong'): DigestCheck {
    const nonce = this.#nonces.make(request.source)
    const stale = why === 'stale' ? ', stale=true' : ''
    const challenges = this.#algorithms.map(
      (algorithm) => `Digest realm="${realm}", nonce="${nonce}", algorithm=${algorithm}, qop="auth"${stale}`,
    )
    return { kind: 'challenge', why, headers: { 'WWW-Authenticate': challenges.join(', ') } }
  }
}

/**
 * Whether the answer fits the secret and the request, compared in constant time. The signed URI may differ
 * from the request-URI: some senders sign the host of a proxy, and proxies rewrite URIs (RFC 7616 section
 * 3.4.6).
 */
const matches = (answer: DigestAnswer, secret: DigestSecret, request: DigestRequest): boolean => {
  const { algorithm, counted, nonce, uri } = answer
  const [name, ha1] =
    algorithm === 'MD5' ? (['md5', secret.md5] as const) : (['sha256', secret.sha256] as const)
  const hash = (...parts: string[]) => createHash(name).update(parts.join(':')).digest('hex')
  const ha2 =
    counted?.qop === 'auth-int' ? hash(request.method, uri, hash(request.body)) : hash(request.method, uri)
  const expected = counted
    ? hash(ha1, nonce, counted.nc, counted.cnonce, counted.qop, ha2)
    : hash(ha1, nonce, ha2)
  return timingSafeEqual(Buffer.from(expected), Buffer.from(answer.response))
}
