import { X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeAuthority, type TestAuthority } from '@trunkline/sip-agent/testing/certificates'
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import type { CarrierConfig } from '../../config/types.ts'
import { FakeClock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import { Certificates, type CertificatesConfig } from './certificates.ts'

let authority: TestAuthority
let folder: string
let clock: FakeClock
let logged: string[]
let open: Certificates | undefined
beforeAll(async () => {
  authority = await makeAuthority()
})
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-certificates-'))
  clock = new FakeClock()
  logged = []
})
afterEach(() => {
  open?.close()
  expect(clock.running).toBe(0)
  rmSync(folder, { recursive: true })
})

const path = (name: string) => join(folder, name)
/** Writes a pair and tells the subject of its certificate. */
const issue = async (name: string, common: string): Promise<void> => {
  const { certificate, key } = await authority.issue({ common })
  writeFileSync(path(`${name}.pem`), certificate)
  writeFileSync(path(`${name}.key`), key)
}
const pair = (name: string) => ({ certificate: path(`${name}.pem`), key: path(`${name}.key`) })
const nameIn = (pem: string | undefined) => pem && new X509Certificate(pem).subject
const start = async (changes: Partial<CertificatesConfig> = {}): Promise<Certificates> => {
  const log = (_facts: unknown, text?: string) => void logged.push(text ?? '')
  const tls = { names: [], clientCertificates: 'none', minVersion: 'TLSv1.2' } as const
  const http = { tls: { address: '', port: 0, hosts: ['localhost'], ...pair('https') } }
  await issue('https', 'https 1')
  open = await Certificates.open(
    {
      dataDir: folder,
      http: http as unknown as CertificatesConfig['http'],
      sip: { tls },
      carriers: [],
      ...changes,
    },
    clock,
    { info: log, warn: log, error: log } as unknown as Log,
  )
  return open
}
/** Lets the next look at the files pass. */
const look = async (certificates: Certificates) => {
  clock.advance(60_000)
  // The look is before it in the queue of readings.
  const readings = logged.length
  await certificates.reload()
  return logged.slice(readings)
}
const tlsCarrier = (tls: object): CarrierConfig =>
  ({
    name: 'acme',
    targets: ['sip:gw.acme.example:5061;transport=tls', 'sips:[2001:db8::1]'],
    tls: { verify: true, alpn: [], ...tls },
  }) as unknown as CarrierConfig

it('has the certificate of HTTPS for SIP where SIP has none of its own', async () => {
  const { material, secondsLeft } = await start()
  expect(material.sip?.certificate).toBe(material.https?.cert)
  expect([...secondsLeft.keys()]).toEqual(['https'])
  const end = new X509Certificate(material.https?.cert ?? '').validToDate.getTime()
  expect(secondsLeft.get('https')).toBe((end - clock.now()) / 1_000)
})

it('reads the certificates of SIP, of its names, and those towards carriers', async () => {
  for (const name of ['sip', 'name', 'client']) await issue(name, name)
  writeFileSync(path('ca.pem'), authority.certificate)
  const names = [{ host: 'pbx.example', ...pair('name') }]
  const tls = {
    ...pair('sip'),
    names,
    ca: path('ca.pem'),
    clientCertificates: 'request',
    minVersion: 'TLSv1.3',
  }
  const { material, secondsLeft } = await start({
    sip: { tls: tls as CertificatesConfig['sip']['tls'] },
    carriers: [tlsCarrier(pair('client'))],
  })
  expect(material.sip).toMatchObject({
    ca: authority.certificate,
    clientCertificates: 'request',
    minVersion: 'TLSv1.3',
  })
  expect(nameIn(material.sip?.certificate)).toBe('CN=sip')
  expect(material.sip?.names.map(({ host, certificate }) => [host, nameIn(certificate)])).toEqual([
    ['pbx.example', 'CN=name'],
  ])
  expect(material.peers).toMatchObject([
    { hosts: ['gw.acme.example', '2001:db8::1'], ca: authority.certificate, verify: true, alpn: [] },
  ])
  expect(nameIn(material.peers[0]?.certificate)).toBe('CN=client')
  expect([...secondsLeft.keys()]).toEqual(['https', 'sip', 'sip pbx.example', 'carrier acme'])
})

it('gives a carrier no say in the TLS of a host that it does not reach by TLS', async () => {
  const carrier = tlsCarrier(pair('client'))
  const targets = ['sip:gw.acme.example;transport=udp', 'sip:other.example', 'sips:third.example;lr']
  await issue('client', 'client')
  writeFileSync(path('ca.pem'), authority.certificate)
  const { material } = await start({ carriers: [{ ...carrier, targets }] })
  expect(material.peers.map(({ hosts }) => hosts)).toEqual([['other.example', 'third.example']])
})

it('reads a file again that has changed, and tells of it', async () => {
  const certificates = await start()
  const received: (string | undefined)[] = []
  certificates.onChange(({ https }) => received.push(nameIn(https?.cert)))
  await issue('https', 'https 2')
  await look(certificates)
  // Once by itself, and once because the test asked.
  expect(received).toEqual(['CN=https 2', 'CN=https 2'])
  expect(nameIn(certificates.material.sip?.certificate)).toBe('CN=https 2')
})

it('does not read files again that are as they were', async () => {
  const certificates = await start()
  // One line is that of the reading that was asked for.
  expect(await look(certificates)).toEqual(['certificates reloaded'])
})

it.each([
  ['nonsense', (file: string) => writeFileSync(file, 'nonsense')],
  ['nothing', (file: string) => rmSync(file)],
  ['the key of another', async () => writeFileSync(path('https.key'), (await authority.issue({})).key)],
])('keeps the old one where the new one is %s, logs it, and notifies no listener', async (_what, spoil) => {
  const certificates = await start()
  certificates.onChange(() => expect.unreachable())
  await spoil(path('https.pem'))
  await certificates.reload()
  expect(logged).toEqual(['new certificates rejected, old ones kept'])
  expect(nameIn(certificates.material.https?.cert)).toBe('CN=https 1')
})

it('takes what another configuration names only on commit, and nothing that cannot be used', async () => {
  const certificates = await start()
  const changes: (string | undefined)[] = []
  certificates.onChange(({ https }) => changes.push(nameIn(https?.cert)))
  await issue('other', 'other')
  const http = { tls: { address: '', port: 0, hosts: ['localhost'], ...pair('other') } }
  const sip = { tls: { names: [], clientCertificates: 'none', minVersion: 'TLSv1.2' } } as const
  const config = { dataDir: folder, http, sip, carriers: [] } as unknown as CertificatesConfig
  const { commit } = await certificates.prepare(config)
  expect(nameIn(certificates.material.https?.cert)).toBe('CN=https 1')
  await expect(
    certificates.prepare({ ...config, carriers: [tlsCarrier({ ca: path('none.pem') })] }),
  ).rejects.toThrow('none.pem')
  expect(changes).toEqual([])
  commit()
  expect(changes).toEqual(['CN=other'])
  // From now on its files are looked at.
  await issue('other', 'other 2')
  await look(certificates)
  expect(changes.at(-1)).toBe('CN=other 2')
})

it('does not start with what cannot be used', async () => {
  await expect(start({ carriers: [tlsCarrier({ ca: path('none.pem') })] })).rejects.toThrow('none.pem')
})

it('is without any where HTTPS is off and SIP has none', async () => {
  const { material, secondsLeft } = await start({ http: { tls: false } as CertificatesConfig['http'] })
  expect(material).toEqual({ https: undefined, sip: undefined, peers: [], ends: new Map() })
  expect(secondsLeft.size).toBe(0)
})
