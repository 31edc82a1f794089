import { createHmac, randomUUID } from 'node:crypto'
import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose'
import type { Clock } from '../clock.ts'
import type { Subscriber } from '../directory/types.ts'
import { TrunklineError } from '../errors.ts'

/** What a valid subscriber access token says. Times are seconds since the Unix epoch. */
export interface SubscriberToken {
  readonly subscriberId: string
  readonly projectId: string
  /** Unique per token; holds no underscore, because the browser SDK takes the protocol apart at underscores. */
  readonly id: string
  readonly issuedAt: number
  readonly expiresAt: number
}

/** A token that was just made. */
export interface IssuedToken {
  readonly token: string
  /** Seconds since the Unix epoch. */
  readonly expiresAt: number
}

/** Makes and checks subscriber access tokens: JWTs (RFC 7519) signed with HS256. */
export class SubscriberTokens {
  #key: Uint8Array
  #clock: Pick<Clock, 'now'>
  #publicHost: string | undefined

  /** `publicHost` stands in the header as `ch`: the host that the browser SDK connects to. */
  constructor(secret: Uint8Array, clock: Pick<Clock, 'now'>, publicHost?: string) {
    this.#key = createHmac('sha256', secret).update('subscriber tokens').digest()
    this.#clock = clock
    this.#publicHost = publicHost
  }

  /** `ttlSeconds` from now on. */
  async issue(subscriber: Pick<Subscriber, 'id' | 'projectId'>, ttlSeconds: number): Promise<IssuedToken> {
    const now = Math.floor(this.#clock.now() / 1000)
    const expiresAt = now + Math.floor(ttlSeconds)
    const header = { alg: 'HS256', typ: 'SAT', ...(this.#publicHost && { ch: this.#publicHost }) }
    const token = await new SignJWT({ project: subscriber.projectId })
      .setProtectedHeader(header)
      .setSubject(subscriber.id)
      .setJti(randomUUID())
      .setIssuedAt(now)
      .setExpirationTime(expiresAt)
      .sign(this.#key)
    return { token, expiresAt }
  }

  /** Throws `unauthorized` with a sentence that says what is wrong with the token. */
  async verify(token: string): Promise<SubscriberToken> {
    try {
      const { payload } = await jwtVerify(token, this.#key, {
        algorithms: ['HS256'],
        typ: 'SAT',
        currentDate: new Date(this.#clock.now()),
        requiredClaims: ['sub', 'jti', 'iat', 'exp', 'project'],
      })
      return claimsOf(payload)
    } catch (error) {
      if (error instanceof errors.JWTExpired)
        throw new TrunklineError('unauthorized', 'The token has expired.')
      throw new TrunklineError('unauthorized', 'The token is not valid.', {}, error)
    }
  }
}

const claimsOf = ({ sub, jti, iat, exp, project }: JWTPayload): SubscriberToken => {
  if (!sub || !jti || iat === undefined || exp === undefined || typeof project !== 'string')
    throw new Error('a claim has the wrong type')
  return { subscriberId: sub, projectId: project, id: jti, issuedAt: iat, expiresAt: exp }
}
