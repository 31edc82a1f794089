import { createHash } from 'node:crypto'
import fastifyRateLimit, { type FastifyRateLimitStore } from '@fastify/rate-limit'
import { senderOf } from '@trunkline/sip-agent/networks'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ApiLimits } from '../../../config/types.ts'
import type { Clock } from '../../core/clock.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import { FixedWindowCounter } from '../../core/rates.ts'
import { pathOf } from '../../core/web/request-path.ts'
import { isApiPath } from './api-family.ts'

const windowMs = 60_000
/** Maximum number of tokens and addresses that are counted. */
const maxKeys = 20_000

/**
 * Counts of requests per minute, for each token and each network address. All listeners share one instance.
 */
export class RequestLimits {
  readonly #counter: FixedWindowCounter
  #limits: ApiLimits

  constructor(clock: Pick<Clock, 'now'>, limits: ApiLimits) {
    this.#counter = new FixedWindowCounter(clock, { windowMs, maxKeys })
    this.#limits = limits
  }

  /** Maximum requests per minute. */
  get limits(): ApiLimits {
    return this.#limits
  }

  /** Changes the limits; present counts are kept. */
  change(limits: ApiLimits): void {
    this.#limits = limits
  }

  /** Number of tokens and addresses that are counted. */
  get size(): number {
    return this.#counter.size
  }

  /**
   * Counts a request. Returns the number of requests in this minute, and the milliseconds until the minute
   * ends.
   */
  count(key: string): { readonly current: number; readonly ttl: number } {
    const { count, remainingMs } = this.#counter.count(key)
    return { current: count, ttl: remainingMs }
  }
}

/**
 * Limits the API requests of a site. Pages, health checks and metrics are not counted. Must be called before
 * routes are added.
 */
export const useRequestLimits = async (site: FastifyInstance, rates: RequestLimits): Promise<void> => {
  await site.register(fastifyRateLimit, { global: false, store: storeOf(rates) })
  const options = { timeWindow: windowMs }
  const ofAddress = site.createRateLimit({
    ...options,
    max: () => rates.limits.perAddress,
    keyGenerator: (request) => `address ${senderOf(request.ip)}`,
  })
  const ofToken = site.createRateLimit({
    ...options,
    max: () => rates.limits.perToken,
    keyGenerator: tokenKey,
  })
  site.addHook('onRequest', async (request, reply) => {
    if (isCounted(request)) take(reply, await ofAddress(request))
  })
  // The onRequest hook of the route has already authenticated the request.
  site.addHook('preParsing', async (request, reply) => {
    if (isCounted(request) && tokenKey(request) !== '') take(reply, await ofToken(request))
  })
}

const isCounted = ({ url, method }: FastifyRequest): boolean => method !== 'OPTIONS' && isApiPath(pathOf(url))

/** Returns the key of a request's token, or an empty string without one. Bearer tokens are hashed. */
const tokenKey = ({ apiTokenId, headers }: FastifyRequest): string => {
  if (apiTokenId !== '') return `token ${apiTokenId}`
  const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1]
  return bearer === undefined ? '' : `bearer ${createHash('sha256').update(bearer).digest('base64url')}`
}

type Taken = Awaited<ReturnType<ReturnType<FastifyInstance['createRateLimit']>>>

/**
 * Sets the `RateLimit` headers (draft-ietf-httpapi-ratelimit-headers). Throws `too_many_requests` if the
 * request exceeds its limit.
 */
const take = (reply: FastifyReply, taken: Taken): void => {
  if (taken.isAllowed) return
  reply.headers({
    'ratelimit-limit': taken.max,
    'ratelimit-remaining': taken.remaining,
    'ratelimit-reset': taken.ttlInSeconds,
  })
  if (!taken.isExceeded) return
  reply.header('retry-after', taken.ttlInSeconds)
  throw new TrunklineError('too_many_requests')
}

/** Store of the rate-limit plugin that counts in the shared {@link RequestLimits}. */
const storeOf = (rates: RequestLimits) =>
  class implements FastifyRateLimitStore {
    incr: FastifyRateLimitStore['incr'] = (key, callback) => callback(null, rates.count(key))
    child = (): FastifyRateLimitStore => this
  }
