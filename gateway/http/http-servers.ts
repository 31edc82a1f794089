import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Server as TlsServer } from 'node:tls'
import { isLoopback } from '@trunkline/sip-agent/networks'
import type { FastifyInstance } from 'fastify'
import type { HttpConfig } from '../../config/types.ts'
import type { Certificate } from '../auth/certificate.ts'
import type { Clock, Timer } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { Metrics } from '../core/metrics.ts'
import { Origins } from '../core/web/origins.ts'
import { TrustedProxies } from '../core/web/trusted-proxies.ts'
import { Connections } from './http-connections.ts'
import { minVersion, newSite, useCors, useStrictTransport } from './http-site.ts'
import { CompiledSchemas } from './requests/compiled-schemas.ts'
import { errorPages } from './requests/error-pages.ts'
import type { IdempotentRequests } from './requests/idempotent-requests.ts'
import { useOpenApi } from './requests/openapi.ts'
import { type RequestLimits, useRequestLimits } from './requests/request-limits.ts'
import { type ApiDeps, apiRoutes } from './routes/api-routes.ts'
import { healthRoutes, metricsRoute, type Readiness } from './routes/health-routes.ts'
import { type OperatorDeps, operatorRoutes } from './routes/operator-routes.ts'
import { settingsRoute } from './routes/page-settings-route.ts'
import { schemaRoutes } from './routes/schema-routes.ts'
import { type StaticPages, servePages } from './static-pages.ts'

/** Collaborators of {@link HttpServers}. */
export interface HttpDeps {
  readonly config: HttpConfig
  /** Needed when `config.tls` is on. */
  readonly certificate?: Certificate
  readonly api: ApiDeps
  readonly rates: RequestLimits
  readonly idempotency: IdempotentRequests
  readonly metrics: Pick<Metrics, 'text' | 'registry' | 'rejections' | 'httpConnectionsDropped'>
  readonly readiness: Readiness
  readonly pages: StaticPages
  /** Of Web Push; undefined where it is not set up. */
  readonly applicationServerKey?: string | undefined
  /** The operator's own routes; default none. */
  readonly operator?: OperatorDeps
  /** Default: those of the configuration. */
  readonly origins?: Origins
  readonly proxies?: TrustedProxies
  readonly clock: Clock
  readonly log: Log
}

/** A place where one listener listens. */
export interface BoundAddress {
  readonly address: string
  readonly port: number
}

/**
 * When what checks requests is made, where none has needed it yet: half a second of work, which the rush of a
 * start goes before.
 */
const prepareAfterMs = 10_000

/**
 * The HTTP listeners: plain and TLS with the same routes but `/metrics`, and the operators' own one where it
 * is configured.
 */
export class HttpServers {
  #deps: HttpDeps
  /** Other than at the start only in what {@link change} takes. */
  #http: HttpConfig
  /** Of every site: they have the same routes. */
  readonly #compiled = new CompiledSchemas()
  #preparing: Timer | undefined
  #running: Running[] = []

  constructor(deps: HttpDeps) {
    this.#deps = deps
    this.#http = deps.config
  }

  /**
   * Starts every configured listener; when one fails, the others are closed and the error names the address.
   */
  async listen(): Promise<void> {
    const { plain, tls, metrics } = this.#deps.config
    try {
      if (plain) await this.#start('plain', await this.site(), plain)
      if (tls) await this.#start('tls', await this.site(this.#certificate()), tls)
      if (metrics) await this.#start('metrics', await this.operationsSite(), metrics)
    } catch (error) {
      await this.close()
      throw error
    }
    this.#preparing = this.#deps.clock.after(prepareAfterMs, () => void this.#prepare())
  }

