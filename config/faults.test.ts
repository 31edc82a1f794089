// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} is a variable of the configuration.
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadConfig } from './load.ts'
import { testFolder } from './testing/config-test-folder.ts'

const folder = testFolder()
const { load, faultsOf } = folder

const subscriber = 'email: a@x.example, password: secret-one'
const place = ({ line, column, path }: { line: number; column: number; path: string }) =>
  `${line}:${column} ${path}`

describe('faults', () => {
  it('are all reported at once, with file, line, column and key path', () => {
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
        'trunkline.yaml:5:9 domains[0].allow[1]: must be an IP network such as 192.0.2.0/24, not 10.0.0/8 [wrong-format]',
        'trunkline.yaml:7:3 limits.cals: is not a known key; did you mean `calls`? [unknown-key]',
        'trunkline.yaml:8:9 limits.ring: must be a duration such as 500ms, 30s, 5m or 4h, not 30 [wrong-format]',
        'trunkline.yaml:9:30 sip.listen[0].transport: must be one of udp, tcp, tls, ws, wss, not sctp [unknown-choice]',
        'trunkline.yaml:9:42 sip.listen[0].port: must be from 0 to 65535, not 70000 [out-of-range]',
      ]
        .map((line) => join(folder.path, line))
        .join('\n'),
    )
  })

  it.each([
    ['a duplicate key', 'project: a\nproject: b\n', '2:1 '],
    ['broken YAML', 'project: [a\n', '1:10 '],
    ['a tag', 'project: !secret x\n', '1:10 '],
    ['a list as a key', '? [secret]\n: a\n', '1:3 '],
    ['a list at the top', '- a\n', '1:3 '],
    ['an unknown key at the top', 'porject: a\n', '1:1 porject'],
    ['a missing key', 'subscribers:\n  - email: a@x.example\n', '2:5 subscribers[0]'],
    [
      'a short password',
      'subscribers: [{ email: a@x.example, password: short }]',
      '1:47 subscribers[0].password',
    ],
    [
      'a hash of a password with a weak cost',
      `subscribers: [{ email: a@x.example, password: "scrypt$2$8$1$${'s'.repeat(22)}$${'k'.repeat(43)}" }]`,
      '1:47 subscribers[0].password',
    ],
    ['a duration in words', 'drain: soon\n', '1:8 drain'],
    ['a duration longer than timers last', 'drain: 9999h\n', '1:8 drain'],
    ['an invalid host', 'domains: [{ domain: "a b" }]', '1:21 domains[0].domain'],
    ['an invalid IPv4 address', 'domains: [{ domain: 300.1.1.1 }]', '1:21 domains[0].domain'],
    ['an announced address that is unreachable', 'sip: { announce: 0.0.0.0 }', '1:18 sip.announce'],
    ['an origin with a path', 'http: { origins: [https://a.example/x] }', '1:19 http.origins[0]'],
    ['a public host with a bad port', 'http: { publicHost: "a:99999" }', '1:21 http.publicHost'],
    [
      'an IPv6 network that is too long',
      'limits: { documentNetworks: ["::1/129"] }',
      '1:30 limits.documentNetworks[0]',
    ],
    ['a domain twice', 'domains: [{ domain: a.example }, { domain: A.example }]', '1:44 domains[1].domain'],
    [
      'an e-mail twice',
      `subscribers: [{ ${subscriber} }, { email: A@x.example, password: secret-two, name: b }]`,
      '1:70 subscribers[1].email',
    ],
    [
      'an address twice',
      `subscribers: [{ ${subscriber} }]\nresources: [{ address: /public/a, handler: { kind: xml, document: a } }]`,
      '2:24 resources[0].address',
    ],
    ['an odd first port', 'media: { rtp: { ports: { from: 20001 } } }', '1:32 media.rtp.ports.from'],
    ['an even last port', 'media: { rtp: { ports: { to: 30000 } } }', '1:30 media.rtp.ports.to'],
    ['an empty range of ports', 'media: { rtp: { ports: { from: 30000 } } }', '1:17 media.rtp.ports.to'],
    [
      'two local addresses of one family',
      'media: { rtp: { bind: [127.0.0.1, 0.0.0.0] } }',
      '1:17 media.rtp.bind',
    ],
    ['a local address that is none', 'media: { rtp: { bind: [127.0.0.1, all] } }', '1:35 media.rtp.bind[1]'],
    ['no local address', 'media: { rtp: { bind: [] } }', '1:17 media.rtp.bind'],
    [
      'an announced address of a family that is not bound',
      'media: { rtp: { bind: 0.0.0.0, announce: "2001:db8::1" } }',
      '1:42 media.rtp.announce',
    ],
    ['a browser port among the RTP ports', 'media: { webrtc: { port: 20000 } }', '1:26 media.webrtc.port'],
    [
      'a SIP port among the RTP ports',
      'sip: { listen: [{ transport: udp, port: 20000 }] }',
      '1:41 sip.listen[0].port',
    ],
    ['a listener twice', 'sip: { listen: [{ transport: udp }, { transport: udp }] }', '1:37 sip.listen[1]'],
    [
      'a WebSocket listener on a port of HTTP',
      'sip: { listen: [{ transport: wss, port: 8443 }] }',
      '1:1 http.tls',
    ],
    ['two listeners on one port', 'http: { tls: { address: 127.0.0.1, port: 8080 } }', '1:9 http.tls'],
    ['a certificate without its key', 'http: { tls: { certificate: a } }', '1:9 http.tls'],
    ['true for a listener', 'http: { plain: true }', '1:16 http.plain'],
    [
      'a handler with nothing to run',
      'domains: [{ domain: a, handler: { kind: xml } }]',
      '1:24 domains[0].handler',
    ],
    [
      'a realtime handler without a topic',
      'domains: [{ domain: a, handler: { kind: realtime } }]',
      '1:24 domains[0].handler',
    ],
    [
      'a realtime handler with an empty topic',
      'domains: [{ domain: a, handler: { kind: realtime, topic: "" } }]',
      '1:58 domains[0].handler.topic',
    ],
    [
      'a realtime handler with a document',
      'domains: [{ domain: a, handler: { kind: realtime, topic: office, url: "http://x" } }]',
      '1:66 domains[0].handler.url',
    ],
    [
      'a document with a topic',
      'domains: [{ domain: a, handler: { kind: xml, document: a, topic: office } }]',
      '1:59 domains[0].handler.topic',
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
      '1:51 domains[0].handler.url',
    ],
    [
      'a missing file of a document',
      'domains: [{ domain: a, handler: { kind: xml, file: no.xml } }]',
      '1:52 domains[0].handler.file',
    ],
  ])('have a position: %s', (_what, text, expected) => {
    expect(faultsOf(text).map(place)).toEqual([expected])
  })

  it.each([
    ['sip: { listen: [] }', 'must have at least 1 item'],
    ['sip: { tls: { names: [{ host: a, certificate: "", key: k }] } }', 'must be the path of a file'],
    ['media: { rtp: { bind: [0.0.0.0, "::", "::1"] } }', 'must have at most 2 items'],
    [
      'oauth: { url: "https://a.example", clients: [{ id: a, name: "", redirectUris: ["https://a.example/"] }] }',
      'must have at least 1 character',
    ],
    [
      'carriers: [{ name: a, targets: ["sip:a.example"], identity: { from: callee } }]',
      'must be one of caller, username',
    ],
    ['carriers: [{ name: a, targets: ["sip:a.example"], ptime: 25 }]', 'must be a multiple of 10'],
  ])('say what is expected: %s', (text, message) => {
    expect(faultsOf(text).map((fault) => fault.message)).toEqual([message])
  })

  it('are reported for a missing file', () => {
    expect(() => loadConfig(join(folder.path, 'none.yaml'), {})).toThrow(
      'none.yaml:1:1 cannot be read: there is no such file; name another file, or write one by `trunkline init`',
    )
  })

  it('are reported for aliases that multiply', () => {
    const row = (of: string) => `[${Array(11).fill(`*${of}`).join(', ')}]`
    expect(
      faultsOf(`a: &a [x, x]\nb: &b ${row('a')}\nc: &c ${row('b')}\nd: &d ${row('c')}\ne: ${row('d')}`)[0]
        ?.message,
    ).toContain('YAML')
  })

  it('never contain secrets', () => {
    const faults = faultsOf(
      'subscribers: [{ email: a@x.example, password: pa55 }]\nsip: { drachtio: { host: "a", secret: 55 } }',
    )
    expect(faults).toHaveLength(2)
    // The name of the temporary folder is random, and may have any digits.
    const texts = faults.map(({ file: _file, ...fault }) => fault)
    expect(JSON.stringify(texts)).not.toContain('55')
  })
})
