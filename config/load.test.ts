// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} is a variable of the configuration.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { ConfigInvalid } from './faults.ts'
import { loadConfig, readDataDir } from './load.ts'
import { warningsOf } from './rules/warnings.ts'
import type { Schema } from './schema/builders.ts'
import { configSchema } from './schema/config-schema.ts'
import { testFolder } from './testing/config-test-folder.ts'
import type { ResourceConfig } from './types.ts'

const folder = testFolder()
const { load, faultsOf } = folder

const documentOf = (entry: ResourceConfig | undefined): string | undefined =>
  entry && 'document' in entry.handler ? entry.handler.document : undefined

const subscriber = 'email: a@x.example, password: secret-one'
const place = ({ line, column, path }: { line: number; column: number; path: string }) =>
  `${line}:${column} ${path}`

it('has a valid schema', () => {
  const ajv = new Ajv({ allowUnionTypes: true, strictTypes: false })
  expect(ajv.validateSchema(configSchema)).toBe(true)
})

describe('defaults', () => {
  it('make an empty file a complete configuration', () => {
    expect(load('')).toEqual({
      project: 'default',
      projects: [{ id: 'default', name: 'default', signingKeys: [] }],
      store: { connections: 10, startTimeoutMs: 30_000 },
      dataDir: join(folder.path, 'data'),
      log: { level: 'info', details: false },
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
        trace: { maxMessages: 10_000, maxBytes: 8_388_608 },
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
          domains: [],
          minExpiresMs: 60_000,
          maxExpiresMs: 3_600_000,
          contacts: 10,
          keepAliveMs: 30_000,
        },
        challenges: ['MD5'],
        dial: 'any',
        dialNetworks: [],
      },
      media: {
        rtp: {
          bind: ['0.0.0.0', '::'],
          ports: { from: 20_000, to: 29_999 },
          threads: 1,
          realtime: true,
          startTimeoutMs: 30_000,
          mediaTimeoutMs: 60_000,
        },
        webrtc: { bind: '0.0.0.0', announce: [], port: 44_444 },
        rooms: {
          picture: 'auto',
          ffmpeg: { program: '/usr/bin/ffmpeg', maxProcesses: 4, maxFileSize: 256, fetchTimeoutMs: 60_000 },
        },
        sounds: { maxSize: 16, maxDurationMs: 600_000, timeoutMs: 10_000, memory: 64, httpCache: 64 },
        recordings: { minFree: 2 ** 30, linkAgeMs: 86_400_000, roomFormat: 'webm' },
        speech: { voice: 'slt', engines: [], voices: {}, folderSize: 256 },
      },
      agents: {
        engines: {},
        recognisers: {},
        models: {},
        voices: {},
        names: { models: {}, voices: {}, recognisers: {} },
        limits: { callsPerProject: 100, durationMs: 3_600_000, functionTimeoutMs: 20_000 },
        detector: { kind: 'level', runtime: 'onnxruntime-node', threshold: 0.5 },
        silence: { endOfSpeechMs: 300, semantic: true },
      },
      http: {
        plain: { address: '127.0.0.1', port: 8080 },
        tls: { address: '0.0.0.0', port: 8443, hosts: ['localhost'] },
        metrics: null,
        origins: [],
        trustedProxies: [],
        maxConnections: 1_024,
        maxConnectionsPerAddress: 64,
        headersTimeoutMs: 10_000,
      },
      limits: {
        calls: 1000,
        addressDepth: 10,
        addressCalls: 50,
        strangers: {
          maxCallsOfSource: 10,
          callsPerSecondOfSource: 2,
          maxUnconfirmedCalls: 100,
          reservedPercent: 30,
        },
        callDurationMs: 14_400_000,
        ringMs: 60_000,
        documentTimeoutMs: 5000,
        documentNetworks: [],
        recordsKeptMs: 34_560_000_000,
        messagesKeptMs: 34_560_000_000,
        api: { perToken: 1_200, perAddress: 6_000 },
        carrierCalls: {
          perProject: {},
          perSubscriber: { maxCalls: 10, callsPerSecond: 2 },
          guests: { maxCalls: 20, callsPerSecond: 2 },
        },
        webSockets: {
          connections: 10_000,
          waiting: 2_000,
          waitingPerAddress: 500,
          signInTimeoutMs: 10_000,
          bytesBeforeSignIn: 65_536,
          frame: 262_144,
          buffered: 1_048_576,
          requestsPerSecond: 100,
          requestsPerSecondOfApplication: 2_000,
          unacknowledged: 1_000,
          acknowledgeTimeoutMs: 60_000,
        },
        browsers: {
          perSubscriber: { connections: 200, connectionsPerMinute: 5_000, calls: 100, dialsPerMinute: 300 },
          perToken: { connections: 200, connectionsPerMinute: 5_000, calls: 100, dialsPerMinute: 300 },
          perGuestToken: { connections: 20, connectionsPerMinute: 300, calls: 10, dialsPerMinute: 60 },
          perAddress: {
            connections: 1_000,
            connectionsPerMinute: 20_000,
            calls: 1_000,
            dialsPerMinute: 3_000,
          },
        },
        project: { subscribers: 200_000, resources: 10_000, carriers: 100, domainApps: 1_000, tokens: 100 },
      },
      oauth: { clients: [], accessTokenTtlMs: 3_600_000, refreshTokenTtlMs: 30 * 86_400_000 },
      webhooks: { signingKeys: [] },
      push: { encryption: 'aes_256_gcm', whenOnline: false },
      envs: {},
      domains: [],
      carriers: [],
      endpoints: [],
      subscribers: [],
      resources: [],
      rooms: [],
      drainMs: 30_000,
    })
  })

  it('are added to a group without these keys', () => {
    const config = load('http: { tls: { port: 9443 }, plain: false }\nsip: { listen: [{ transport: tcp }] }')
    expect(config.http).toMatchObject({ tls: { address: '0.0.0.0', port: 9443 }, plain: false })
    expect(config.sip.listen).toEqual([{ transport: 'tcp', address: '0.0.0.0', port: 5060 }])
  })

  it("derive the name of a subscriber's address from the e-mail address", () => {
    expect(load(`subscribers: [{ ${subscriber} }]`).subscribers).toEqual([
      { email: 'a@x.example', password: 'secret-one', name: 'a', context: 'public', mayDialOut: false },
    ])
  })

  it('are not changed by another file', () => {
    expect(load('http: { tls: { port: 1 } }').http.tls).toMatchObject({ port: 1 })
    expect(load('').http.tls).toMatchObject({ port: 8443 })
  })
})

