import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import { type ConnectionOptions, connect, type PeerCertificate, type TLSSocket } from 'node:tls'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { FakeClock } from '../clock.ts'
import { defaultMessageLimits } from '../message/limits.ts'
import { makeAuthority, type TestAuthority } from '../testing/certificates.ts'
import { inviteText } from '../testing/messages.ts'
import { TestSink } from '../testing/sink.ts'
import type { SipCertificate, SipTls, SipTlsPeer } from './transport-settings.ts'
import { Transports } from './transports.ts'
import type { Hop } from './types.ts'
import { openGate } from './types.ts'

let authority: TestAuthority
let stranger: TestAuthority
let main: SipCertificate
let other: SipCertificate
let client: SipCertificate
let clock: FakeClock
let sink: TestSink
let near: Transports
let far: Transports
let farSink: TestSink
let failedHandshakes: number
let sockets: { destroy(): void }[]

beforeAll(async () => {
  authority = await makeAuthority()
  stranger = await makeAuthority('stranger')
  main = await authority.issue({ dns: ['carrier.example'], addresses: ['127.0.0.1'] })
  other = await authority.issue({ dns: ['other.example', '*.wild.example'] })
  client = await authority.issue({ uris: ['sip:client.example'] })
})

const make = (to: TestSink, tls: SipTls | undefined, tlsPeers: SipTlsPeer[] = []) =>
  new Transports({
    sink: to,
    limits: defaultMessageLimits,
    clock,
    maxConnections: 100,
    gatekeeper: { ...openGate, handshakeFailed: () => failedHandshakes++ },
    tls,
    tlsPeers,
  })

const settings = (more: Partial<SipTls> = {}): SipTls => ({
  ...main,
  names: [{ host: 'other.example', ...other }],
  ca: authority.certificate,
  clientCertificates: 'none',
  minVersion: 'TLSv1.2',
  ...more,
})

const peer = (hosts: string[], more: Partial<SipTlsPeer> = {}): SipTlsPeer => ({
  hosts,
  verify: true,
  alpn: [],
  ...more,
})

const listen = { transport: 'tls', address: '127.0.0.1', port: 0 } as const

/** Both ends: `near` is what is tested as a client, `far` as a server. */
const open = async (farTls: SipTls, nearTls = settings(), peers: SipTlsPeer[] = []) => {
  far = make(farSink, farTls)
  near = make(sink, nearTls, peers)
  await Promise.all([far.open(listen), near.open(listen)])
}

beforeEach(() => {
  clock = new FakeClock()
  sink = new TestSink()
  farSink = new TestSink()
  failedHandshakes = 0
  sockets = []
})
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  await Promise.all([near.close(), far.close()])
  while (near.connections + far.connections > 0) await new Promise(setImmediate)
  expect([near.connections, far.connections, clock.running]).toEqual([0, 0, 0])
})

const portOf = (transports: Transports) => transports.addresses[0]?.port as number

const hop = (host: string, address = '127.0.0.1'): Hop => ({
  protocol: 'tls',
  address,
  port: portOf(far),
  host,
})

/** Outcome of an INVITE: its arrival, or the reason of the failure. */
const call = (host: string): Promise<string> => {
  const before = farSink.messages.length
  const losses = sink.losses.length
  return new Promise((resolve) => {
    void sink.until(() => sink.losses.length > losses).then(() => resolve(sink.losses.at(-1) as string))
    near.flow(hop(host), 'us')?.send(Buffer.from(inviteText), resolve)
    void farSink.until(() => farSink.messages.length > before).then(() => resolve('arrived'))
  })
}

/** A TLS client made by hand. */
const dial = async (options: ConnectionOptions = {}): Promise<TLSSocket> => {
  const socket = connect({
    port: portOf(far),
    host: '127.0.0.1',
    ca: authority.certificate,
    checkServerIdentity: () => undefined,
    ...options,
  })
  socket.on('error', () => {})
  sockets.push(socket)
  await once(socket, 'secureConnect')
  return socket
}

describe('an outgoing connection', () => {
  it('is verified for the host of the URI', async () => {
    await open(settings())
    expect(await call('Carrier.Example')).toBe('arrived')
    expect(await call('127.0.0.1')).toBe('arrived')
    expect(await call('other.example')).toBe('arrived')
    // An address stands for the connection that is open to it; the two names have one each.
    expect(near.connections).toBe(2)
  })

  it('names the host in the error for a certificate of another host', async () => {
    await open(settings())
    const reason = await call('nobody.example')
    expect(reason).toBe(
      `tls 127.0.0.1:${portOf(far)} (nobody.example): the certificate is for carrier.example, 127.0.0.1, not for nobody.example`,
    )
    expect([sink.losses, farSink.messages]).toEqual([[reason], []])
  })

  it('fails without sending for a certificate of an unknown authority', async () => {
    await open(settings(), settings({ ca: stranger.certificate }))
    expect(await call('carrier.example')).toMatch(/\(carrier\.example\): self-signed certificate/)
    expect(farSink.messages).toEqual([])
  })

  it('uses the authority, name and verification of its peer', async () => {
    await open(settings(), settings({ ca: stranger.certificate }), [
      peer(['Carrier.example'], { ca: authority.certificate }),
      peer(['alias.example'], { ca: authority.certificate, serverName: 'other.example' }),
      peer(['x.wild.example'], { ca: authority.certificate, serverName: '*.wild.example' }),
      peer(['careless.example'], { verify: false }),
    ])
    expect(await call('carrier.example')).toBe('arrived')
    expect(await call('alias.example')).toBe('arrived')
    expect(await call('careless.example')).toBe('arrived')
    // The far end presents its main certificate for an unknown requested name.
    expect(await call('x.wild.example')).toContain('not for *.wild.example')
    expect(await call('unlisted.example')).toMatch(/self-signed certificate/)
  })

  it('sends its certificate and uses the requested protocol', async () => {
    await open(settings({ clientCertificates: 'require' }), settings(), [
      peer(['carrier.example'], { certificate: client.certificate, key: client.key, alpn: ['sip/2'] }),
    ])
    expect(await call('other.example')).toMatch(/certificate required|closed/)
    await expect.poll(() => failedHandshakes).toBe(1)
    expect(await call('carrier.example')).toBe('arrived')
    expect(failedHandshakes).toBe(1)
  })

  it('accepts an address that was resolved from a host before', async () => {
    await open(settings(), settings(), [peer(['other.example'])])
    expect(await call('other.example')).toBe('arrived')
    ;(await farSink.flow()).send(Buffer.from('no SIP\r\n\r\n'))
    await sink.until(() => sink.losses.length > 0)
    // The certificate for `other.example` holds no address.
    expect(await call('127.0.0.1')).toBe('arrived')
  })
})

