import { carrier } from './schema-carrier.ts'
import { browsers, carrierCalls, webSockets } from './schema-clients.ts'
import { domain, endpoint, project, resource, subscriber } from './schema-entries.ts'
import { oauth } from './schema-oauth.ts'
import { parts } from './schema-parts.ts'
import { push } from './schema-push.ts'
import { recordings } from './schema-recordings.ts'
import { sip } from './schema-sip.ts'
import { sounds, speech } from './schema-sound.ts'
import { webrtc } from './schema-webrtc.ts'

const { duration, flag, format, integer, list, object, text, map } = parts

const listener = (description: string, address: string, port: number) => ({
  ...object(description, {
    address: format('ip', 'Local address to listen on.', address),
    port: integer('Port to listen on; 0 takes a free one.', 0, 65_535, port),
  }),
})

const switchable = (schema: Readonly<Record<string, unknown>>) => ({ ...schema, type: ['object', 'boolean'] })

/** An address, or a list of one for each IP family. */
const onePerFamily = (kind: string, description: string, value?: readonly string[]) => ({
  ...format(kind, description),
  type: ['string', 'array'],
  items: format(kind, 'An IP address.'),
  minItems: 1,
  maxItems: 2,
  ...(value && { default: value }),
})

const log = object('Log lines.', {
  level: {
    ...text('How much is logged.', 'info'),
    enum: ['trace', 'debug', 'info', 'warn', 'error', 'silent'],
  },
  pretty: flag('Lines for people instead of JSON.', false),
})

const media = object('Audio.', {
  rtp: object('RTP towards carriers.', {
    bind: onePerFamily(
      'ip',
      'Local address of the RTP ports, or a list of one IPv4 and one IPv6 address. Of a list, 0.0.0.0 or :: is left out where the machine has no address of that family.',
      ['0.0.0.0', '::'],
    ),
    announce: onePerFamily(
      'announced-ip',
      'Address in our SDP where it is not the local one (behind NAT), or a list of one for each family of bind.',
    ),
    ports: object('Range of ports: an even first one, an odd last one.', {
      from: integer('First port.', 1024, 65_534, 20_000),
      to: integer('Last port.', 1025, 65_535, 29_999),
    }),
    threads: integer('Worker threads.', 1, 64, 1),
    startTimeout: duration('Longest wait for the first packet of a call.', '30s'),
    mediaTimeout: duration('Longest silence on the wire before a call is ended.', '60s'),
  }),
  webrtc,
  sounds,
  speech,
  recordings,
})

const http = object('HTTP and WebSocket, towards browsers and applications.', {
  plain: switchable(listener('Plain HTTP and WS; false turns it off.', '127.0.0.1', 8080)),
  tls: switchable(
    object('HTTPS and WSS; false turns it off.', {
      address: format('ip', 'Local address to listen on.', '0.0.0.0'),
      port: integer('Port to listen on; 0 takes a free one.', 0, 65_535, 8443),
      certificate: text('PEM file of the certificate; without one, a self-made one is used.'),
      key: text('PEM file of its key.'),
      hosts: {
        type: 'array',
        description:
          'Names in a self-made certificate; default those that the published SDK asks: the host of publicHost, and the same with fabric in place of its first label. Without publicHost: localhost.',
        items: format('host', 'A host name or address.'),
        minItems: 1,
      },
    }),
  ),
  metrics: {
    ...object(
      'A plain listener of its own for metrics and health; null: health is on the other listeners, metrics on the plain one alone where that listens on loopback, else nowhere.',
      {
        address: format('ip', 'Local address to listen on.', '127.0.0.1'),
        port: integer('Port to listen on; 0 takes a free one.', 0, 65_535, 9090),
      },
      [],
      false,
    ),
    type: ['object', 'null'],
    default: null,
  },
  apiToken: {
    ...text(
      'Secret by which applications use the API: the password of Basic auth, whose user is the id of the project. Without it, nobody may.',
    ),
    minLength: 16,
    writeOnly: true,
  },
  operatorToken: {
    ...text(
      'Secret of the operator, a bearer token: with it the configuration can be reloaded over HTTP. Without it, that path does not exist.',
    ),
    minLength: 32,
    writeOnly: true,
  },
  publicHost: format('host-port', 'Host, and port where needed, that clients use; written into tokens.'),
  trustedProxies: list(
    'Proxies that end TLS before us: what they say of where a request comes from (X-Forwarded-For, X-Forwarded-Proto) is believed. None: nobody is.',
    format('network', 'An IP network.'),
    [],
  ),
  maxConnections: integer(
    'Connections of one listener. WebSockets do not count: limits.webSockets bounds them.',
    8,
    100_000,
    1_024,
  ),
  maxConnectionsPerAddress: integer(
    'Idle connections of one network address on one listener; the oldest gives way to a new one. Trusted proxies may have any number.',
    1,
    100_000,
    64,
  ),
  headersTimeout: duration('Longest time for the head of a request to arrive.', '10s'),
  origins: list(
    'Origins of pages that may use the API; none: all. Only those named here, and our own page, may sign in with a password.',
    format('origin', 'An origin.'),
    [],
  ),
})

