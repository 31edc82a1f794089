// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} is what the configuration calls a variable.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ConfigInvalid } from './faults.ts'
import { loadConfig } from './load.ts'
import { configSchema } from './schema.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-config-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const load = (text: string, env: Record<string, string> = {}) => {
  const file = join(folder, 'trunkline.yaml')
  writeFileSync(file, text)
  return loadConfig(file, env)
}

const faultsOf = (text: string, env: Record<string, string> = {}) => {
  try {
    load(text, env)
  } catch (error) {
    if (error instanceof ConfigInvalid) return error.faults
    throw error
  }
  throw new Error('the configuration was accepted')
}

const subscriber = 'email: a@x.example, password: secret-one'
const place = ({ line, column, path }: { line: number; column: number; path: string }) =>
  `${line}:${column} ${path}`

describe('defaults', () => {
  it('make a whole configuration of an empty file', () => {
    expect(load('')).toEqual({
      project: 'default',
      dataDir: join(folder, 'data'),
      log: { level: 'info', pretty: false },
      sip: {
        listen: [
          { transport: 'udp', address: '0.0.0.0', port: 5060 },
          { transport: 'tcp', address: '0.0.0.0', port: 5060 },
        ],
        announceTo: [],
        tls: { names: [], clientCertificates: 'none', minVersion: 'TLSv1.2' },
        userAgent: 'Trunkline',
        messages: {
          bytes: 65_535,
          headers: 256,
          headerLength: 8_192,
          connections: 1_000,
          transactions: 50_000,
        },
        shield: {
          packetsPerSecond: 50,
          knownPacketsPerSecond: 5_000,
          banAfter: 20,
          banForMs: 600_000,
          scanners: expect.arrayContaining(['friendly-scanner', 'sipvicious']),
          strangers: 'answer',
        },
        overload: { busyPercent: 85, callsPerSecond: 500, retryAfterMs: 10_000 },
        sessionTimer: { expiresMs: 1_800_000, minMs: 90_000 },
        registrar: {
          ...{ domains: [], minExpiresMs: 60_000, maxExpiresMs: 3_600_000 },
          ...{ contacts: 10, keepAliveMs: 30_000 },
        },
        dialNetworks: [],
      },
      media: {
        rtp: {
          bind: '0.0.0.0',
          ports: { from: 20_000, to: 29_999 },
          threads: 1,
          startTimeoutMs: 30_000,
          mediaTimeoutMs: 60_000,
        },
        webrtc: { bind: '0.0.0.0', announce: [], port: 44_444 },
        speech: { voice: 'slt' },
      },
      http: {
        plain: { address: '127.0.0.1', port: 8080 },
        tls: { address: '0.0.0.0', port: 8443, hosts: ['localhost'] },
        metrics: null,
        origins: [],
      },
      limits: {
        calls: 1000,
        callDurationMs: 14_400_000,
        ringMs: 60_000,
        documentTimeoutMs: 5000,
        documentNetworks: [],
      },
      domains: [],
      carriers: [],
      endpoints: [],
      subscribers: [],
      resources: [],
      drainMs: 30_000,
    })
  })

  it('fill in what a group leaves out', () => {
    const config = load('http: { tls: { port: 9443 }, plain: false }\nsip: { listen: [{ transport: tcp }] }')
    expect(config.http).toMatchObject({ tls: { address: '0.0.0.0', port: 9443 }, plain: false })
    expect(config.sip.listen).toEqual([{ transport: 'tcp', address: '0.0.0.0', port: 5060 }])
  })

  it("name a subscriber's address by the e-mail", () => {
    expect(load(`subscribers: [{ ${subscriber} }]`).subscribers).toEqual([
      { email: 'a@x.example', password: 'secret-one', name: 'a', context: 'public', mayDialOut: true },
    ])
  })

  it('do not leak from one file into the next', () => {
    expect(load('http: { tls: { port: 1 } }').http.tls).toMatchObject({ port: 1 })
    expect(load('').http.tls).toMatchObject({ port: 8443 })
  })
})

