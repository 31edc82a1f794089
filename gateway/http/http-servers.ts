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
import { listenError } from '../core/start-error.ts'
import type { Origins } from '../core/web/origins.ts'
import type { TrustedProxies } from '../core/web/trusted-proxies.ts'

import { Connections } from './http-connections.ts'
import { minVersion, newSite, useCors, useStrictTransport } from './http-site.ts'
import { CompiledSchemas } from './requests/compiled-schemas.ts'
import type { IdempotentRequests } from './requests/idempotent-requests.ts'
import { useOpenApi } from './requests/openapi.ts'
import { type RequestLimits, useRequestLimits } from './requests/request-limits.ts'
import type { RestApi } from './rest-api.ts'
import { serveDocs } from './routes/docs-site.ts'
import { healthRoutes, metricsRoute, type Readiness } from './routes/health-routes.ts'
import { type OperatorDeps, operatorRoutes } from './routes/operator-routes.ts'
import { settingsRoute } from './routes/page-settings-route.ts'
import { serveReference } from './routes/reference-page.ts'
import { schemaRoutes } from './routes/schema-routes.ts'
import { type StaticPages, servePages } from './static-pages.ts'

/** Checks that every request passes before its route. */
export interface RequestGuards {
  readonly origins: Origins
  readonly proxies: Pick<TrustedProxies, 'trusts'>
  readonly rates: RequestLimits
  readonly idempotency: IdempotentRequests
}

/** Routes and pages that the listeners serve. */
export interface SiteContent {
  readonly api: Pick<RestApi, 'addTo'>
  readonly readiness: Readiness
  readonly pages: StaticPages
  /** Folder of the built site of the documentation, served at `/docs/`. */
  readonly docs: string
  /** Returns the public key of Web Push; undefined if it is not set up. */
  readonly applicationServerKey: () => string | undefined
  /** Routes of the operator; default none. */
  readonly operator?: OperatorDeps
}

/** Collaborators of {@link HttpServers}. */
export interface HttpServersDeps {
  readonly config: HttpConfig
  /** Required if `config.tls` is on. */
  readonly certificate?: Certificate
  readonly guards: RequestGuards
  readonly content: SiteContent
  readonly metrics: Pick<Metrics, 'text' | 'registry' | 'rejections' | 'httpConnectionsDropped'>
  readonly clock: Clock
  readonly log: Log
}

/** Address that a listener is bound to. */
export interface BoundAddress {
  readonly address: string
  readonly port: number
}

/**
 * Delay in ms after the start before unused schemas are compiled, because compiling takes half a second of
 * CPU that the first calls need.
 */
const prepareAfterMs = 10_000

/**
 * HTTP listeners: plain and TLS, with the same routes except `/metrics`, and one for operators if it is
 * configured.
 */
export class HttpServers {
  readonly #deps: HttpServersDeps
  /** Settings in force, which {@link change} replaces. */
  #http: HttpConfig
  /** Shared by all sites, as they have the same routes. */
  readonly #compiled = new CompiledSchemas()
  #preparing: Timer | undefined
  #running: Running[] = []

  constructor(deps: HttpServersDeps) {
    this.#deps = deps
    this.#http = deps.config
  }

  /** Starts every configured listener. If one fails, closes the others and rejects with its address. */
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

  /** Bound address of each open listener, by name. */
  get addresses(): Readonly<Partial<Record<ListenerName, BoundAddress>>> {
    const bound = this.#running.map(({ name, site }) => {
      const { address, port } = site.server.address() as AddressInfo
      return [name, { address, port }] as const
    })
    return Object.fromEntries(bound)
  }

  /** Whether the plain listener serves the metrics. */
  get servesMetrics(): boolean {
    const { plain, metrics } = this.#deps.config
    return metrics === null && plain !== false && isLoopback(plain.address)
  }

  /** Servers on which WebSockets may be opened, with their connection counters. */
  get upgradable(): readonly { readonly server: Server; readonly connections: Connections }[] {
    const open = this.#running.filter(({ name }) => name !== 'metrics')
    return open.map(({ site, connections }) => ({ server: site.server, connections }))
  }

  /** Number of connections of each listener, without WebSockets. */
  get connections(): readonly { readonly listener: string; readonly count: number }[] {
    return this.#running.map(({ name, connections }) => ({ listener: name, count: connections.size }))
  }

  /** Uses another certificate for new connections. Has no effect if HTTPS is off. */
  renew({ cert, key }: Certificate): void {
    for (const { name, site } of this.#running)
      if (name === 'tls') (site.server as unknown as TlsServer).setSecureContext({ cert, key, minVersion })
  }

  /** Applies changed connection limits. `Strict-Transport-Security` depends on the new TLS settings. */
  change(http: HttpConfig): void {
    this.#http = http
    for (const { connections } of this.#running) connections.change(http)
  }

  /**
   * Closes the listeners. WebSockets must be closed first, because a server waits for its connections.
   * Idempotent.
   */
  async close(): Promise<void> {
    this.#preparing?.cancel()
    this.#compiled.stop()
    await Promise.all(this.#running.splice(0).map(({ site }) => site.close()))
  }

  /**
   * Returns the site of the TLS listener if a certificate is given, otherwise of the plain one. The site does
   * not listen yet.
   */
  async site(certificate?: Certificate): Promise<FastifyInstance> {
    const { config, guards, content, metrics, clock, log } = this.#deps
    const { origins, proxies, rates, idempotency } = guards
    const site = newSite({ config, metrics, clock, log, proxies, compiled: this.#compiled }, certificate)
    // Sent only for an operator's certificate: with a self-signed one, browsers must be able to return to
    // plain HTTP.
    if (certificate) useStrictTransport(site, () => isGiven(this.#http.tls))
    await useCors(site, origins)
    await useRequestLimits(site, rates)
    idempotency.use(site)
    await useOpenApi(site)
    await content.api.addTo(site)
    settingsRoute(site, 'Trunkline', content.applicationServerKey)
    if (content.operator) operatorRoutes(site, content.operator)
    schemaRoutes(site)
    if (config.metrics === null) {
      healthRoutes(site, content.readiness)
      // Listeners with TLS, and on addresses other than loopback, may be public and do not serve the metrics.
      if (!certificate && this.servesMetrics) metricsRoute(site, metrics)
    }
    serveReference(site)
    await serveDocs(site, content.docs)
    await servePages(site, content.pages, log)
    return site
  }

  /** Returns the site of the operators' listener. The site does not listen yet. */
  async operationsSite(): Promise<FastifyInstance> {
    const { config, content, metrics, clock, log } = this.#deps
    const site = newSite({ config, metrics, clock, log })
    healthRoutes(site, content.readiness)
    metricsRoute(site, metrics)
    return site
  }

  /** Compiles the remaining schemas, so that no request has to wait for the compilation. */
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
      throw listenError({ key: `http.${name}`, protocol: 'tcp', ...at }, error)
    }
  }
}

/** Whether the operator has configured a certificate. */
const isGiven = (tls: HttpConfig['tls']): boolean => tls !== false && tls.certificate !== undefined

type ListenerName = 'plain' | 'tls' | 'metrics'

interface Running {
  readonly name: ListenerName
  readonly site: FastifyInstance
  readonly connections: Connections
}