describe('values', () => {
  it('are durations in four units', () => {
    const { limits, drainMs } = load(
      'limits: { callDuration: 2h, ring: 5m, documentTimeout: 500ms }\ndrain: 7s',
    )
    expect([limits.callDurationMs, limits.ringMs, limits.documentTimeoutMs, drainMs]).toEqual([
      7_200_000, 300_000, 500, 7000,
    ])
  })

  it('are paths relative to the folder of the file', () => {
    const config = load('dataDir: ../d\nhttp: { tls: { certificate: c.pem, key: /k.pem } }')
    expect(config.dataDir).toBe(join(folder.path, '../d'))
    expect(config.http.tls).toMatchObject({ certificate: join(folder.path, 'c.pem'), key: '/k.pem' })
  })

  it('are domains in their canonical form', () => {
    const text = 'domains: [{ domain: Demo.Example }, { domain: "2001:DB8:0:0::1" }]'
    expect(load(text).domains).toEqual([{ domain: 'demo.example' }, { domain: '2001:db8::1' }])
  })
})

describe('variables', () => {
  it('are replaced, with defaults, also as numbers and booleans', () => {
    const config = load(
      'project: p-${ID}\nhttp: { plain: { port: "${PORT}", address: "${HOST:-127.0.0.2}" } }\nlog: { pretty: "${PRETTY:-true}" }',
      { ID: '7', PORT: '81', HOST: '' },
    )
    expect(config.project).toBe('p-7')
    expect(config.http.plain).toEqual({ address: '127.0.0.2', port: 81 })
    expect(config.log.pretty).toBe(true)
  })

  it('remain texts for keys that are texts', () => {
    expect(
      load(`subscribers: [{ email: a@x.example, password: "\${PW}" }]`, { PW: '00123456' }).subscribers[0]
        ?.password,
    ).toBe('00123456')
  })

  it('are not replaced twice, and can be escaped', () => {
    expect(load('sip: { userAgent: "${A} $${B}" }', { A: '${C}' }).sip.userAgent).toBe('${C} ${B}')
  })

  it('are reported with their position if they are not set', () => {
    expect(
      faultsOf('project: a\nsubscribers:\n  - email: a@x.example\n    password: ${NO_SUCH}\n').map(place),
    ).toEqual(['4:15 subscribers[0].password'])
  })

  it('do not make a quoted number valid', () => {
    expect(faultsOf('limits: { calls: "5" }')[0]).toMatchObject({
      path: 'limits.calls',
      message: 'must be a whole number',
    })
  })

  it("do not replace a document's own placeholders", () => {
    const text =
      'resources:\n  - address: /public/a\n    handler:\n      kind: script\n      document: { sections: { main: [{ play: { url: "say:${call.from} ${from} ${NAME}" } }] } }\n'
    expect(documentOf(load(text, { NAME: 'Ann' }).resources[0])).toBe(
      '{"sections":{"main":[{"play":{"url":"say:${call.from} ${from} Ann"}}]}}',
    )
  })
})