describe('values', () => {
  it('may be durations in four units', () => {
    const { limits, drainMs } = load(
      'limits: { callDuration: 2h, ring: 5m, documentTimeout: 500ms }\ndrain: 7s',
    )
    expect([limits.callDurationMs, limits.ringMs, limits.documentTimeoutMs, drainMs]).toEqual([
      7_200_000, 300_000, 500, 7000,
    ])
  })

  it('have paths that start at the folder of the file', () => {
    const config = load('dataDir: ../d\nhttp: { tls: { certificate: c.pem, key: /k.pem } }')
    expect(config.dataDir).toBe(join(folder, '../d'))
    expect(config.http.tls).toMatchObject({ certificate: join(folder, 'c.pem'), key: '/k.pem' })
  })

  it('have domains in the one spelling in which they are compared', () => {
    const text = 'domains: [{ domain: Demo.Example }, { domain: "2001:DB8:0:0::1" }]'
    expect(load(text).domains).toEqual([{ domain: 'demo.example' }, { domain: '2001:db8::1' }])
  })
})

describe('variables', () => {
  it('are replaced, with defaults, and may be numbers and truths', () => {
    const config = load(
      'project: p-${ID}\nhttp: { plain: { port: "${PORT}", address: "${HOST:-127.0.0.2}" } }\nlog: { pretty: "${PRETTY:-true}" }',
      { ID: '7', PORT: '81', HOST: '' },
    )
    expect(config.project).toBe('p-7')
    expect(config.http.plain).toEqual({ address: '127.0.0.2', port: 81 })
    expect(config.log.pretty).toBe(true)
  })

  it('stay texts where a text is wanted', () => {
    expect(
      load(`subscribers: [{ email: a@x.example, password: "\${PW}" }]`, { PW: '00123456' }).subscribers[0]
        ?.password,
    ).toBe('00123456')
  })

  it('are not replaced twice, and can be escaped', () => {
    expect(load('sip: { userAgent: "${A} $${B}" }', { A: '${C}' }).sip.userAgent).toBe('${C} ${B}')
  })

  it('are errors with their place when they are missing', () => {
    expect(
      faultsOf('project: a\nsubscribers:\n  - email: a@x.example\n    password: ${NO_SUCH}\n').map(place),
    ).toEqual(['4:15 subscribers[0].password'])
  })

  it('keep a number in quotes a fault', () => {
    expect(faultsOf('limits: { calls: "5" }')[0]).toMatchObject({
      path: 'limits.calls',
      message: 'must be a whole number',
    })
  })

  it("leave a document's own placeholders alone", () => {
    const text =
      'resources:\n  - address: /public/a\n    handler:\n      kind: script\n      document: { sections: { main: [{ play: { url: "say:${call.from} ${from} ${NAME}" } }] } }\n'
    expect(load(text, { NAME: 'Ann' }).resources[0]?.handler.document).toBe(
      '{"sections":{"main":[{"play":{"url":"say:${call.from} ${from} Ann"}}]}}',
    )
  })
})

