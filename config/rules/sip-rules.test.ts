import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { srtpSuites } from '../srtp-suites.ts'
import { carrier, carriers, desk, testFolder } from '../testing/config-test-folder.ts'
import { warningsOf } from './warnings.ts'

const folder = testFolder()
const { load, placesOf: places } = folder

describe('a certificate for a name that clients ask for', () => {
  const named = (host: string) => `sip: { tls: { names: [{ host: "${host}", certificate: c, key: k }] } }`

  it.each(['sip.example', '*.sip.example', '*.SIP.example', '192.0.2.1'])('may be for %s', (host) => {
    expect(load(named(host)).sip.tls.names).toMatchObject([{ host }])
  })

  it.each(['*', '*.', 'a.*.example', 'f*.example', '*.*.example', '*.192.0.2.1', 'a b'])(
    'is not for %j',
    (host) => {
      expect(places(named(host))).toEqual(['sip.tls.names[0].host'])
    },
  )
})

describe('a carrier', () => {
  it('has defaults for all keys, and paths relative to the folder of the file', () => {
    const auth = { username: 'u', password: 'p' }
    const more = 'auth: { username: u, password: p }, tls: { ca: ./ca.pem }, register: {}, probe: {}'
    expect(load(carriers(carrier(more))).carriers).toEqual([
      {
        project: 'default',
        name: 'acme',
        targets: ['sip:gw.acme.example'],
        default: false,
        allow: [],
        auth,
        identity: { from: 'caller', header: 'none' },
        number: { prefix: '', plus: 'keep' },
        failover: { statuses: [408, 500, 502, 503, 504], noProgressMs: 8_000 },
        srtp: 'off',
        srtpSuites: [...srtpSuites],
        srtpWithoutTls: false,
        symmetric: 'strict',
        inbandDigits: false,
        codecs: ['PCMU', 'PCMA'],
        responsePort: 'source',
        ptime: 20,
        comfortNoise: false,
        lateOffer: false,
        tls: { ca: join(folder.path, 'ca.pem'), verify: true, alpn: [] },
        register: { expiresMs: 3_600_000 },
        probe: { intervalMs: 30_000, down: 3, up: 1 },
      },
    ])
  })

  it('needs credentials or a fixed user to register, and credentials for their user name in From', () => {
    expect(places(carriers(carrier('register: {}')))).toEqual(['carriers[0].register'])
    expect(places(carriers(carrier('identity: { from: username }, register: {}')))).toEqual([
      'carriers[0].identity.from',
    ])
    for (const account of ['auth: { username: u, password: p }', 'identity: { from: { user: u } }'])
      expect(load(carriers(carrier(`${account}, register: {}`))).carriers).toHaveLength(1)
  })

  it.each([
    'sip:gw.acme.example',
    'sip:gw.acme.example:5061;transport=tls',
    'sips:192.0.2.1',
    'sip:[2001:db8::1]:5060;transport=tcp;lr',
  ])('may be at %s', (target) => {
    expect(load(`carriers: [{ name: a, targets: ["${target}"] }]`).carriers[0]?.targets).toEqual([target])
  })

  it.each([
    'gw.acme.example',
    'sip:user@gw.acme.example',
    'sip:gw.acme.example:0',
    'sip:gw.acme.example:65536',
    'sip:[2001:db8]',
    'sip:300.1.1.1',
    'sip:gw.acme.example;transport=sctp',
    // Only clients open WebSockets (RFC 7118 section 5).
    'sip:gw.acme.example;transport=wss',
    'sips:gw.acme.example;transport=udp',
    'sip:gw.acme.example?X-A=b',
  ])('may not be at %s', (target) => {
    expect(places(`carriers: [{ name: a, targets: ["${target}"] }]`)).toEqual(['carriers[0].targets[0]'])
  })

  const named = (name: string) => carriers(carrier(`tls: { serverName: "${name}" }`))

  it.each(['gw.acme.example', '192.0.2.1', '*.acme.example'])('may have a certificate for %s', (name) => {
    expect(load(named(name)).carriers[0]?.tls.serverName).toBe(name)
  })

  it.each(['*', '*.', 'gw*.acme.example', 'gw.*.example', '*.*.example', '*.192.0.2.1', ''])(
    'may have none for %j',
    (name) => {
      expect(places(named(name))).toEqual(['carriers[0].tls.serverName'])
    },
  )
})

