import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeAuthority, type TestAuthority } from '../../sip-agent/testing/certificates.ts'
import { application, scripted } from '../support/applications.ts'
import { Carrier } from '../support/carrier.ts'
import { Gateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'

let folder: string
let authority: TestAuthority
let gateway: Gateway

/** Writes a certificate for a common name to the files that the gateway reads. */
const install = async (common: string): Promise<void> => {
  const { certificate, key } = await authority.issue({ common })
  writeFileSync(join(folder, 'sip.pem'), certificate)
  writeFileSync(join(folder, 'sip.key'), key)
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'admission-'))
  authority = await makeAuthority()
  await install('first')
  const password = { username: 'trunk', password: 'trunk-secret-9' }
  gateway = await Gateway.start({
    sips: true,
    sip: { tls: { certificate: join(folder, 'sip.pem'), key: join(folder, 'sip.key') } },
    domains: [
      { ...application('asks.test', scripted('answer', { sleep: 10_000 })), challenge: password },
      application('fast.test', scripted('answer', { sleep: 10_000 })),
    ],
  })
})

afterAll(async () => {
  await gateway?.stop()
  rmSync(folder, { recursive: true, force: true })
})

it('a trunk answers the digest challenge with its password, and its call is accepted', async () => {
  const values = { username: 'trunk', password: 'trunk-secret-9' }
  const carrier = await Carrier.calls(gateway, {
    domain: 'asks.test',
    scenario: 'caller-digest',
    values,
    holdMs: 300,
  })
  await carrier.sipp.event('challenged')
  await carrier.done()
  expect(await gateway.metric('rejections_total', { code: 'unauthorized' })).toBe(0)
  await gateway.settled()
})

it('OPTIONS from a known scanner gets no response, and is counted as dropped', async () => {
  const socket = createSocket('udp4')
  const heard: Buffer[] = []
  socket.on('message', (bytes) => heard.push(bytes))
  const options = [
    'OPTIONS sip:100@127.0.0.1 SIP/2.0',
    'Via: SIP/2.0/UDP 127.0.0.1:9;branch=z9hG4bKscan;rport',
    'From: <sip:100@127.0.0.1>;tag=a',
    'To: <sip:100@127.0.0.1>',
    'Call-ID: scan',
    'CSeq: 1 OPTIONS',
    'User-Agent: friendly-scanner',
    'Content-Length: 0',
  ]
  socket.send(`${options.join('\r\n')}\r\n\r\n`, gateway.sipPort, '127.0.0.1')
  const dropped = () => gateway.metric('sip_dropped_total', { reason: 'scanner' })
  await until('the scanner is counted', dropped, (count) => count === 1)
  expect(heard).toEqual([])
  socket.close()
})

it('SIGHUP loads a new SIP certificate for new connections, and open connections stay open', async () => {
  const open = async () => {
    const socket = connect({ host: '127.0.0.1', port: gateway.sipsPort, rejectUnauthorized: false })
    await once(socket, 'secureConnect')
    return socket
  }
  const before = await open()
  expect(before.getPeerCertificate().subject.CN).toBe('first')
  await install('second')
  gateway.reload()
  await until(
    'the gateway has loaded the new certificate',
    () => gateway.log,
    (lines) => lines.some(({ msg }) => msg === 'certificates reloaded'),
  )
  const after = await open()
  expect(after.getPeerCertificate().subject.CN).toBe('second')
  // The old connection still answers a keep-alive (RFC 5626 section 4.4.1).
  before.write('\r\n\r\n')
  const [pong] = await once(before, 'data')
  expect(String(pong)).toBe('\r\n')
  expect(await gateway.metric('certificate_expires_seconds', { name: 'sip' })).toBeGreaterThan(0)
  for (const socket of [before, after]) socket.destroy()
})

it('route-test reports whether the gateway would accept or refuse a call from an address to a URI', async () => {
  const source = ['--source', '127.0.0.1']
  const [known, unknown, elsewhere] = await Promise.all([
    gateway.routeTest(...source, 'sip:1@fast.test'),
    gateway.routeTest(...source, 'sip:1@nobody.test'),
    gateway.routeTest('--source', '192.0.2.1', 'sip:1@fast.test'),
  ])
  expect(known).toMatchObject({ code: 0 })
  expect(unknown).toEqual({
    code: 1,
    text: 'refused with 404 (unknown_domain): No domain application has this domain.',
  })
  expect(elsewhere.text).toContain('403')
})
