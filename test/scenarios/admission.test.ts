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
import { alice, Gateway } from '../support/gateway.ts'
import { Program } from '../support/program.ts'
import { made } from '../support/rest.ts'
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
      application('alice.test', scripted({ connect: { to: '/public/alice' } })),
    ],
    subscribers: [alice],
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
  expect(known.next).toEqual(['1. answer', '2. sleep duration: 10000'])
  expect(unknown).toEqual({
    code: 1,
    text: 'refused with 404 (unknown_domain): No domain application has this domain.',
    next: [],
  })
  expect(elsewhere.text).toContain('403')
})

it('route-test knows the domains that the API made, and asks the gateway who is online', async () => {
  const body = {
    name: 'Made',
    identifier: 'made',
    ip_auth_enabled: true,
    ip_auth: ['127.0.0.0/8'],
    call_handler: 'laml_webhooks',
    call_request_url: 'https://app.example/made',
  }
  const { domain } = await made(gateway, '/api/fabric/domain_applications', body)
  const [byApi, toAlice] = await Promise.all([
    gateway.routeTest('--source', '127.0.0.1', `sip:1@${domain}`),
    gateway.routeTest('--source', '127.0.0.1', 'sip:1@alice.test'),
  ])
  expect(byApi.code).toBe(0)
  expect(byApi.next).toEqual(['fetches https://app.example/made (POST); --fetch does so now'])
  expect(toAlice.next).toEqual(['1. connect to: /public/alice', '/public/alice: subscriber; not online'])
})

it('a backup is written while the gateway runs, and not restored', async () => {
  const archive = join(folder, 'backup.tar.gz')
  const command = (name: string, ...options: readonly string[]) =>
    gateway.trunkline(name, ...options, archive)
  expect(await command('backup')).toMatchObject({ code: 0 })
  expect(await command('restore', '--check')).toMatchObject({ code: 0 })
  const { code, lines } = await command('restore', '--force')
  expect([code, lines.join(' ')]).toEqual([1, expect.stringContaining('Another gateway runs')])
})

it('a first configuration of `trunkline init` runs, and its token opens the API', async () => {
  const file = join(folder, 'first.yaml')
  const trunkline = (...args: readonly string[]) => new Program('scripts/trunkline', args, { name: args[0] })
  const init = trunkline('init', '--json', '--host', '127.0.0.1', file)
  expect(await init.end()).toBe(0)
  const { ports, api } = JSON.parse(init.lines.join(''))
  const check = trunkline('check', file)
  expect(await check.end()).toBe(0)
  expect(check.lines.join('\n')).not.toContain('warning')
  const first = trunkline('run', file)
  const credentials = Buffer.from(`${api.user}:${api.token}`).toString('base64')
  const subscribers = () =>
    fetch(`http://127.0.0.1:${ports.plain}/api/fabric/subscribers`, {
      headers: { authorization: `Basic ${credentials}` },
    }).catch(() => undefined)
  await until('the API answers', subscribers, (answer) => answer?.status === 200)
  const isReady = () => first.lines.some((line) => line.includes('gateway.started'))
  await until('the gateway is ready', isReady, (ready) => ready)
  expect(await first.stop(20_000)).toBe(0)
})