describe('rules of the SIP side', () => {
  it('permit carriers at one host with the same TLS, or with none', () => {
    const at = (name: string, target: string, tls: string) =>
      `{ name: ${name}, targets: ["${target}"], tls: ${tls} }`
    const secure = 'sip:gw.example;transport=tls'
    const same = [at('a', secure, '{ ca: x.pem, verify: true }'), at('b', secure, '{ ca: x.pem }')]
    const plain = at('c', 'sip:gw.example;transport=udp', '{ ca: y.pem }')
    expect(load(carriers(...same, plain)).carriers).toHaveLength(3)
  })

  it.each([
    ['two carriers of a name', carriers(carrier(''), carrier('')), 'carriers[1].name'],
    [
      'two default carriers',
      carriers(carrier('default: true'), carrier('default: true', 'b')),
      'carriers[1].default',
    ],
    [
      'a number prefix twice',
      carriers(carrier('numbers: { allow: ["+49", "+49"] }')),
      'carriers[0].numbers.allow[1]',
    ],
    [
      'a number prefix that is allowed and refused',
      carriers(carrier('numbers: { allow: ["+49"], refuse: ["+1", "+49"] }')),
      'carriers[0].numbers.refuse[1]',
    ],
    [
      'a number prefix with letters',
      carriers(carrier('numbers: { refuse: ["+49x"] }')),
      'carriers[0].numbers.refuse[0]',
    ],
    [
      'a number prefix that YAML reads as a number',
      carriers(carrier('numbers: { allow: [+49] }')),
      'carriers[0].numbers.allow[0]',
    ],
    ['letters in a prefix', carriers(carrier('number: { prefix: "0a" }')), 'carriers[0].number.prefix'],
    ["half of a carrier's certificate", carriers(carrier('tls: { key: k.pem }')), 'carriers[0].tls'],
    [
      'two carriers at one host with different TLS',
      carriers(
        '{ name: a, targets: ["sip:gw.example;transport=tls"], tls: { ca: one.pem } }',
        '{ name: b, targets: ["sip:10.0.0.1", "sips:GW.example:5071"], tls: { ca: other.pem } }',
      ),
      'carriers[1].tls',
    ],
    [
      'two carriers at one host with different TLS, to which NAPTR may lead the one',
      carriers(
        '{ name: a, targets: ["sip:gw.example;transport=tls"], tls: { ca: one.pem } }',
        '{ name: b, targets: ["sip:gw.example"] }',
      ),
      'carriers[1].tls',
    ],
    ['half of a certificate', 'sip: { tls: { certificate: c.pem } }', 'sip.tls'],
    [
      'two certificates of a name',
      'sip: { tls: { names: [{ host: a, certificate: c, key: k }, { host: A, certificate: c, key: k }] } }',
      'sip.tls.names[1].host',
    ],
    [
      'TLS without any certificate',
      'sip: { listen: [{ transport: tls }] }\nhttp: { tls: false }',
      'sip.listen[0]',
    ],
    [
      'a short session interval',
      'sip: { sessionTimer: { expires: 100s, min: 60s } }',
      'sip.sessionTimer.min',
    ],
    [
      'a session interval below its minimum',
      'sip: { sessionTimer: { expires: 90s, min: 100s } }',
      'sip.sessionTimer.expires',
    ],
    [
      'a registration below its minimum',
      'sip: { registrar: { maxExpires: 30s } }',
      'sip.registrar.maxExpires',
    ],
    [
      'a duplicate host of the registrar',
      'sip: { registrar: { domains: [pbx.example, PBX.example] } }',
      'sip.registrar.domains[1]',
    ],
    [
      'a registrar that is a domain application',
      'sip: { registrar: { domains: ["2001:db8::1"] } }\ndomains: [{ domain: "2001:db8:0::1" }]',
      'sip.registrar.domains[0]',
    ],
    ['a duplicate endpoint', `endpoints: [{ ${desk} }, { ${desk}, name: other }]`, 'endpoints[1].username'],
    [
      'an endpoint at the address of a resource',
      `endpoints: [{ ${desk} }]\nresources: [{ address: /public/desk, handler: { kind: xml, document: a } }]`,
      'resources[0].address',
    ],
    [
      'an endpoint with an empty handler',
      `endpoints: [{ ${desk}, handler: { kind: xml } }]`,
      'endpoints[0].handler',
    ],
    [
      'a lower limit for known networks than for unknown ones',
      'sip: { shield: { packetsPerSecond: 9, knownPacketsPerSecond: 8 } }',
      'sip.shield.knownPacketsPerSecond',
    ],
    [
      'dropping unknown senders with a domain without allow',
      'sip: { shield: { strangers: drop } }\ndomains: [{ domain: a, allow: [] }, { domain: b }]',
      'domains[1]',
    ],
    [
      'refusing unknown senders with a domain that challenges them',
      'sip: { shield: { strangers: refuse } }\ndomains: [{ domain: a }, { domain: b, challenge: { username: u, password: p } }]',
      'domains[1]',
    ],
    [
      'dropping unknown senders with a registrar',
      'sip: { shield: { strangers: drop }, registrar: { domains: [a] } }',
      'sip.registrar.domains',
    ],
    [
      'two listeners on one TCP port',
      'sip: { listen: [{ transport: tcp }, { transport: ws }] }',
      'sip.listen[1]',
    ],
  ])('reject %s', (_what, text, expected) => {
    expect(places(text)).toEqual([expected])
  })

  it('permit UDP and TCP on one port, and TLS with the self-signed certificate of HTTPS', () => {
    const text = 'sip: { listen: [{ transport: udp }, { transport: tcp }, { transport: tls, port: 5061 }] }'
    expect(load(text).sip.listen).toHaveLength(3)
  })
})

