import { parts } from './builders.ts'
import { carrier } from './carrier-schema.ts'
import { domain, endpoint, project, resource, subscriber } from './entry-schemas.ts'
import { browsers, carrierCalls, webSockets } from './limits-schema.ts'
import { oauth } from './oauth-schema.ts'
import { push } from './push-schema.ts'
import { recordings } from './recordings-schema.ts'
import { sip } from './sip-schema.ts'
import { sounds, speech } from './sound-schema.ts'
import { webrtc } from './webrtc-schema.ts'

const { duration, flag, format, integer, list, object, text, map } = parts

const listener = (description: string, address: string, port: number) => ({
  ...object(description, {
    address: format('ip', 'Local address to listen on.', address),
    port: integer('Port to listen on; 0 selects a free one.', 0, 65_535, port),
  }),
})

const switchable = (schema: Readonly<Record<string, unknown>>) => ({ ...schema, type: ['object', 'boolean'] })

/** Schema of an address, or of a list with one address of each IP family. */
const onePerFamily = (kind: string, description: string, value?: readonly string[]) => ({
  ...format(kind, description),
  type: ['string', 'array'],
  items: format(kind, 'IP address.'),
  minItems: 1,
  maxItems: 2,
  ...(value && { default: value }),
})

const log = object('Log lines.', {
  level: {
    ...text('Minimum level of log lines.', 'info'),
    enum: ['trace', 'debug', 'info', 'warn', 'error', 'silent'],
  },
  pretty: flag('Human-readable lines instead of JSON.', false),
})

const media = object('Audio.', {
  rtp: object('RTP towards carriers.', {
    bind: onePerFamily(
      'ip',
      'Local address of the RTP ports, or a list of one IPv4 and one IPv6 address. In a list, 0.0.0.0 or :: is ignored if the machine has no address of that family.',
      ['0.0.0.0', '::'],
    ),
    announce: onePerFamily(
      'announced-ip',
      'Public address in SDP, if the gateway is behind NAT, or a list with one address of each family of bind.',
    ),
    ports: object('Range of ports: the first is even, the last is odd.', {
      from: integer('First port.', 1024, 65_534, 20_000),
      to: integer('Last port.', 1025, 65_535, 29_999),
    }),
    threads: integer('Number of worker threads.', 1, 64, 1),
    startTimeout: duration('Maximum wait for the first packet of a call.', '30s'),
    mediaTimeout: duration('Maximum time without packets before a call is ended.', '60s'),
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
      certificate: text('PEM file of the certificate; default a self-signed one.'),
      key: text('PEM file of the key.'),
      hosts: {
        type: 'array',
        description:
          'Names in a self-signed certificate; default the host of publicHost, and the same with fabric as its first label, which the published SDK uses. Without publicHost: localhost.',
        items: format('host', 'Host name or address.'),
        minItems: 1,
      },
    }),
  ),
  metrics: {
    ...object(
      'Separate plain listener for metrics and health. null: health is on the other listeners; metrics are on the plain one, if that listens on loopback, and otherwise off.',
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
      'Secret of applications for the API: the password of Basic auth; the user is the id of the project. Without it, the API is closed.',
    ),
    minLength: 16,
    writeOnly: true,
  },
  operatorToken: {
    ...text(
      'Bearer token of the operator, which permits a reload of the configuration over HTTP. Without it, that path does not exist.',
    ),
    minLength: 32,
    writeOnly: true,
  },
  publicHost: format('host-port', 'Host, and port if needed, that clients use; part of tokens.'),
  trustedProxies: list(
    'Proxies that terminate TLS for the gateway: their X-Forwarded-For and X-Forwarded-Proto headers are trusted. Default none.',
    format('network', 'IP network.'),
    [],
  ),
  maxConnections: integer(
    'Maximum number of connections of one listener, without WebSockets: limits.webSockets limits those.',
    8,
    100_000,
    1_024,
  ),
  maxConnectionsPerAddress: integer(
    'Maximum number of idle connections of one network address on one listener; a new one replaces the oldest. Trusted proxies have no limit.',
    1,
    100_000,
    64,
  ),
  headersTimeout: duration('Maximum time to receive the headers of a request.', '10s'),
  origins: list(
    "Origins of pages that may use the API; empty permits all. Only these origins and the gateway's own page may sign in with a password.",
    format('origin', 'Origin.'),
    [],
  ),
})

