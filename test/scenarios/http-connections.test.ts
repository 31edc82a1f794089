import { once } from 'node:events'
import { request } from 'node:http'
import { connect, type Socket, type TcpSocketConnectOpts } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { embedded } from '../support/agents.ts'
import { application, scripted } from '../support/applications.ts'
import { Carrier } from '../support/carrier.ts'
import { Gateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'

const attacker = '127.0.0.66'
const client = '127.0.0.67'

let gateway: Gateway
const held: Socket[] = []

beforeAll(async () => {
  gateway = await Gateway.start({
    agent: embedded,
    http: { maxConnections: 40, maxConnectionsPerAddress: 6, headersTimeout: '1s' },
    domains: [application('desk.test', scripted('answer', 'hangup'))],
  })
})

afterAll(async () => {
  for (const socket of held) socket.destroy()
  await gateway?.stop()
})

const hold = async (port: number, text = ''): Promise<Socket> => {
  const socket = connect({ host: '127.0.0.1', port, localAddress: attacker })
  socket.on('error', () => {}).resume()
  held.push(socket)
  await once(socket, 'connect')
  socket.write(text)
  return socket
}

/** Options of a TLS connection of the client, which accepts the self-signed certificate. */
const tlsOptions = () => {
  const at: TcpSocketConnectOpts = { host: '127.0.0.1', port: gateway.tlsPort, localAddress: client }
  return { ...at, rejectUnauthorized: false }
}

const statusFor = async (localAddress: string): Promise<number | undefined> => {
  const asking = request({ host: '127.0.0.1', port: gateway.httpPort, path: '/healthz', localAddress })
  asking.end()
  const [response] = await once(asking, 'response')
  response.resume()
  return response.statusCode
}

const dropped = (listener: string) => gateway.metric('http_connections_dropped_total', { listener })
const open = (listener: string) => gateway.metric('http_connections', { listener })

it('idle connections and half-sent requests of one address do not block other HTTP clients or calls', async () => {
  for (const text of ['', 'GET /healthz HTTP/1.1\r\nHost: gw']) {
    const sockets = await Promise.all(Array.from({ length: 30 }, () => hold(gateway.httpPort, text)))
    expect(await statusFor(client)).toBe(200)
    await until(
      'some are closed',
      () => sockets.filter(({ closed }) => closed).length,
      (n) => n >= 20,
    )
  }
  const call = await Carrier.calls(gateway, { domain: 'desk.test', scenario: 'caller-released' })
  await call.done()
  await gateway.settled()
  expect(await dropped('plain')).toBeGreaterThanOrEqual(20)
})

it('a connection that sends no complete request header in time is closed, in plain HTTP and TLS', async () => {
  const plain = await hold(gateway.httpPort, 'GET / HTTP/1.1\r\n')
  const tls = connectTls(tlsOptions())
  tls.on('error', () => {}).resume()
  held.push(tls)
  await once(tls, 'secureConnect')
  await until('both are closed', () => plain.closed && tls.closed)
  await until(
    'neither is counted',
    () => open('tls'),
    (count) => count === 0,
  )
})

it('TLS connections of one address over the limit are closed, and another address is served', async () => {
  const before = await dropped('tls')
  await Promise.all(Array.from({ length: 12 }, () => hold(gateway.tlsPort)))
  await until(
    'some are dropped',
    () => dropped('tls'),
    (count) => count >= before + 2,
  )
  const tls = connectTls(tlsOptions())
  held.push(tls)
  await once(tls, 'secureConnect')
})
