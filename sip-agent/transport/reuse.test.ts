import { once } from 'node:events'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { FakeClock } from '../clock.ts'
import { defaultMessageLimits } from '../message/limits.ts'
import { makeAuthority, type TestAuthority } from '../testing/certificates.ts'
import { inviteText } from '../testing/messages.ts'
import { TestSink } from '../testing/sink.ts'
import type { SipCertificate, SipTls } from './transport-settings.ts'
import { Transports } from './transports.ts'
import { openGate } from './types.ts'

let authority: TestAuthority
let stranger: TestAuthority
let tls: SipTls
let client: SipCertificate
let clock: FakeClock
let sinks: [TestSink, TestSink]
let near: Transports
let far: Transports
let socket: TLSSocket | undefined

beforeAll(async () => {
  authority = await makeAuthority()
  stranger = await makeAuthority('stranger')
  client = await authority.issue({ uris: ['sip:client.example'] })
  const main = await authority.issue({ dns: ['carrier.example'] })
  const ca = authority.certificate
  tls = { ...main, names: [], ca, clientCertificates: 'request', minVersion: 'TLSv1.2' }
})
beforeEach(async () => {
  clock = new FakeClock()
  sinks = [new TestSink(), new TestSink()]
  const [one, two] = sinks.map(
    (sink) =>
      new Transports({
        sink,
        limits: defaultMessageLimits,
        clock,
        maxConnections: 100,
        gatekeeper: openGate,
        tls,
      }),
  )
  near = one as Transports
  far = two as Transports
  for (const each of [near, far]) await each.open({ transport: 'tls', address: '127.0.0.1', port: 0 })
})
afterEach(async () => {
  socket?.destroy()
  await Promise.all([near.close(), far.close()])
  while (near.connections + far.connections > 0) await new Promise(setImmediate)
  expect(clock.running).toBe(0)
})

const portOf = (transports: Transports) => transports.addresses[0]?.port as number

/** A client's connection that has brought this request to `far`. */
const connected = async (text: string, options: ConnectionOptions = {}) => {
  const ca = authority.certificate
  const own = connect({
    port: portOf(far),
    host: '127.0.0.1',
    ca,
    checkServerIdentity: () => undefined,
    ...options,
  })
  socket = own
  own.on('error', () => {})
  await once(own, 'secureConnect')
  own.write(text)
  return { own, flow: await sinks[1].flow() }
}

describe('requests to a client (RFC 5923)', () => {
  // Its Via names port 5061.
  const aliased = inviteText.replace(';rport,', ';rport;alias,')
  const find = (host: string, port = 5061) =>
    far.flow({ protocol: 'tls', address: '127.0.0.1', port, host }, 'us')

  it('use its connection if its certificate proves the host', async () => {
    const { flow } = await connected(aliased, { cert: client.certificate, key: client.key })
    expect(find('Client.example')).toBe(flow)
    expect(find('client.example', flow.remote.port)).toBe(flow)
    for (const host of ['else.example', '127.0.0.1']) expect(find(host)).not.toBe(flow)
  })

  it('use a new connection without an alias', async () => {
    const { flow } = await connected(inviteText, { cert: client.certificate, key: client.key })
    expect(find('client.example')).not.toBe(flow)
  })

  it.each([
    ['has no certificate', async () => ({})],
    [
      'has one of an unknown authority',
      async () => {
        const { certificate: cert, key } = await stranger.issue({ uris: ['sip:client.example'] })
        return { cert, key }
      },
    ],
  ])('do not where it %s, but for the port that it has', async (_what, options) => {
    const { flow } = await connected(aliased, await options())
    expect(find('client.example')).not.toBe(flow)
    expect(find('127.0.0.1', flow.remote.port)).toBe(flow)
    expect(find('client.example', flow.remote.port)).not.toBe(flow)
  })
})

it('a response whose connection has closed goes to the host and port of the Via (RFC 3261 18.2.2)', async () => {
  const { own, flow } = await connected(inviteText)
  const via = { host: 'carrier.example', port: portOf(near) }
  expect(far.back(flow, via)).toBe(flow)
  own.destroy()
  await sinks[1].until(() => sinks[1].losses.length > 0)
  far.back(flow, via)?.send(Buffer.from(inviteText))
  expect((await sinks[0].flow()).local).toEqual(near.addresses[0])
})

it('connections opened for responses close no others', async () => {
  await far.close()
  far = new Transports({
    sink: sinks[1],
    limits: defaultMessageLimits,
    clock,
    maxConnections: 4,
    gatekeeper: openGate,
    tls,
  })
  await far.open({ transport: 'tls', address: '127.0.0.1', port: 0 })
  const hop = { protocol: 'tls', address: '127.0.0.1', port: portOf(near), host: 'carrier.example' } as const
  const ours = far.flow(hop, 'us')
  const { own, flow } = await connected(inviteText)
  own.destroy()
  await sinks[1].until(() => flow.isClosed)
  const made = [1, 2, 3].map((port) => far.back(flow, { host: 'client.example', port }))
  expect(made.map((each) => each !== undefined)).toEqual([true, false, false])
  expect(far.flow(hop, 'us')).toBe(ours)
})
