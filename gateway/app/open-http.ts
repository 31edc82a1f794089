import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Config } from '../../config/types.ts'
import type { Certificates } from '../auth/certificates.ts'
import type { Metrics } from '../core/metrics.ts'
import type { Origins } from '../core/web/origins.ts'
import { TrustedProxies } from '../core/web/trusted-proxies.ts'
import { IdempotencyRows } from '../directory/tables/idempotency.ts'
import { HttpServers } from '../http/http-servers.ts'
import { IdempotentRequests } from '../http/requests/idempotent-requests.ts'
import { RequestLimits } from '../http/requests/request-limits.ts'
import type { RestApi } from '../http/rest-api.ts'
import type { OperatorDeps } from '../http/routes/operator-routes.ts'
import { vapidOptions } from '../push/vapid.ts'
import type { RealtimeDialect } from '../rpc/realtime/realtime-dialect.ts'
import { RpcServer, type RpcServerDeps, type RpcServerSettings } from '../rpc/rpc-server.ts'
import { SignInHandler } from '../rpc/sign-in-handler.ts'
import type { AppContext, OpenedStore } from './open.ts'
import type { OpenedBrowsers } from './open-browsers.ts'
import type { ListenAddresses, ServedPages } from './startup-banner.ts'

/** JSON-RPC dialects of browsers and of realtime applications. */
export interface Dialects {
  readonly browsers: Pick<OpenedBrowsers, 'connect'>
  readonly applications: Pick<RealtimeDialect, 'open'>
}

/** Collaborators of {@link openHttp}. */
export interface OpenHttpDeps {
  readonly store: Pick<OpenedStore, 'directory' | 'secret'>
  readonly certificates: Certificates
  readonly origins: Origins
  readonly api: RestApi
  readonly dialects: Dialects
  readonly operator: OperatorDeps
  /** Returns the reasons for which the gateway accepts no calls; empty if it accepts calls. */
  readonly reasons: () => readonly string[]
}

const docs = fileURLToPath(new URL('../../docs/.vitepress/dist/', import.meta.url))

const builtPages = (folder: string) => fileURLToPath(new URL(`../../${folder}/dist/`, import.meta.url))

/** Returns which built pages the listeners serve. */
export const servedPages = (): ServedPages => ({
  hasSoftphone: existsSync(builtPages('console')),
  hasDocs: existsSync(docs),
})

/**
 * Opens the HTTP listeners with their WebSockets. Resolves with their URLs; rejects if an address is in use.
 */
export const openHttp = async (
  base: AppContext,
  { store, certificates, origins, api, dialects, operator, reasons }: OpenHttpDeps,
  metrics: Metrics,
): Promise<Omit<ListenAddresses, 'sip'>> => {
  const { clock, log, closing } = base
  const { http: config } = base.config
  const { directory, secret } = store
  const proxies = new TrustedProxies(config.trustedProxies)
  const rates = new RequestLimits(clock, base.config.limits.api)
  const idempotency = new IdempotentRequests({ rows: new IdempotencyRows(directory.store), secret, clock })
  metrics.gauge('api_callers', () => rates.size)
  metrics.gauge('api_requests_repeatable', () => idempotency.size)
  let { push } = base.config
  const http = new HttpServers({
    config,
    certificate: certificates.material.https,
    guards: { origins, proxies, rates, idempotency },
    content: {
      api,
      readiness: { reasons },
      docs,
      pages: { console: builtPages('console'), sdk: builtPages('client') },
      applicationServerKey: () => keyOf(push, secret),
      operator,
    },
    metrics,
    clock,
    log,
  })
  base.followers.change('HTTP', (next) => {
    push = next.push
    origins.change(next.http.origins)
    proxies.change(next.http.trustedProxies)
    rates.change(next.limits.api)
    http.change(next.http)
  })
  closing.add('HTTP', http, (servers) => servers.close())
  certificates.onChange(({ https }) => https && http.renew(https))
  metrics.gauges('certificate_expires_seconds', ['name'], () =>
    [...certificates.secondsLeft].map(([name, value]) => ({ labels: { name }, value })),
  )
  const rpc = openWebSockets(base, dialects, metrics, { origins, proxies })
  await http.listen()
  for (const { server, connections } of http.upgradable)
    rpc.attach(server, (socket) => connections.release(socket))
  metrics.gauges('http_connections', ['listener'], () =>
    http.connections.map(({ listener, count: value }) => ({ labels: { listener }, value })),
  )
  return urlsOf(http)
}

/** Returns the URLs of the open listeners. */
const urlsOf = ({
  addresses: { plain, tls, metrics },
  servesMetrics,
}: HttpServers): Omit<ListenAddresses, 'sip'> => {
  const plainUrl = plain && `http://${urlHost(plain.address)}:${plain.port}/`
  const withMetrics = metrics
    ? `http://${urlHost(metrics.address)}:${metrics.port}/`
    : servesMetrics
      ? plainUrl
      : undefined
  return {
    http: [
      ...(plainUrl === undefined ? [] : [plainUrl]),
      ...(tls ? [`https://${urlHost(tls.address)}:${tls.port}/`] : []),
    ],
    ...(withMetrics !== undefined && { metrics: `${withMetrics}metrics` }),
  }
}

const openWebSockets = (
  { config, clock, log, closing, followers }: AppContext,
  { browsers, applications }: Dialects,
  metrics: Metrics,
  access: Pick<RpcServerDeps, 'origins' | 'proxies'>,
): RpcServer => {
  let { webSockets: limits } = config.limits
  const open: RpcServerDeps['open'] = (session, { address }) => {
    const dialects = {
      subscriber: () => browsers.connect(session),
      application: () => applications.open(session, address),
    }
    return new SignInHandler(dialects, session, clock, {
      signInMs: limits.signInTimeoutMs,
      applicationRequestsPerSecond: limits.requestsPerSecondOfApplication,
    })
  }
  const rpc = new RpcServer({ ...access, open, metrics, clock, log }, socketSettings(config))
  followers.change('limits.webSockets', (next) => {
    limits = next.limits.webSockets
    rpc.change(socketSettings(next))
  })
  metrics.gauge('websockets', () => rpc.sockets)
  metrics.gauge('websockets_waiting', () => rpc.waiting)
  return closing.add('WebSockets', rpc, (server) => server.close())
}

const socketSettings = ({ limits }: Pick<Config, 'limits'>): RpcServerSettings => {
  const { connections, waiting, waitingPerAddress, ...own } = limits.webSockets
  const { connections: perAddress, connectionsPerMinute: perAddressMinute } = limits.browsers.perAddress
  return {
    maxFrame: own.frame,
    maxBeforeSignIn: own.bytesBeforeSignIn,
    sockets: { connections, waiting, waitingPerAddress, perAddress, perAddressMinute },
    limits: { maxBuffered: own.buffered, requestsPerSecond: own.requestsPerSecond },
  }
}

const keyOf = ({ webPush }: Config['push'], secret: Uint8Array): string | undefined =>
  webPush && vapidOptions(webPush, secret).publicKey

/**
 * Returns the host of a URL: an IPv6 address in brackets (RFC 3986 section 3.2.2), and `localhost` for an
 * unspecified address.
 */
const urlHost = (address: string): string => {
  if (address === '0.0.0.0' || address === '::' || address === '127.0.0.1') return 'localhost'
  return address.includes(':') ? `[${address}]` : address
}
