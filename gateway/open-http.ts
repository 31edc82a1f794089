import { fileURLToPath } from 'node:url'
import type { Certificates } from './auth/certificates.ts'
import { IdempotencyRows } from './directory/idempotency.ts'
import { type ApiFrom, apiPartsOf } from './http/api-parts.ts'
import { Idempotency } from './http/idempotency.ts'
import { RequestRates } from './http/limits.ts'
import { Origins } from './http/origins.ts'
import { ApiStreams } from './http/routes/compat/streams.ts'
import { HttpServers } from './http/servers.ts'
import type { Metrics } from './metrics.ts'
import type { Base, Customers, Store } from './open.ts'
import type { Dialects, OpenedCalls } from './open-calls.ts'
import { openChat } from './open-chat.ts'
import { openOAuth } from './open-oauth.ts'
import { vapidOptions } from './push/vapid.ts'
import type { Recordings } from './recordings/recordings.ts'
import type { Records } from './records/records.ts'
import { Entrance } from './rpc/entrance.ts'
import { RpcServer } from './rpc/server.ts'

/** What the HTTP side is made of. */
export interface HttpFrom extends Dialects {
  readonly store: Store
  readonly certificates: Certificates
  readonly customers: Pick<Customers, 'callbacks'>
  readonly opened: OpenedCalls
  readonly recordings: Recordings
  readonly records: Records
  /** Why no calls can be taken; empty when they can. */
  readonly reasons: () => readonly string[]
}

const builtPages = (folder: string) => fileURLToPath(new URL(`../${folder}/dist/`, import.meta.url))

/** Opens the HTTP listeners with their WebSockets; resolves with their URLs. Rejects when an address is taken. */
export const openHttp = async (base: Base, from: HttpFrom, metrics: Metrics): Promise<string[]> => {
  const { clock, log, closing } = base
  const { http: config, push } = base.config
  const { webPush } = push
  const { certificates, reasons } = from
  const { directory, tokens, pairs, revocations, access, secret } = from.store
  const parts = { metrics, clock, log, config }
  const rates = new RequestRates(clock, base.config.limits.api)
  const idempotency = new Idempotency({ rows: new IdempotencyRows(directory.store), secret, clock })
  metrics.gauge('tokens_checked', () => tokens.checked)
  metrics.gauge('tokens_revoked', () => revocations.size)
  metrics.gauge('api_callers', () => rates.size)
  const streams = new ApiStreams(clock)
  metrics.gauge('api_streams', () => streams.count)
  metrics.gauge('api_requests_repeatable', () => idempotency.size)
  const http = new HttpServers({
    ...{ ...parts, rates, idempotency },
    api: apiPartsOf({
      ...parts,
      ...(await openOAuth(base, from.store, metrics)),
      chat: openChat(base, from.store, from.subscribers, metrics),
      ...{ project: base.config.project, directory, tokens, pairs, access },
      ...{ recordings: from.recordings, records: from.records, calls: callsOf(from, streams) },
    }),
    certificate: certificates.material.https,
    readiness: { reasons },
    pages: { console: builtPages('console'), sdk: builtPages('client') },
    ...(webPush && { applicationServerKey: vapidOptions(webPush, secret).publicKey }),
  })
  closing.add('HTTP', http, (servers) => servers.close())
  certificates.onChange(({ https }) => https && http.renew(https))
  metrics.gauges('certificate_expires_seconds', ['name'], () =>
    [...certificates.secondsLeft].map(([name, value]) => ({ labels: { name }, value })),
  )
  const rpc = openWebSockets(base, from, metrics)
  await http.listen()
  for (const { server, connections } of http.upgradable)
    rpc.attach(server, (socket) => connections.release(socket))
  metrics.gauges('http_connections', ['listener'], () =>
    http.connections.map(({ listener, count: value }) => ({ labels: { listener }, value })),
  )
  return Object.entries(http.addresses).map(
    ([name, { address, port }]) => `${name === 'tls' ? 'https' : 'http'}://${urlHost(address)}:${port}/`,
  )
}

const callsOf = ({ opened, customers }: HttpFrom, streams: ApiStreams): ApiFrom['calls'] => {
  const { calls, placing, commands, conferences, queues } = opened
  const { callbacks } = customers
  return { placed: placing, commands, live: calls, asides: calls, conferences, queues, callbacks, streams }
}

const openWebSockets = (
  { config, clock, log, closing }: Base,
  { subscribers, applications }: Dialects,
  metrics: Metrics,
): RpcServer => {
  const { webSockets: limits, browsers } = config.limits
  const { connections, waiting, waitingPerAddress, signInTimeoutMs: signInMs } = limits
  const ofAddress = browsers.perAddress
  const rpc = new RpcServer({
    ...{ metrics, clock, log, maxFrame: limits.frame, maxBeforeSignIn: limits.bytesBeforeSignIn },
    sockets: {
      ...{ connections, waiting, waitingPerAddress, perAddress: ofAddress.connections },
      perAddressMinute: ofAddress.connectionsPerMinute,
    },
    limits: { maxBuffered: limits.buffered, requestsPerSecond: limits.requestsPerSecond },
    origins: new Origins(config.http.origins),
    trustedProxies: config.http.trustedProxies,
    open: (session, { address }) => {
      const subscriber = () => subscribers.open(session)
      const application = () => applications.open(session, address)
      const ofApplication = limits.requestsPerSecondOfApplication
      return new Entrance({ subscriber, application }, session, clock, { signInMs, ofApplication })
    },
  })
  metrics.gauge('websockets', () => rpc.sockets)
  metrics.gauge('websockets_waiting', () => rpc.waiting)
  return closing.add('WebSockets', rpc, (server) => server.close())
}

/** An IPv6 address stands in brackets in a URL (RFC 3986 section 3.2.2); an unspecific one is opened as localhost. */
const urlHost = (address: string): string => {
  if (address === '0.0.0.0' || address === '::' || address === '127.0.0.1') return 'localhost'
  return address.includes(':') ? `[${address}]` : address
}