describe('faults', () => {
  it('are told with file, line, column and key path, all at once', () => {
    const text = `domains:
  - domain: a.example
    allow:
      - 10.0.0.0/8
      - 10.0.0/8
limits:
  cals: 5
  ring: 30
sip: { listen: [{ transport: sctp, port: 70000 }] }
`
    expect(() => load(text)).toThrow(
      [
        'trunkline.yaml:5:9 domains[0].allow[1]: must be an IP network such as 192.0.2.0/24',
        'trunkline.yaml:7:3 limits.cals: is not a known key; did you mean calls?',
        'trunkline.yaml:8:3 limits.ring: must be a text (in quotes where it looks like something else)',
        'trunkline.yaml:9:19 sip.listen[0].transport: must be one of udp, tcp, tls, ws, wss',
        'trunkline.yaml:9:36 sip.listen[0].port: must be from 0 to 65535',
      ]
        .map((line) => join(folder, line))
        .join('\n'),
    )
  })

  it.each([
    ['a key that stands twice', 'project: a\nproject: b\n', '2:1 '],
    ['broken YAML', 'project: [a\n', '2:1 '],
    ['a tag', 'project: !secret x\n', '1:10 '],
    ['a list as a key', '? [secret]\n: a\n', '1:3 '],
    ['a list at the top', '- a\n', '1:1 '],
    ['an unknown key at the top', 'porject: a\n', '1:1 porject'],
    ['a missing key', 'subscribers:\n  - email: a@x.example\n', '2:5 subscribers[0]'],
    [
      'a short password',
      'subscribers: [{ email: a@x.example, password: short }]',
      '1:37 subscribers[0].password',
    ],
    ['a duration in words', 'drain: soon\n', '1:1 drain'],
    ['a duration longer than timers last', 'drain: 9999h\n', '1:1 drain'],
    ['a host that is none', 'domains: [{ domain: "a b" }]', '1:13 domains[0].domain'],
    ['an address that is cut short', 'domains: [{ domain: 300.1.1.1 }]', '1:13 domains[0].domain'],
    ['an announced address that nobody can reach', 'sip: { announce: 0.0.0.0 }', '1:8 sip.announce'],
    ['an origin with a path', 'http: { origins: [https://a.example/x] }', '1:19 http.origins[0]'],
    ['a public host with a bad port', 'http: { publicHost: "a:99999" }', '1:9 http.publicHost'],
    [
      'an IPv6 network that is too long',
      'limits: { documentNetworks: ["::1/129"] }',
      '1:30 limits.documentNetworks[0]',
    ],
    ['a domain twice', 'domains: [{ domain: a.example }, { domain: A.example }]', '1:36 domains[1].domain'],
    [
      'an e-mail twice',
      `subscribers: [{ ${subscriber} }, { email: A@x.example, password: secret-two, name: b }]`,
      '1:63 subscribers[1].email',
    ],
    [
      'an address twice',
      `subscribers: [{ ${subscriber} }]\nresources: [{ address: /public/a, handler: { kind: xml, document: a } }]`,
      '2:15 resources[0].address',
    ],
    ['an odd first port', 'media: { rtp: { ports: { from: 20001 } } }', '1:26 media.rtp.ports.from'],
    ['an even last port', 'media: { rtp: { ports: { to: 30000 } } }', '1:26 media.rtp.ports.to'],
    ['an empty range of ports', 'media: { rtp: { ports: { from: 30000 } } }', '1:17 media.rtp.ports.to'],
    ['a browser port among the RTP ports', 'media: { webrtc: { port: 20000 } }', '1:20 media.webrtc.port'],
    [
      'a SIP port among the RTP ports',
      'sip: { listen: [{ transport: udp, port: 20000 }] }',
      '1:35 sip.listen[0].port',
    ],
    ['a listener twice', 'sip: { listen: [{ transport: udp }, { transport: udp }] }', '1:37 sip.listen[1]'],
    [
      'a WebSocket listener on a port of HTTP',
      'sip: { listen: [{ transport: wss, port: 8443 }] }',
      '1:1 http.tls',
    ],
    ['two listeners on one port', 'http: { tls: { address: 127.0.0.1, port: 8080 } }', '1:9 http.tls'],
    ['a certificate without its key', 'http: { tls: { certificate: a } }', '1:9 http.tls'],
    ['true for a listener', 'http: { plain: true }', '1:9 http.plain'],
    [
      'a handler with nothing to run',
      'domains: [{ domain: a, handler: { kind: xml } }]',
      '1:24 domains[0].handler',
    ],
    [
      'a handler with two things to run',
      'domains: [{ domain: a, handler: { kind: xml, document: a, url: "http://x" } }]',
      '1:24 domains[0].handler',
    ],
    [
      'XML as YAML',
      'domains: [{ domain: a, handler: { kind: xml, document: { a: 1 } } }]',
      '1:46 domains[0].handler.document',
    ],
    [
      'a fallback without a URL',
      'domains: [{ domain: a, handler: { kind: xml, document: a, fallbackUrl: "http://x" } }]',
      '1:59 domains[0].handler.fallbackUrl',
    ],
    [
      'a URL of another scheme',
      'domains: [{ domain: a, handler: { kind: xml, url: "ftp://x" } }]',
      '1:46 domains[0].handler.url',
    ],
    [
      'a document file that is not there',
      'domains: [{ domain: a, handler: { kind: xml, file: no.xml } }]',
      '1:46 domains[0].handler.file',
    ],
  ])('say where: %s', (_what, text, expected) => {
    expect(faultsOf(text).map(place)).toEqual([expected])
  })

  it('are told of a file that is not there', () => {
    expect(() => loadConfig(join(folder, 'none.yaml'), {})).toThrow(
      'none.yaml:1:1 cannot be read: there is no such file',
    )
  })

  it('are told of aliases that multiply', () => {
    const row = (of: string) => `[${Array(11).fill(`*${of}`).join(', ')}]`
    expect(
      faultsOf(`a: &a [x, x]\nb: &b ${row('a')}\nc: &c ${row('b')}\nd: &d ${row('c')}\ne: ${row('d')}`)[0]
        ?.message,
    ).toContain('YAML')
  })

  it('never show values', () => {
    const faults = faultsOf(
      'subscribers: [{ email: a@x.example, password: pa55 }]\nsip: { drachtio: { host: "pa55 pa55", secret: 55 } }',
    )
    expect(faults).toHaveLength(3)
    expect(JSON.stringify(faults)).not.toContain('55')
  })
})