describe('handlers', () => {
  it('have a URL with its method and fallback', () => {
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

  it('have the topic of a realtime application', () => {
    const text = 'domains: [{ domain: a, handler: { kind: realtime, topic: office } }]'
    expect(load(text).domains[0]?.handler).toEqual({ kind: 'realtime', topic: 'office' })
  })

  it('have the unchanged text of a document from another file', () => {
    writeFileSync(join(folder.path, 'menu.xml'), '<Response>${NAME}</Response>')
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

  it('is valid without environment variables, and has addresses to call', () => {
    const config = loadConfig(example, {})
    expect(config.domains.map(({ domain }) => domain)).toEqual([
      '127.0.0.1',
      'localhost',
      'demo.localhost',
      'xml.localhost',
      'room.localhost',
      'assistant.localhost',
    ])
    expect(config.subscribers.map((s) => `/${s.context}/${s.name}`)).toEqual(['/public/alice', '/public/bob'])
    expect(config.resources.map(({ address }) => address)).toEqual(['/public/menu', '/public/assistant'])
    expect(config.rooms.map(({ address }) => address)).toEqual(['/public/lounge'])
    expect(config.domains.every(({ allow }) => allow?.includes('127.0.0.0/8'))).toBe(true)
  })

  it('has published passwords, which cause warnings, and subscribers who may dial out', () => {
    const config = loadConfig(example, {})
    expect(warningsOf(config).map(({ keys }) => keys.join('.'))).toEqual(['http.apiToken'])
    expect(config.subscribers.map(({ mayDialOut }) => mayDialOut)).toEqual([true, true])
  })

  it('has a carrier in comments, which takes its secrets from the environment', () => {
    const text = readFileSync(example, 'utf8')
    const at = text.indexOf('  # - address: /public/carrier')
    const shown = text.slice(0, at) + text.slice(at).replaceAll(/^ {2}# /gm, '  ')
    const env = { CARRIER_URI: 'sip:1@carrier.example', CARRIER_USER: 'u', CARRIER_PASSWORD: 'secret' }
    const carrier = load(shown, env).resources.find(({ address }) => address === '/public/carrier')
    const document = JSON.parse(documentOf(carrier) ?? '')
    expect(document.sections.main[0].connect).toMatchObject({
      to: 'sip:1@carrier.example',
      password: 'secret',
    })
  })
})

describe('the schema', () => {
  it('equals the file for editors', () => {
    const written = readFileSync(new URL('schema.json', import.meta.url), 'utf8')
    expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify(configSchema)))
  })

  it('describes every key', () => {
    const check = (schema: Schema, path: string): void => {
      if (schema.items) check(schema.items, `${path}[]`)
      for (const [name, child] of Object.entries(schema.properties ?? {})) {
        expect(child.description, `${path}.${name}`).toMatch(/\.$/)
        check(child, `${path}.${name}`)
      }
    }
    check(configSchema, '')
  })
})

describe('the data folder alone', () => {
  const folderOf = (text: string, env = {}) => {
    const file = join(folder.path, 'trunkline.yaml')
    writeFileSync(file, text)
    return readDataDir(file, env)
  }

  it('is read despite faults elsewhere in the file', () => {
    expect(folderOf('dataDir: ./d\nenvs: { a: "${NOT_SET}" }\nno-such-key: 1')).toBe(join(folder.path, 'd'))
    expect(folderOf('drain: 1s')).toBe(join(folder.path, 'data'))
    expect(folderOf('')).toBe(join(folder.path, 'data'))
    expect(folderOf('dataDir: "${DIR:-/var/lib/x}"')).toBe('/var/lib/x')
    expect(folderOf('dataDir: "${DIR}"', { DIR: '/srv' })).toBe('/srv')
  })

  it('is reported with its position if its variable is not set, or the file is invalid YAML', () => {
    expect(() => folderOf('project: p\ndataDir: "${DIR}"')).toThrow(':2:')
    expect(() => folderOf('a: [')).toThrow(ConfigInvalid)
    expect(() => readDataDir(join(folder.path, 'none.yaml'), {})).toThrow('there is no such file')
  })
})
