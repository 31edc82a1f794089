import { createHash } from 'node:crypto'
import fastifyRateLimit, { type FastifyRateLimitStore } from '@fastify/rate-limit'
import { senderOf } from '@trunkline/sip-agent/networks'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ApiLimits } from '../../../config/types.ts'
import type { Clock } from '../../core/clock.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import { pathOf } from '../../core/web/request-path.ts'
import { isApiPath } from './api-family.ts'

const windowMs = 60_000
/**
 * Tokens and addresses that are remembered; when there are more, those that came least recently are
 * forgotten.
 */
const maxKeys = 20_000

interface Window {
  readonly since: number
  count: number
}

/**
 * How many requests came within the minute, of each token and each network address; one for every listener,
 * so that a second port gives nobody a second chance.
 */
export class RequestLimits {
  readonly #clock: Pick<Clock, 'now'>
  readonly #windows = new Map<string, Window>()
  #limits: ApiLimits

  constructor(clock: Pick<Clock, 'now'>, limits: ApiLimits) {
    this.#clock = clock
    this.#limits = limits
  }

  /** The limits of a minute. */
  get limits(): ApiLimits {
    return this.#limits
  }

  /** Counts against these limits from now on. */
  change(limits: ApiLimits): void {
    this.#limits = limits
  }

  /** Tokens and addresses that are remembered. */
  get size(): number {
    return this.#windows.size
  }

  /** Counts a request; resolves how many there were in this minute, and how many milliseconds it has left. */
  count(key: string): { readonly current: number; readonly ttl: number } {
    const now = this.#clock.now()
    const known = this.#windows.get(key)
    const window = known && now - known.since < windowMs ? known : { since: now, count: 0 }
    window.count++
    // What was used last stands last.
    this.#windows.delete(key)
    this.#windows.set(key, window)
    for (const oldest of this.#windows.keys()) {
      if (this.#windows.size <= maxKeys) break
      this.#windows.delete(oldest)
    }
    return { current: window.count, ttl: window.since + windowMs - now }
  }
}

/**
 * Limits the requests to the API on a site; its other pages, health and metrics are not counted. Must stand
 * before the routes.
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
  // Who asks is known when the route's own onRequest has run.
  site.addHook('preParsing', async (request, reply) => {
    if (isCounted(request) && tokenKey(request) !== '') take(reply, await ofToken(request))
  })
}

const isCounted = ({ url, method }: FastifyRequest): boolean => method !== 'OPTIONS' && isApiPath(pathOf(url))

/** Empty where nobody is named; a bearer token is not kept as it is. */
const tokenKey = ({ apiTokenId, headers }: FastifyRequest): string => {
  if (apiTokenId !== '') return `token ${apiTokenId}`
  const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1]
  return bearer === undefined ? '' : `bearer ${createHash('sha256').update(bearer).digest('base64url')}`
}

type Taken = Awaited<ReturnType<ReturnType<FastifyInstance['createRateLimit']>>>

/** Says how much is left (draft-ietf-httpapi-ratelimit-headers), and refuses when it is nothing. */
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

/** The plugin's view of the rates: every limit of a site counts in the same place, by keys of its own. */
const storeOf = (rates: RequestLimits) =>
  class implements FastifyRateLimitStore {
    incr: FastifyRateLimitStore['incr'] = (key, callback) => callback(null, rates.count(key))
    child = (): FastifyRateLimitStore => this
  }