describe('a listener', () => {
  it('counts malformed and aborted handshakes', async () => {
    await open(settings())
    for (const bytes of ['OPTIONS sip:a SIP/2.0\r\n\r\n', '']) {
      const before = failedHandshakes
      connectTcp(portOf(far), '127.0.0.1')
        .on('error', () => {})
        .end(bytes)
      await expect.poll(() => failedHandshakes).toBe(before + 1)
    }
  })

  const shown = async (servername?: string) => {
    const socket = await dial({ servername })
    return (socket.getPeerCertificate() as PeerCertificate).subjectaltname
  }

  it('sends the certificate of the requested name', async () => {
    await open(
      settings({
        names: [
          { host: 'other.example', ...other },
          { host: '*.wild.example', ...other },
          { host: 'main.wild.example', ...main },
        ],
      }),
    )
    const mine = 'DNS:carrier.example, IP Address:127.0.0.1'
    const others = 'DNS:other.example, DNS:*.wild.example'
    expect([
      await shown(),
      await shown('x.example'),
      await shown('OTHER.example'),
      await shown('a.wild.example'),
      await shown('A.Wild.Example'),
    ]).toEqual([mine, mine, others, others, others])
    // RFC 6125 6.4.3: a wildcard is one label, and the name itself goes before it.
    expect([
      await shown('main.wild.example'),
      await shown('a.b.wild.example'),
      await shown('wild.example'),
    ]).toEqual([mine, mine, mine])
  })

  it('uses new certificates for new connections only', async () => {
    await open(settings())
    const before = await dial()
    far.change({ tls: settings({ ...other, names: [] }) })
    expect(await shown()).toBe('DNS:other.example, DNS:*.wild.example')
    before.write(inviteText)
    expect((await farSink.flow()).isClosed).toBe(false)
  })

  it('keeps its certificates if new ones are unusable', async () => {
    await open(settings())
    for (const tls of [
      settings({ certificate: 'no PEM' }),
      settings({ key: other.key }),
      settings({ ca: 'no PEM' }),
      settings({ ca: main.certificate.replace(/[A-Z]/g, 'A') }),
      settings({ ca: main.certificate.replace(/\n[^-]{40}/, '\nAAAA') }),
      settings({ names: [{ host: 'x.example', certificate: '', key: other.key }] }),
    ])
      expect(() => far.change({ tls })).toThrow(/^TLS: the certificate .* cannot be used/)
    expect(await shown()).toBe('DNS:carrier.example, IP Address:127.0.0.1')
  })

  it('rejects old versions of TLS', async () => {
    await open(settings({ minVersion: 'TLSv1.3' }))
    await expect(dial({ maxVersion: 'TLSv1.2' })).rejects.toThrow()
    expect((await dial()).getProtocol()).toBe('TLSv1.3')
  })

  it('that requires certificates closes connections without one', async () => {
    await open(settings({ clientCertificates: 'require' }))
    const socket = await dial({ maxVersion: 'TLSv1.2' }).catch(() => undefined)
    expect(socket).toBeUndefined()
    const known = await dial({ cert: client.certificate, key: client.key })
    known.write(inviteText)
    expect((await farSink.flow()).local.protocol).toBe('tls')
  })

  it('ends a handshake that takes more than 10 s', async () => {
    await open(settings())
    const socket = connectTcp(portOf(far), '127.0.0.1')
    sockets.push(socket)
    await once(socket, 'connect')
    // The next one is in, so this one has been taken as well.
    ;(await dial()).write(inviteText)
    await farSink.flow()
    const closed = once(socket, 'close')
    clock.advance(10_000)
    await closed
    expect(far.connections).toBe(1)
  })

  it('closes connections that do not use TLS', async () => {
    await open(settings())
    const socket = connectTcp(portOf(far), '127.0.0.1')
    socket.on('error', () => {})
    sockets.push(socket)
    socket.write(inviteText)
    await once(socket, 'close')
    expect(farSink.messages).toEqual([])
  })

  it('cannot be opened without a certificate', async () => {
    await open(settings())
    await expect(make(sink, undefined).open(listen)).rejects.toThrow(
      'cannot bind tls 127.0.0.1:0: TLS: there is no certificate for the listener',
    )
  })
})