const limits = object('Limits.', {
  calls: integer('Calls at once, over everything.', 1, 1_000_000, 1000),
  addressDepth: integer(
    'Addresses that a call may lead through where the documents of each connect to the next one.',
    1,
    50,
    10,
  ),
  addressCalls: integer(
    'Calls to addresses at once that one call may bring about; in all, 20 times as many.',
    1,
    10_000,
    50,
  ),
  strangers: object('Callers over SIP who are in no `allow` and have shown no password.', {
    maxCallsOfSource: integer(
      "Calls at once of one address (IPv6: /64), over all domains. A domain's own `maxCallsOfSource` replaces it there.",
      1,
      1_000_000,
      10,
    ),
    callsPerSecondOfSource: integer(
      "New calls a second of one address. A domain's own `callsPerSecondOfSource` replaces it there.",
      1,
      100_000,
      2,
    ),
    maxUnconfirmedCalls: integer(
      'Calls at once over UDP whose callers have not yet proved their address by an ACK or a PRACK.',
      1,
      1_000_000,
      100,
    ),
    reservedPercent: integer(
      'Per cent of `calls`, of the RTP ports and of `sip.overload.callsPerSecond` that are kept from them for known networks.',
      0,
      90,
      30,
    ),
  }),
  callDuration: duration('Longest call.', '4h'),
  ring: duration('How long a destination rings where nothing else says.', '60s'),
  documentTimeout: duration("How long a document's server may take.", '5s'),
  recordsKept: format('age', 'How long calls and their records are kept. Written as 36h or 400d.', '400d'),
  messagesKept: format('age', 'How long messages of conversations are kept.', '400d'),
  documentNetworks: list(
    "Private networks that customers' URLs may reach all the same; none: only public addresses.",
    format('network', 'An IP network.'),
    [],
  ),
  project: object('What one project may have of its own making; entries of this file are not counted.', {
    subscribers: integer('Subscribers.', 1, 10_000_000, 200_000),
    resources: integer('Other resources.', 1, 10_000_000, 10_000),
    domainApps: integer('Domain applications.', 1, 1_000_000, 1_000),
    carriers: integer('Carriers.', 1, 100_000, 100),
    tokens: integer('Tokens of the API.', 1, 1_000_000, 100),
  }),
  api: object('Requests to the API within a minute; what is more is refused with 429.', {
    perToken: integer('Of one token.', 1, 10_000_000, 1200),
    perAddress: integer('Of one network address, with whatever tokens.', 1, 10_000_000, 6000),
  }),
  carrierCalls,
  webSockets,
  browsers,
})

const store = object('Where the directory is kept.', {
  url: {
    ...format('postgres-url', 'PostgreSQL database; without it, a SQLite file in the data folder.'),
    writeOnly: true,
  },
  connections: integer('Connections to PostgreSQL at once.', 1, 1_000, 10),
  startTimeout: duration('Longest wait for PostgreSQL at start.', '30s'),
})

const webhooks = object("What is sent to customers' servers.", {
  signingKeys: list(
    'Secrets that sign it, the present one first; further ones are for servers that do not know that one yet. None: one is made, which `trunkline signing-key` prints.',
    { ...text('A secret.'), minLength: 16, writeOnly: true },
    [],
  ),
  recordsUrl: format(
    'http-url',
    'Told the record of each call, by POST with JSON; none: only the log has them.',
  ),
})

/** JSON Schema of the configuration file. `schema.json` is the same, for editors: `node config/write-schema.ts` writes it. */
export const configSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Trunkline configuration',
  type: 'object',
  properties: {
    project: format(
      'name',
      'Id of the first project: everything of this file belongs to it that names no other.',
      'default',
    ),
    projects: list('Further projects.', project, []),
    dataDir: text('Folder for the store, keys and certificates; relative to this file.', './data'),
    store,
    log,
    sip,
    media,
    http,
    limits,
    oauth,
    webhooks,
    push,
    envs: map(
      'Variables that documents of this project may read as envs.<name>.',
      { ...text('A value.'), writeOnly: true },
      {},
    ),
    domains: list('Domain applications: the SIP domains that carriers send calls to.', domain, []),
    carriers: list('Carriers: the trunks by which calls go out, and from which they come in.', carrier, []),
    endpoints: list('SIP endpoints: phones that register, and can be called at their address.', endpoint, []),
    subscribers: list('People who sign in with a browser.', subscriber, []),
    resources: list('Addresses whose handler runs when they are called.', resource, []),
    drain: duration('Time that calls get to end by themselves after SIGTERM.', '30s'),
  },
  additionalProperties: false,
} as const
