import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { catalogue, type TrunklineError } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import { pathOf } from '../../core/web/request-path.ts'
import { compatBody } from './compat-errors.ts'
import { errorPagePath } from './error-pages.ts'
import { type ErrorBody, faultFor, faultOf, type RequestFault } from './request-faults.ts'
import { useRouteList } from './route-list.ts'

/**
 * API family: a group of routes with the same format of error bodies. `fabric`: a list `errors` with type,
 * code, message, attribute and url. `relay`: a list `errors` with detail, status, title and code. `compat`:
 * numeric code, message, more_info and status.
 */
export type ApiFamily = 'fabric' | 'relay' | 'compat'

/** Returns the API family of a path; `fabric` for paths outside the API. */
export const familyOf = (path: string): ApiFamily => {
  if (path.startsWith('/api/relay/')) return 'relay'
  return /^(\/api\/laml)?\/2010-04-01(\/|$)/.test(path) ? 'compat' : 'fabric'
}

/**
 * Returns whether a path belongs to the API, in any family. `/subscriber/` is used by the SDK for devices.
 */
export const isApiPath = (path: string): boolean =>
  path.startsWith('/api/') || path.startsWith('/subscriber/') || familyOf(path) === 'compat'

const types: Readonly<Record<number, string>> = {
  400: 'validation_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  422: 'validation_error',
  429: 'rate_limit_error',
}

const fabricBody: ErrorBody = ({ status, all, base }) => ({
  errors: all.map(({ code, message, attribute }) => ({
    type: types[status] ?? 'api_error',
    code,
    message,
    attribute,
    url: `${base}${errorPagePath(code)}`,
  })),
})

const relayBody: ErrorBody = ({ status, all }) => ({
  errors: all.map(({ code, message }) => ({
    detail: message,
    status: String(status),
    title: catalogue[code].text,
    code,
  })),
})

const bodies: Readonly<Record<ApiFamily, ErrorBody>> = {
  fabric: fabricBody,
  relay: relayBody,
  compat: compatBody,
}

/** Returns the scheme and host of a request, or an empty string if the host is invalid. */
const baseOf = ({ protocol, host }: FastifyRequest): string =>
  /^[\w.-]{1,253}(:\d{1,5})?$|^\[[\da-f:.]{2,45}\](:\d{1,5})?$/i.test(host) ? `${protocol}://${host}` : ''

/** Answers a request with an error body, in the format of the request's API family. */
export const sendFault = (
  request: FastifyRequest,
  reply: FastifyReply,
  fault: RequestFault,
): FastifyReply => {
  const family = familyOf(pathOf(request.url))
  // The `compat` family does not use status 422.
  const status = family === 'compat' && fault.status === 422 ? 400 : fault.status
  return reply.code(status).send(bodies[family]({ ...fault, status, base: baseOf(request) }))
}

/**
 * Returns the `WWW-Authenticate` challenge; `invalid_token` only if a token was sent (RFC 6750 section 3.1).
 */
const challengeOf = ({ headers }: FastifyRequest): string =>
  headers.authorization === undefined ? 'Bearer' : 'Bearer error="invalid_token"'

/** Value of `Retry-After` in seconds while the store is unavailable. */
const storeRetrySeconds = 10

/** Collaborators of {@link useErrorBodies}. */
export interface ErrorDeps {
  readonly log: Pick<Log, 'error'>
  readonly metrics: Pick<Metrics, 'rejections'>
}

/**
 * Sets the error handler of a site, and the response for unknown routes. It handles errors of the gateway, of
 * schema validation and of Fastify, and internal errors.
 */
export const useErrorBodies = (site: FastifyInstance, { log, metrics }: ErrorDeps): void => {
  const refuse = (request: FastifyRequest, reply: FastifyReply, fault: RequestFault): FastifyReply => {
    metrics.rejections.inc({ code: fault.code })
    if (fault.code === 'store_unavailable' && !reply.hasHeader('retry-after'))
      reply.header('retry-after', storeRetrySeconds)
    if (fault.status === 401 && !reply.hasHeader('www-authenticate'))
      reply.header('www-authenticate', challengeOf(request))
    return sendFault(request, reply, fault)
  }
  site.setErrorHandler((error: FastifyError | TrunklineError, request, reply) => {
    const fault = faultOf(error)
    if (fault.code === 'internal')
      log.error({ event: 'http.request-failed', request: request.id, err: error }, catalogue.internal.text)
    return refuse(request, reply, fault)
  })
  useRouteList(site)
  const refuseUnknown = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const path = pathOf(request.url)
    const allowed = isApiPath(path) ? site.routeList.methodsOf(path) : []
    const text = `${request.method} ${path}`
    if (allowed.length === 0) return refuse(request, reply, faultFor('not_found', `No route for ${text}.`))
    reply.header('allow', allowed.join(', '))
    return refuse(request, reply, faultFor('method_not_allowed', `No route for ${text}.`))
  }
  site.setNotFoundHandler(refuseUnknown)
  // This hook runs before the body is read, so no body is parsed for an unknown route.
  site.addHook('preParsing', async (request, reply) => {
    if (request.is404) refuseUnknown(request, reply)
  })
}
