import { createHash, timingSafeEqual } from 'node:crypto'
import { senderOf } from '@trunkline/sip-agent/networks'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../../core/clock.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import { FixedWindowLimiter } from '../../core/rates.ts'
import { hangupCodes } from '../../operator/call-list.ts'
import type { Operator } from '../../operator/operator.ts'
import { reloadBody } from '../../reload/reload-report.ts'
import type { TypedSite } from '../requests/typed-routes.ts'

/** Collaborators of the operator's routes. */
export interface OperatorDeps {
  /** Returns the current token of the operator; without one the routes answer 404. */
  readonly token: () => string | undefined
  readonly operator: Pick<Operator, 'status' | 'calls' | 'hangup' | 'trace' | 'refusals' | 'reload'>
  readonly clock: Pick<Clock, 'now'>
}

/**
 * Limit of wrong tokens from a network address; further ones are rejected with 429. A valid token is always
 * accepted.
 */
const wrongTokens = { attempts: 30, windowMs: 60_000 }

const base = '/api/operator'

/** Path of the route that reloads the configuration. */
export const reloadPath = `${base}/reload`

/**
 * `/api/operator`: status, calls, traces and reload of the gateway, with the token of the operator. Tokens of
 * projects are rejected, so the API documents do not list the routes.
 */
export const operatorRoutes = (site: TypedSite, deps: OperatorDeps): void => {
  const wrong = new FixedWindowLimiter(deps.clock, wrongTokens)
  const onRequest = async (request: FastifyRequest, reply: FastifyReply) =>
    checkToken(request, reply, deps.token(), wrong)
  const reloadSchema = {
    body: {
      type: ['object', 'null'],
      additionalProperties: false,
      properties: { dry_run: { type: 'boolean' } },
    },
    // Unknown query parameters are rejected: an ignored `dry_run` would apply the file.
    querystring: { type: 'object', additionalProperties: false, properties: {} },
  } as const
  site.post(reloadPath, { onRequest, schema: reloadSchema }, async ({ body }, reply) => {
    const result = await deps.operator.reload({ dryRun: body?.dry_run === true, by: 'api' })
    const isRefused = result.outcome === 'invalid' || result.outcome === 'failed'
    return reply.code(isRefused ? 422 : 200).send(reloadBody(result))
  })
  lookRoutes(site, deps.operator, onRequest)
}

const callId = {
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'string', minLength: 1, maxLength: 256 } },
} as const

const hangupBody = {
  type: ['object', 'null'],
  additionalProperties: false,
  properties: { reason: { type: 'string', enum: Object.keys(hangupCodes) } },
} as const

const lookRoutes = (
  site: TypedSite,
  operator: OperatorDeps['operator'],
  onRequest: (request: FastifyRequest, reply: FastifyReply) => Promise<void>,
): void => {
  site.get(`${base}/status`, { onRequest }, () => operator.status())
  site.get(`${base}/refusals`, { onRequest }, async () => ({ data: operator.refusals() }))
  site.get(`${base}/calls`, { onRequest }, async () => ({ data: operator.calls() }))
  site.get(`${base}/calls/:id/trace`, { onRequest, schema: { params: callId } }, ({ params }) =>
    operator.trace(params.id),
  )
  site.post(
    `${base}/calls/:id/hangup`,
    { onRequest, schema: { params: callId, body: hangupBody } },
    async ({ params, body }) => ({ hung_up: operator.hangup(params.id, body?.reason ?? 'normal') }),
  )
}

const checkToken = (
  { headers, ip, method, url }: FastifyRequest,
  reply: FastifyReply,
  token: string | undefined,
  wrong: FixedWindowLimiter,
): void => {
  if (token === undefined)
    throw new TrunklineError('not_found', `No route for ${method} ${url.split('?', 1)[0]}.`)
  const given = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1]
  if (given !== undefined && isSame(given, token)) return
  const waitMs = given === undefined ? 0 : wrong.take(senderOf(ip))
  if (waitMs > 0) {
    reply.header('retry-after', Math.ceil(waitMs / 1_000))
    throw new TrunklineError('too_many_requests')
  }
  throw new TrunklineError('unauthorized', 'The bearer token of the operator is needed (http.operatorToken).')
}

/** Compares digests, so that the time depends on neither content nor length. */
const isSame = (one: string, other: string): boolean => {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(one), digest(other))
}