describe('handlers', () => {
  it('carry a URL with its method and fallback', () => {
    const text =
      'domains: [{ domain: a, handler: { kind: xml, url: "https://x/a", fallbackUrl: "https://x/b", method: GET } }]'
    expect(load(text).domains[0]?.handler).toEqual({
      kind: 'xml',
      url: 'https://x/a',
      fallbackUrl: 'https://x/b',
      method: 'GET',
      name: 'trunkline.yaml: domains[0].handler',
    })
  })

  it('carry the text of a document beside the file, as it is', () => {
    writeFileSync(join(folder, 'menu.xml'), '<Response>${NAME}</Response>')
    expect(
      load('resources: [{ address: /public/a, handler: { kind: xml, file: menu.xml } }]').resources[0]
        ?.handler,
    ).toEqual({
      kind: 'xml',
      document: '<Response>${NAME}</Response>',
      name: 'menu.xml',
    })
  })
})

describe('the example', () => {
  const example = fileURLToPath(new URL('example.yaml', import.meta.url))

  it('is valid without any environment, and is what a newcomer can call', () => {
    const config = loadConfig(example, {})
    expect(config.domains.map(({ domain }) => domain)).toEqual([
      '127.0.0.1',
      'localhost',
      'demo.localhost',
      'xml.localhost',
    ])
    expect(config.subscribers.map((s) => `/${s.context}/${s.name}`)).toEqual(['/public/alice', '/public/bob'])
    expect(config.resources.map(({ address }) => address)).toEqual(['/public/menu', '/public/carrier'])
    expect(config.domains.every(({ allow }) => allow?.includes('127.0.0.0/8'))).toBe(true)
  })

  it('takes the carrier from the environment', () => {
    const env = { CARRIER_URI: 'sip:1@carrier.example', CARRIER_PASSWORD: 'from-the-environment' }
    const document = JSON.parse(loadConfig(example, env).resources[1]?.handler.document ?? '')
    expect(document.sections.main[0].connect).toMatchObject({
      to: 'sip:1@carrier.example',
      password: 'from-the-environment',
    })
  })
})

describe('the schema', () => {
  it('is the same in the file for editors', () => {
    const written = readFileSync(new URL('schema.json', import.meta.url), 'utf8')
    expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify(configSchema)))
  })

  it('describes every key', () => {
    const check = (schema: Record<string, unknown>, path: string): void => {
      if (schema.items) check(schema.items as Record<string, unknown>, `${path}[]`)
      for (const [name, child] of Object.entries(
        (schema.properties ?? {}) as Record<string, Record<string, unknown>>,
      )) {
        expect(child.description, `${path}.${name}`).toMatch(/\.$/)
        check(child, `${path}.${name}`)
      }
    }
    check(configSchema as unknown as Record<string, unknown>, '')
  })
})
