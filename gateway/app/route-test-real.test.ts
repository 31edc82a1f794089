import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { loadConfig } from '../../config/load.ts'
import type { Config } from '../../config/types.ts'
import { agentOptions } from '../app/agent-options.ts'
import { SystemClock } from '../core/clock.ts'
import type { Directory } from '../directory/directory.ts'
import { createDirectory } from '../directory/directory.ts'
import { Trust } from '../sip/admission/trust.ts'
import { carrierSdp } from '../sip/testing/bench.ts'
import { Carrier } from '../sip/testing/carrier.ts'
import { CarrierDirectory } from '../sip/trunks/carrier-directory.ts'
import { testRoute } from './route-test.ts'

// What the command says must be what happens: the same configuration, asked and tried.
const document = 'handler: { kind: script, document: { sections: { main: [answer] } } }'
const configurations = {
  'a carrier of ours': `
domains:
  - { domain: open.example, ${document} }
  - { domain: ours.example, allow: [127.0.0.0/8], ${document} }
  - { domain: bare.example, allow: [127.0.0.0/8] }
  - { domain: other.example, allow: [192.0.2.0/24], ${document} }
  - { domain: "2001:db8::1", allow: [127.0.0.1], ${document} }`,
  'a stranger': `
domains:
  - { domain: other.example, allow: [192.0.2.0/24], ${document} }
carriers: [{ name: acme, targets: ["sip:gw.acme.example"], allow: [198.51.100.0/24] }]`,
  'a stranger where passwords let in': `
domains:
  - { domain: other.example, allow: [192.0.2.0/24], ${document} }
sip: { registrar: { domains: [pbx.example] } }`,
  'a caller at an open domain': `domains: [{ domain: open.example, ${document} }]`,
}
const requests = [
  ...['open', 'ours', 'bare', 'other', 'none'].map(
    (name) => ['INVITE', `sip:+4930@${name}.example`] as const,
  ),
  ['INVITE', 'sip:1@OURS.example:5080'],
  ['INVITE', 'sip:1@[2001:DB8:0::1]'],
  ['INVITE', 'tel:+4930'],
  ['OPTIONS', 'sip:none.example'],
  ['MESSAGE', 'sip:1@ours.example'],
] as const

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-route-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const load = (text: string): Config => {
  const file = join(folder, 'trunkline.yaml')
  writeFileSync(file, text)
  return loadConfig(file, {})
}

const open = async (config: Config): Promise<{ carrier: Carrier; directory: Directory }> => {
  const clock = new SystemClock()
  const directory = await createDirectory({
    file: ':memory:',
    config,
    secret: new Uint8Array(32),
    clock,
    log: { info: () => {}, error: () => {} },
  })
  const { shield } = agentOptions(config, { https: undefined, sip: undefined, peers: [], ends: new Map() })
  const carrier = await Carrier.start({
    agent: { shield },
    parts: {
      directory,
      trust: new Trust(config),
      carriers: new CarrierDirectory(config.carriers, clock),
      overload: config.sip.overload,
    },
  })
  return { carrier, directory }
}

/** The final status, or 180 where the call came in. */
const tried = async ({ peer, bench }: Carrier, method: string, uri: string): Promise<number> => {
  const call = peer.call(uri)
  const before = bench.arrivals.length
  peer.send(method, call, method === 'INVITE' ? { body: carrierSdp() } : {})
  const final = () =>
    peer.inbox.find((each) => each.kind === 'response' && each.callId === call.callId && each.status >= 180)
  await expect.poll(() => final() !== undefined || bench.arrivals.length > before).toBe(true)
  const response = final()
  return response?.kind === 'response' ? response.status : 180
}

it.each(Object.entries(configurations))('route-test says what happens to %s', async (_who, text) => {
  const config = load(text)
  const { carrier, directory } = await open(config)
  try {
    for (const [method, uri] of requests) {
      const said = testRoute(config, { source: '127.0.0.1', transport: 'udp', method, uri })
      const expected = said.status ?? 180
      expect([method, uri, await tried(carrier, method, uri)]).toEqual([method, uri, expected])
      expect(said.admitted).toBe(expected < 300)
    }
  } finally {
    await carrier.close()
    directory.close()
  }
})