describe('warnings', () => {
  const warned = (text: string) => warningsOf(load(text)).map(({ keys }) => keys.join('.'))

  it.each([
    ['a domain that accepts calls from any address', 'domains: [{ domain: a }]', 'domains.0'],
    ['a list of all addresses', 'domains: [{ domain: a, allow: ["0.0.0.0/0"] }]', 'domains.0'],
    ['a carrier with all addresses', carriers(carrier('allow: ["::/0"]')), 'carriers.0.allow'],
    [
      'a certificate that is not verified',
      carriers(carrier('tls: { verify: false }')),
      'carriers.0.tls.verify',
    ],
    [
      'SRTP keys over unencrypted signalling',
      carriers(carrier('srtp: optional, srtpWithoutTls: true')),
      'carriers.0.srtpWithoutTls',
    ],
    [
      'credentials without a realm',
      carriers(carrier('auth: { username: u, password: p }')),
      'carriers.0.auth',
    ],
    ['audio from the first sender', carriers(carrier('symmetric: first')), 'carriers.0.symmetric'],
    ['required SRTP without TLS', carriers(carrier('srtp: required')), 'carriers.0.srtp'],
    ['endpoints that cannot register', `endpoints: [{ ${desk} }]`, 'endpoints'],
    [
      'plain HTTP on a reachable address',
      'http: { plain: { address: 0.0.0.0 }, metrics: { port: 9090 } }',
      'http.plain',
    ],
    [
      'a realtime handler without an API token',
      'resources: [{ address: /public/a, handler: { kind: realtime, topic: office } }]',
      'resources.0.handler',
    ],
    [
      'settings of the shield with drachtio',
      'sip: { drachtio: { host: d, secret: s }, shield: { strangers: drop } }',
      'sip.shield.strangers',
    ],
  ])('report %s', (_what, text, expected) => {
    expect(warned(text)).toEqual([expected])
  })

  it('are absent for safe settings', () => {
    const challenge = 'challenge: { username: u, password: Tr4nk-line }'
    expect(
      warned(
        `domains: [{ domain: a, allow: [192.0.2.0/24] }, { domain: b, ${challenge} }]\nhttp: { plain: { address: "::1" } }`,
      ),
    ).toEqual([])
    expect(
      warned(
        'carriers: [{ name: a, targets: ["sip:x;transport=tls", "sips:y"], srtp: required, symmetric: first }]',
      ),
    ).toEqual([])
    expect(warned('http: { plain: { address: 0.0.0.0 } }')).toEqual(['http.plain', 'http.metrics'])
    expect(warned('')).toEqual([])
  })
})
