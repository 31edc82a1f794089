import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { loadConfig } from '../../config/load.ts'
import { agentOptions } from './agent-options.ts'

const load = (text: string) => {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-agent-'))
  try {
    const file = join(folder, 'trunkline.yaml')
    writeFileSync(file, text)
    return loadConfig(file, {})
  } finally {
    rmSync(folder, { recursive: true })
  }
}

it('hand all of the SIP configuration that concerns the agent to it, in its words', () => {
  const config = load(`
sip:
  listen: [{ transport: tls, address: 192.0.2.1, port: 5061 }]
  announce: 203.0.113.1
  announceTo: [{ networks: [10.0.0.0/8], address: 10.0.0.1 }]
  userAgent: ""
  messages: { bytes: 2048, headers: 32, headerLength: 512, connections: 8, transactions: 200 }
  shield: { packetsPerSecond: 7, banAfter: 3, banFor: 1m, scanners: [EvilScan], strangers: drop }
domains:
  - { domain: a.example, allow: [192.0.2.0/24, 198.51.100.7] }
  - { domain: b.example, allow: [192.0.2.0/24] }
carriers: [{ name: acme, targets: ["sip:gw.acme.example"], allow: ["2001:db8::/32"] }]
`)
  const sip = {
    certificate: 'c',
    key: 'k',
    names: [],
    clientCertificates: 'none',
    minVersion: 'TLSv1.2',
  } as const
  const peers = [{ hosts: ['gw.acme.example'], verify: true, alpn: [] }]
  const options = agentOptions(config, { https: undefined, sip, peers, ends: new Map() })
  expect(options).toMatchObject({
    listen: [{ transport: 'tls', address: '192.0.2.1', port: 5061 }],
    announce: '203.0.113.1',
    announceTo: [{ networks: ['10.0.0.0/8'], address: '10.0.0.1' }],
    userAgent: undefined,
    limits: { messageBytes: 2048, headers: 32, headerLength: 512 },
    maxConnections: 8,
    maxTransactions: 200,
    tls: sip,
    tlsPeers: peers,
  })
  expect(options.shield).toEqual({
    packetsPerSecond: 7,
    knownPacketsPerSecond: 5_000,
    banAfter: 3,
    banForMs: 60_000,
    scanners: ['evilscan'],
    untrusted: 'drop',
    known: ['192.0.2.0/24', '198.51.100.7', '2001:db8::/32'],
  })
})