  /** Bound address of each listener. */
  get addresses(): Readonly<Partial<Record<ListenerName, BoundAddress>>> {
    const bound = this.#running.map(({ name, site }) => {
      const { address, port } = site.server.address() as AddressInfo
      return [name, { address, port }] as const
    })
    return Object.fromEntries(bound)
  }

  /** The servers on which WebSockets may be opened, with the connections that they count. */
  get upgradable(): readonly { readonly server: Server; readonly connections: Connections }[] {
    const open = this.#running.filter(({ name }) => name !== 'metrics')
    return open.map(({ site, connections }) => ({ server: site.server, connections }))
  }

  /** Number of connections of each listener, without WebSockets. */
  get connections(): readonly { readonly listener: string; readonly count: number }[] {
    return this.#running.map(({ name, connections }) => ({ listener: name, count: connections.size }))
  }

  /**
   * Shows another certificate from now on; connections that are open keep theirs. Nothing where HTTPS is off.
   */
  renew({ cert, key }: Certificate): void {
    for (const { name, site } of this.#running)
      if (name === 'tls') (site.server as unknown as TlsServer).setSecureContext({ cert, key, minVersion })
  }

  /**
   * Counts connections of every listener against these limits, and shows that HTTPS is kept where the
   * certificate is the operator's.
   */
  change(http: HttpConfig): void {
    this.#http = http
    for (const { connections } of this.#running) connections.change(http)
  }

  /** Idempotent. WebSockets must be closed first: a server waits for its connections. */
  async close(): Promise<void> {
    this.#preparing?.cancel()
    this.#compiled.stop()
    await Promise.all(this.#running.splice(0).map(({ site }) => site.close()))
  }

  /** One listener with every route, not listening yet; with a certificate it is the TLS one. */
  async site(certificate?: Certificate): Promise<FastifyInstance> {
    const { config, metrics, log, rates, idempotency } = this.#deps
    const { clock, origins = new Origins(config.origins) } = this.#deps
    const proxies = this.#deps.proxies ?? new TrustedProxies(config.trustedProxies)
    const common = { config, metrics, clock, log, proxies, compiled: this.#compiled }
    const site = newSite(common, certificate)
    // A browser that has met a certificate of its own making must be able to come back without one.
    if (certificate) useStrictTransport(site, () => isGiven(this.#http.tls))
    await useCors(site, origins)
    await useRequestLimits(site, rates)
    idempotency.use(site)
    await useOpenApi(site)
    await apiRoutes(site, this.#deps.api)
    const deps = this.#deps
    settingsRoute(site, {
      name: 'Trunkline',
      get applicationServerKey() {
        return deps.applicationServerKey
      },
    })
    if (deps.operator) operatorRoutes(site, deps.operator)
    schemaRoutes(site)
    errorPages(site)
    if (config.metrics === null) {
      healthRoutes(site, this.#deps.readiness)
      // TLS and every address but loopback are for the world.
      if (!certificate && config.plain && isLoopback(config.plain.address)) metricsRoute(site, metrics)
    }
    await servePages(site, this.#deps.pages, log)
    return site
  }

  /** The operators' own listener, not listening yet. */
  async operationsSite(): Promise<FastifyInstance> {
    const { config, metrics, clock, log } = this.#deps
    const site = newSite({ config, metrics, clock, log })
    healthRoutes(site, this.#deps.readiness)
    metricsRoute(site, this.#deps.metrics)
    return site
  }

  /**
   * So that no request waits for what it is checked with; calls that came in while the gateway started do not
   * either.
   */
  async #prepare(): Promise<void> {
    await this.#compiled
      .all()
      .catch((err) =>
        this.#deps.log.error({ event: 'http.schema-rejected', err }, 'schema of a route rejected'),
      )
  }

  #certificate(): Certificate {
    if (!this.#deps.certificate) throw new Error('http.tls is on and there is no certificate.')
    return this.#deps.certificate
  }

  async #start(name: ListenerName, site: FastifyInstance, at: BoundAddress): Promise<void> {
    const connections = new Connections(name, this.#http, this.#deps)
    connections.watch(site.server)
    this.#running.push({ name, site, connections })
    try {
      await site.listen({ host: at.address, port: at.port })
    } catch (error) {
      this.#running.pop()
      await site.close()
      const reason = error instanceof Error ? error.message : String(error)
      throw new Error(`http.${name}: cannot listen on ${at.address}:${at.port}: ${reason}`, { cause: error })
    }
  }
}

/** Whether the certificate is the operator's, and not self-made. */
const isGiven = (tls: HttpConfig['tls']): boolean => tls !== false && tls.certificate !== undefined

type ListenerName = 'plain' | 'tls' | 'metrics'

interface Running {
  readonly name: ListenerName
  readonly site: FastifyInstance
  readonly connections: Connections
}
