import { randomUUID } from 'node:crypto'
import fastifyCors from '@fastify/cors'
import fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import type { HttpConfig } from '../../config/types.ts'
import type { Certificate } from '../auth/certificate.ts'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { Metrics } from '../core/metrics.ts'
import type { Origins } from '../core/web/origins.ts'
import { pathOf } from '../core/web/request-path.ts'
import { dropForwardedPorts, TrustedProxies } from '../core/web/trusted-proxies.ts'
import { isApiPath, sendFault, useErrorBodies } from './requests/api-family.ts'
import { CompiledSchemas } from './requests/compiled-schemas.ts'
import { usePrincipals } from './requests/principal.ts'
import { faultOf } from './requests/request-faults.ts'
import { plainUrl } from './requests/request-url.ts'
import { schemaCompilers, useValidation } from './requests/validation.ts'
import { compatUrl } from './routes/compat/compat-url.ts'
import { sessionPath } from './routes/session-route.ts'

/** Maximum bytes of a body. Routes of documents have a higher limit. */
const bodyLimit = 64 << 10

/** Minimum version of TLS. */
export const minVersion = 'TLSv1.2'

/** Maximum duration of a TLS handshake in ms. Node's default is two minutes. */
const handshakeTimeout = 10_000
/** Maximum interval in ms of the check for expired connections. */
const maxCheckMs = 5_000
/**
 * Time in ms after which a connection without traffic is closed, for example if its client does not read a
 * response.
 */
const connectionTimeout = 120_000

/** Collaborators and settings of a site. */
export interface SiteDeps {
  /** Trusted proxies; default none. */
  readonly proxies?: Pick<TrustedProxies, 'trusts'>
  readonly config?: Partial<Pick<HttpConfig, 'headersTimeoutMs'>>
  readonly metrics: Pick<Metrics, 'rejections'>
  readonly clock: Pick<Clock, 'now'>
  readonly log: Log
  /** Compiled schemas; default: a new, empty instance. */
  readonly compiled?: CompiledSchemas
}

/**
 * Returns a site without routes, with request ids, the access log and the bodies of errors. With a
 * certificate it uses TLS.
 */
export const newSite = (
  {
    proxies = new TrustedProxies([]),
    config,
    metrics,
    clock,
    log,
    compiled = new CompiledSchemas(),
  }: SiteDeps,
  certificate?: Certificate,
): FastifyInstance => {
  const headersTimeout = config?.headersTimeoutMs ?? 10_000
  const ofServer = {
    headersTimeout,
    connectionsCheckingInterval: Math.min(headersTimeout, maxCheckMs),
  }
  const options = {
    bodyLimit,
    genReqId: () => randomUUID(),
    rewriteUrl: ({ url = '' }: { readonly url?: string }) => compatUrl(plainUrl(url)),
    requestIdHeader: false,
    forceCloseConnections: true,
    trustProxy: proxies.trusts,
    routerOptions: { ignoreTrailingSlash: true },
    schemaController: schemaCompilers(compiled),
    // Fastify disables Node's timeout, so a slow request would hold its connection.
    requestTimeout: 30_000,
    connectionTimeout,
    // Handles errors before the routing, such as a malformed URL.
    frameworkErrors: (error: FastifyError, request: FastifyRequest, reply: FastifyReply) =>
      sendFault(request, reply.header('x-request-id', request.id), faultOf(error)),
  } as const
  // The plain and the TLS server differ only in their class.
  const site = certificate
    ? (fastify({
        ...options,
        https: { ...ofServer, ...certificate, minVersion, handshakeTimeout },
      }) as unknown as FastifyInstance)
    : fastify({ ...options, http: ofServer })
  // Must run before any code reads the source of a request.
  site.addHook('onRequest', async ({ raw }) => dropForwardedPorts(raw))
  useErrorBodies(site, { log, metrics })
  useValidation(site, compiled)
  usePrincipals(site)
  useAccessLog(site, log, clock)
  useApiHeaders(site)
  return site
}

const useAccessLog = (site: FastifyInstance, log: Log, clock: Pick<Clock, 'now'>): void => {
  const started = new WeakMap<object, number>()
  site.addHook('onRequest', async (request, reply) => {
    started.set(request, clock.now())
    reply.header('x-request-id', request.id)
  })
  site.addHook('onResponse', async (request, reply) => {
    const path = pathOf(request.url)
    const ms = clock.now() - (started.get(request) ?? clock.now())
    const facts = {
      event: 'http.request-answered',
      request: request.id,
      method: request.method,
      path,
      status: reply.statusCode,
      ms,
      source: request.ip,
      ...(request.projectId && { project: request.projectId }),
      // The id tells which token to revoke. The name of the field is none that the log redacts.
      ...(request.apiTokenId && { apiToken: request.apiTokenId }),
    }
    log[isApiPath(path) ? 'info' : 'debug'](facts, 'request answered')
  })
}

/** Sets the headers of API responses against caching and content sniffing. */
const useApiHeaders = (site: FastifyInstance): void => {
  site.addHook('onRequest', async (request, reply) => {
    if (!isApiPath(pathOf(request.url))) return
    reply.headers({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
  })
}

/** Time in seconds for which browsers use only HTTPS for this host. */
const strictSeconds = 180 * 86_400

/**
 * Sends `Strict-Transport-Security` (RFC 6797) while `isAccepted`, that is, while browsers accept the
 * certificate of the listener.
 */
export const useStrictTransport = (site: FastifyInstance, isAccepted: () => boolean): void => {
  // Set on the raw response, because oidc-provider writes its pages without Fastify.
  site.addHook('onRequest', async (_request, { raw }) => {
    if (isAccepted()) raw.setHeader('strict-transport-security', `max-age=${strictSeconds}`)
  })
}

/** Permits pages of the allowed origins to use the API (CORS of the Fetch standard). */
export const useCors = async (site: FastifyInstance, origins: Origins): Promise<void> => {
  await site.register(fastifyCors, {
    delegator: (request, callback) => {
      const { origin, host } = request.headers
      const allowed =
        pathOf(request.url) === sessionPath ? origins.trusts(origin, host) : origins.allows(origin, host)
      callback(null, {
        origin: allowed ? (origin ?? '*') : false,
        methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
        allowedHeaders: ['authorization', 'content-type', 'idempotency-key'],
        exposedHeaders: [
          'x-request-id',
          'retry-after',
          'idempotent-replayed',
          'ratelimit-limit',
          'ratelimit-remaining',
          'ratelimit-reset',
        ],
        maxAge: 86_400,
        strictPreflight: false,
      })
    },
  })
}