const limits = object('Limits.', {
  calls: integer('Maximum number of concurrent calls.', 1, 1_000_000, 1000),
  addressDepth: integer(
    'Maximum number of addresses in a chain whose documents connect to the next one.',
    1,
    50,
    10,
  ),
  addressCalls: integer(
    'Maximum number of concurrent calls to addresses that one call may cause; in total, 20 times as many.',
    1,
    10_000,
    50,
  ),
  strangers: object(
    'Limits of untrusted SIP callers: those who are in no `allow` list and have not authenticated.',
    {
      maxCallsOfSource: integer(
        "Maximum number of concurrent calls of one address (IPv6: /64), over all domains. A domain's own `maxCallsOfSource` overrides it.",
        1,
        1_000_000,
        10,
      ),
      callsPerSecondOfSource: integer(
        "Maximum number of new calls per second of one address. A domain's own `callsPerSecondOfSource` overrides it.",
        1,
        100_000,
        2,
      ),
      maxUnconfirmedCalls: integer(
        'Maximum number of concurrent calls over UDP whose source address is not yet confirmed by an ACK or PRACK.',
        1,
        1_000_000,
        100,
      ),
      reservedPercent: integer(
        'Percentage of `calls`, of the RTP ports and of `sip.overload.callsPerSecond` that is reserved for known networks.',
        0,
        90,
        30,
      ),
    },
  ),
  callDuration: duration('Maximum duration of a call.', '4h'),
  ring: duration('Default ring time of a destination.', '60s'),
  documentTimeout: duration("Maximum time of a document's server to respond.", '5s'),
  recordsKept: format('age', 'Retention time of calls and their records. Written as 36h or 400d.', '400d'),
  messagesKept: format('age', 'Retention time of messages of conversations.', '400d'),
  documentNetworks: list(
    "Private networks that customers' URLs may reach; default none: only public addresses.",
    format('network', 'IP network.'),
    [],
  ),
  project: object(
    'Maximum numbers of objects that one project may create by the API; entries of this file do not count.',
    {
      subscribers: integer('Subscribers.', 1, 10_000_000, 200_000),
      resources: integer('Other resources.', 1, 10_000_000, 10_000),
      domainApps: integer('Domain applications.', 1, 1_000_000, 1_000),
      carriers: integer('Carriers.', 1, 100_000, 100),
      tokens: integer('Tokens of the API.', 1, 1_000_000, 100),
    },
  ),
  api: object('Maximum numbers of API requests per minute; further requests get 429.', {
    perToken: integer('Requests of one token.', 1, 10_000_000, 1200),
    perAddress: integer('Requests of one network address, over all tokens.', 1, 10_000_000, 6000),
  }),
  carrierCalls,
  webSockets,
  browsers,
})

const store = object('Database of the directory.', {
  url: {
    ...format('postgres-url', 'URL of a PostgreSQL database; default a SQLite file in the data folder.'),
    writeOnly: true,
  },
  connections: integer('Maximum number of connections to PostgreSQL.', 1, 1_000, 10),
  startTimeout: duration('Maximum wait for PostgreSQL at start.', '30s'),
})

const webhooks = object("Requests to customers' servers.", {
  signingKeys: list(
    'Secrets that sign requests, the current one first; older ones are for servers that do not have it yet. Default a generated one, which `trunkline signing-key` prints.',
    { ...text('Secret.'), minLength: 16, writeOnly: true },
    [],
  ),
  recordsUrl: format(
    'http-url',
    'URL that receives the record of each call by POST with JSON; default none: only the log has them.',
  ),
})

/**
 * JSON Schema of the configuration file. `node config/write-schema.ts` writes it to `schema.json` for
 * editors.
 */
export const configSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Trunkline configuration',
  type: 'object',
  properties: {
    project: format(
      'name',
      'Id of the first project, which owns all entries of this file that name no other project.',
      'default',
    ),
    projects: list('Additional projects.', project, []),
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
      'Variables that documents can read as envs.<name>.',
      { ...text('A value.'), writeOnly: true },
      {},
    ),
    domains: list('Domain applications: SIP domains that receive calls.', domain, []),
    carriers: list('Carriers: trunks for outbound and inbound calls.', carrier, []),
    endpoints: list('SIP endpoints: phones that register and have an address.', endpoint, []),
    subscribers: list('People who sign in with a browser.', subscriber, []),
    resources: list('Resources: addresses with a handler.', resource, []),
    drain: duration('Time for calls to end by themselves after SIGTERM.', '30s'),
  },
  additionalProperties: false,
} as const
