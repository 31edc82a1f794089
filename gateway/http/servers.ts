import { randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Server as TlsServer } from 'node:tls'
import fastifyCors from '@fastify/cors'
import fastify, { type FastifyInstance } from 'fastify'
import type { HttpConfig } from '../../config/types.ts'
import type { Certificate } from '../auth/certificate.ts'
import type { ProjectAccess } from '../auth/project-access.ts'
import type { SubscriberTokens } from '../auth/tokens.ts'
import type { Clock } from '../clock.ts'
import type { Directory } from '../directory/types.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { Attempts } from './attempts.ts'
import { basic } from './basic.ts'
import { bearer } from './bearer.ts'
import { pathOf, useErrorBodies } from './errors.ts'
import { Origins } from './origins.ts'
import { type Pages, servePages } from './pages.ts'
import { addressRoutes } from './routes/addresses.ts'
import { healthRoutes, metricsRoute, type Readiness } from './routes/operations.ts'
import { type RecordingParts, recordingRoutes } from './routes/recordings.ts'
import { schemaRoutes } from './routes/schemas.ts'
import { sessionPath, sessionRoute } from './routes/session.ts'
import { settingsRoute } from './routes/settings.ts'
import { subscriberRoute } from './routes/subscriber.ts'

const bodyLimit = 1 << 20
const tokenSeconds = 24 * 3600
const minVersion = 'TLSv1.2'

/** What the HTTP side works with. */
export interface HttpParts {
  readonly config: HttpConfig
  /** Needed when `config.tls` is on. */
  readonly certificate?: Certificate
  readonly directory: Pick<Directory, 'signIn' | 'subscriber' | 'addresses'>
  readonly tokens: Pick<SubscriberTokens, 'issue' | 'verify'>
  readonly metrics: Pick<Metrics, 'text' | 'registry' | 'rejections'>
  readonly readiness: Readiness
  readonly pages: Pages
  /** Absent: there are no routes of recordings. */
  readonly recordings?: RecordingParts['recordings']
  /** What the API's Basic auth is checked against. */
  readonly access: ProjectAccess
  readonly clock: Clock
  readonly log: Log
}

/** A place where one listener listens. */
export interface BoundAddress {
  readonly address: string
  readonly port: number
}

/** The HTTP listeners: plain and TLS with the same routes but `/metrics`, and the operators' own one where it is configured. */
export class HttpServers {
  #parts: HttpParts
  #perAddress: Attempts
  #perEmail: Attempts
  #running: { readonly name: ListenerName; readonly site: FastifyInstance }[] = []

  constructor(parts: HttpParts) {
    this.#parts = parts
    this.#perAddress = new Attempts(parts.clock, { attempts: 30, windowMs: 60_000 })
    this.#perEmail = new Attempts(parts.clock, { attempts: 10, windowMs: 60_000 })
  }

  /** Starts every configured listener; when one fails, the others are closed and the error names the address. */
  async listen(): Promise<void> {
    const { plain, tls, metrics } = this.#parts.config
    try {
      if (plain) await this.#start('plain', await this.site(), plain)
      if (tls) await this.#start('tls', await this.site(this.#certificate()), tls)
      if (metrics) await this.#start('metrics', await this.operationsSite(), metrics)
    } catch (error) {
      await this.close()
      throw error
    }
  }

  /** Where each listener is bound. */
  get addresses(): Readonly<Partial<Record<ListenerName, BoundAddress>>> {
    const bound = this.#running.map(({ name, site }) => {
      const { address, port } = site.server.address() as AddressInfo
      return [name, { address, port }] as const
    })
    return Object.fromEntries(bound)
  }

  /** The servers on which WebSockets may be opened. */
  get upgradable(): readonly Server[] {
    return this.#running.filter(({ name }) => name !== 'metrics').map(({ site }) => site.server)
  }

  /** Shows another certificate from now on; connections that are open keep theirs. Nothing where HTTPS is off. */
  renew({ cert, key }: Certificate): void {
    for (const { name, site } of this.#running)
      if (name === 'tls') (site.server as unknown as TlsServer).setSecureContext({ cert, key, minVersion })
  }

  /** Idempotent. WebSockets must be closed first: a server waits for its connections. */
  async close(): Promise<void> {
    await Promise.all(this.#running.splice(0).map(({ site }) => site.close()))
  }

  /** One listener with every route, not listening yet; with a certificate it is the TLS one. */
  async site(certificate?: Certificate): Promise<FastifyInstance> {
    const { config, metrics, log, directory, tokens } = this.#parts
    const site = newSite(certificate)
    useErrorBodies(site, log, metrics)
    useAccessLog(site, log, this.#parts.clock)
    const origins = new Origins(config.origins)
    await useCors(site, origins)
    const authenticate = bearer(tokens, directory)
    sessionRoute(site, {
      directory,
      tokens,
      origins,
      log,
      perAddress: this.#perAddress,
      perEmail: this.#perEmail,
      tokenSeconds,
    })
    subscriberRoute(site, { directory, authenticate })
    addressRoutes(site, { directory, authenticate })
    settingsRoute(site, 'Trunkline')
    schemaRoutes(site)
    await this.#recordings(site)
    if (config.metrics === null) {
      healthRoutes(site, this.#parts.readiness)
      // The TLS listener is the one for the world.
      if (!certificate) metricsRoute(site, metrics)
    }
    await servePages(site, this.#parts.pages, log)
    return site
  }

  /** The operators' own listener, not listening yet. */
  async operationsSite(): Promise<FastifyInstance> {
    const site = newSite()
    useErrorBodies(site, this.#parts.log, this.#parts.metrics)
    healthRoutes(site, this.#parts.readiness)
    metricsRoute(site, this.#parts.metrics)
    return site
  }

  async #recordings(site: FastifyInstance): Promise<void> {
    const { recordings, access } = this.#parts
    if (recordings) await recordingRoutes(site, { recordings, authenticate: basic(access) })
  }

  #certificate(): Certificate {
    if (!this.#parts.certificate) throw new Error('http.tls is on and there is no certificate.')
    return this.#parts.certificate
  }

  async #start(name: ListenerName, site: FastifyInstance, at: BoundAddress): Promise<void> {
    this.#running.push({ name, site })
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

type ListenerName = 'plain' | 'tls' | 'metrics'

const newSite = (certificate?: Certificate): FastifyInstance => {
  const options = {
    bodyLimit,
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    forceCloseConnections: true,
    // Fastify turns the time-out of Node off; who sends a request this slowly only holds a connection.
    requestTimeout: 30_000,
  } as const
  if (!certificate) return fastify(options)
  // The routes are the same; only the server underneath is another class.
  return fastify({
    ...options,
    https: { ...certificate, minVersion },
  }) as unknown as FastifyInstance
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
      request: request.id,
      method: request.method,
      path,
      status: reply.statusCode,
      ms,
      source: request.ip,
    }
    log[path.startsWith('/api/') ? 'info' : 'debug'](facts, 'request')
  })
}

const useCors = async (site: FastifyInstance, origins: Origins): Promise<void> => {
  await site.register(fastifyCors, {
    delegator: (request, callback) => {
      const { origin, host } = request.headers
      const allowed =
        pathOf(request.url) === sessionPath ? origins.trusts(origin, host) : origins.allows(origin, host)
      callback(null, {
        origin: allowed ? (origin ?? '*') : false,
        methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
        allowedHeaders: ['authorization', 'content-type'],
        exposedHeaders: ['x-request-id', 'retry-after'],
        maxAge: 86_400,
        strictPreflight: false,
      })
    },
  })
}
