import { createHmac } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../../core/clock.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import { Sealing } from '../../core/sealing.ts'
import { pathOf } from '../../core/web/request-path.ts'
import type { IdempotencyKey, IdempotencyRow, IdempotencyRows } from '../../directory/tables/idempotency.ts'
import { isApiPath } from './api-family.ts'

const hour = 3_600_000
const keptMs = 24 * hour
const maxKeyLength = 255

/** Collaborators of {@link IdempotentRequests}. */
export interface IdempotencyDeps {
  readonly rows: Pick<IdempotencyRows, 'claim' | 'answer' | 'release' | 'prune'>
  /**
   * Secret of at least 16 bytes. The key that encrypts stored responses is derived from it, because responses
   * may contain tokens.
   */
  readonly secret: Uint8Array
  readonly clock: Pick<Clock, 'now'>
}

/** First request with an idempotency key, while it is carried out. */
interface Claim extends IdempotencyKey {
  readonly settle: () => void
}

/**
 * Carries out a POST once per `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header). A repetition
 * within a day receives the first response with `idempotent-replayed: true`, and waits for that response if
 * necessary. A different request with the same key is rejected with `idempotency_conflict`. If the process
 * stopped during the first request, a repetition is rejected with `request_in_progress`, because the effect
 * is unknown.
 */
export class IdempotentRequests {
  readonly #deps: IdempotencyDeps
  readonly #sealing: Sealing
  readonly #hashKey: Uint8Array
  /** Requests that this process carries out, by owner and key. */
  readonly #running = new Map<string, Promise<void>>()
  #prunedAt: number

  constructor(deps: IdempotencyDeps) {
    this.#deps = deps
    this.#sealing = new Sealing(deps.secret, 'answers to idempotency keys')
    this.#hashKey = createHmac('sha256', deps.secret).update('requests of idempotency keys').digest()
    this.#prunedAt = deps.clock.now()
  }

  /** Number of requests with a key that are being carried out. */
  get size(): number {
    return this.#running.size
  }

  /** Adds the hooks to a site. Must be called before routes are added. */
  use(site: FastifyInstance): void {
    const claims = new WeakMap<FastifyRequest, Claim>()
    site.addHook('preHandler', async (request, reply) => {
      const key = keyOf(request)
      if (key === undefined) return
      const claim = await this.#claim(request, key, reply)
      if (!claim) return reply
      claims.set(request, claim)
    })
    site.addHook('onSend', async (request, reply, payload) => {
      const claim = claims.get(request)
      claims.delete(request)
      if (claim) await this.#settle(claim, reply, payload)
    })
  }

  /** Claims a key. Resolves with undefined if the stored response was sent. */
  async #claim(
    request: FastifyRequest,
    key: IdempotencyKey,
    reply: FastifyReply,
  ): Promise<Claim | undefined> {
    await this.#prune()
    const name = `${key.project_id} ${key.key}`
    // Waiting requests continue one at a time, so that the first of them claims the key.
    for (let running = this.#running.get(name); running; running = this.#running.get(name)) await running
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#running.set(name, promise)
    const settle = () => {
      this.#running.delete(name)
      resolve()
    }
    try {
      const taken = await this.#take(request, key)
      if (!taken) return { ...key, settle }
      this.#replay(taken, reply)
    } catch (error) {
      settle()
      throw error
    }
    settle()
    return undefined
  }

  async #take(request: FastifyRequest, key: IdempotencyKey): Promise<IdempotencyRow | undefined> {
    const route = `${request.method} ${request.routeOptions.url ?? ''}`
    const request_hash = this.#hash(request)
    const created_at = this.#deps.clock.now()
    const taken = await this.#deps.rows.claim({ ...key, route, request_hash, created_at })
    if (!taken) return undefined
    if (created_at - taken.created_at >= keptMs) {
      await this.#deps.rows.release(key)
      return this.#take(request, key)
    }
    if (taken.request_hash !== request_hash) throw new TrunklineError('idempotency_conflict')
    if (taken.status === null) throw new TrunklineError('request_in_progress')
    return taken
  }

  #replay({ status, body, content_type, project_id, key }: IdempotencyRow, reply: FastifyReply): void {
    reply.code(status ?? 200).header('idempotent-replayed', 'true')
    if (content_type !== null) reply.header('content-type', content_type)
    // The stored body is already serialized.
    reply.serializer((text: unknown) => String(text))
    reply.send(body === null ? undefined : this.#sealing.open(body, `${project_id} ${key}`))
  }

  async #settle({ settle, project_id, key }: Claim, reply: FastifyReply, payload: unknown): Promise<void> {
    const { rows } = this.#deps
    const { statusCode: status } = reply
    const text = typeof payload === 'string' || Buffer.isBuffer(payload) ? String(payload) : undefined
    const content_type = reply.getHeader('content-type')
    try {
      if (status >= 500 || status === 429) return await rows.release({ project_id, key })
      const body = text ? this.#sealing.seal(text, `${project_id} ${key}`) : null
      const answer = { status, body, content_type: content_type === undefined ? null : String(content_type) }
      await rows.answer({ project_id, key }, answer)
    } finally {
      settle()
    }
  }

  /** Returns a hash of a request. The hash has a secret key, because the body may contain passwords. */
  #hash({ method, url, body }: FastifyRequest): string {
    return createHmac('sha256', this.#hashKey)
      .update(JSON.stringify([method, url, body ?? null]))
      .digest('base64url')
  }

  async #prune(): Promise<void> {
    const now = this.#deps.clock.now()
    if (now - this.#prunedAt < hour) return
    this.#prunedAt = now
    await this.#deps.rows.prune(now - keptMs)
  }
}

/** Returns the idempotency key of a request, and its owner: a project or a subscriber access token. */
const keyOf = (request: FastifyRequest): IdempotencyKey | undefined => {
  const key = request.headers['idempotency-key']
  if (typeof key !== 'string' || request.method !== 'POST' || !isApiPath(pathOf(request.url)))
    return undefined
  if (key === '' || key.length > maxKeyLength)
    throw new TrunklineError('invalid_field', `A key has 1 to ${maxKeyLength} characters.`, {
      attribute: 'idempotency-key',
    })
  if (request.projectId !== '') return { project_id: request.projectId, key }
  // Requests without authentication store nothing.
  return request.bearer ? { project_id: `bearer ${request.bearer.token.id}`, key } : undefined
}
