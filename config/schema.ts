import { carrier } from './schema-carrier.ts'
import { domain, endpoint, resource, subscriber } from './schema-entries.ts'
import { parts } from './schema-parts.ts'
import { recordings } from './schema-recordings.ts'
import { sip } from './schema-sip.ts'
import { sounds, speech } from './schema-sound.ts'

const { duration, flag, format, integer, list, object, text, map } = parts

const listener = (description: string, address: string, port: number) => ({
  ...object(description, {
    address: format('ip', 'Local address to listen on.', address),
    port: integer('Port to listen on; 0 takes a free one.', 0, 65_535, port),
  }),
})

const switchable = (schema: Readonly<Record<string, unknown>>) => ({ ...schema, type: ['object', 'boolean'] })

const log = object('Log lines.', {
  level: {
    ...text('How much is logged.', 'info'),
    enum: ['trace', 'debug', 'info', 'warn', 'error', 'silent'],
  },
  pretty: flag('Lines for people instead of JSON.', false),
})

const media = object('Audio.', {
  rtp: object('RTP towards carriers.', {
    bind: format('ip', 'Local address of the RTP ports.', '0.0.0.0'),
    announce: format('announced-ip', 'Address in our SDP, where it is not the local one (behind NAT).'),
    ports: object('Range of ports: an even first one, an odd last one.', {
      from: integer('First port.', 1024, 65_534, 20_000),
      to: integer('Last port.', 1025, 65_535, 29_999),
    }),
    threads: integer('Worker threads.', 1, 64, 1),
    startTimeout: duration('Longest wait for the first packet of a call.', '30s'),
    mediaTimeout: duration('Longest silence on the wire before a call is ended.', '60s'),
  }),
  webrtc: object('WebRTC towards browsers.', {
    bind: format('ip', 'Local address for browsers.', '0.0.0.0'),
    announce: list(
      'Addresses for ICE candidates; none: the local ones.',
      format('announced-ip', 'An address that browsers can reach.'),
      [],
    ),
    port: integer('The one port of all browsers, UDP and TCP.', 1, 65_535, 44_444),
  }),
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
        ...list('Names in a self-made certificate.', format('host', 'A host name or address.'), [
          'localhost',
        ]),
        minItems: 1,
      },
    }),
  ),
  metrics: {
    ...object(
      'A plain listener of its own for metrics and health; null: health is on the other listeners, metrics on the plain one alone, and nowhere where plain is off.',
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
  },
  publicHost: format('host-port', 'Host, and port where needed, that clients use; written into tokens.'),
  origins: list(
    'Origins of pages that may use the API; none: all. Only those named here, and our own page, may sign in with a password.',
    format('origin', 'An origin.'),
    [],
  ),
})

const limits = object('Limits.', {
  calls: integer('Calls at once, over everything.', 1, 1_000_000, 1000),
  callDuration: duration('Longest call.', '4h'),
  ring: duration('How long a destination rings where nothing else says.', '60s'),
  documentTimeout: duration("How long a document's server may take.", '5s'),
  documentNetworks: list(
    "Private networks that customers' URLs may reach all the same; none: only public addresses.",
    format('network', 'An IP network.'),
    [],
  ),
})

const webhooks = object("What is sent to customers' servers.", {
  signingKeys: list(
    'Secrets that sign it, the present one first; further ones are for servers that do not know that one yet. None: one is made, which `trunkline signing-key` prints.',
    { ...text('A secret.'), minLength: 16 },
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
    project: format('name', 'Id of the project that everything of this file belongs to.', 'default'),
    dataDir: text('Folder for the store, keys and certificates; relative to this file.', './data'),
    log,
    sip,
    media,
    http,
    limits,
    webhooks,
    envs: map('Variables that documents of this project may read as envs.<name>.', text('A value.'), {}),
    domains: list('Domain applications: the SIP domains that carriers send calls to.', domain, []),
    carriers: list('Carriers: the trunks by which calls go out, and from which they come in.', carrier, []),
    endpoints: list('SIP endpoints: phones that register, and can be called at their address.', endpoint, []),
    subscribers: list('People who sign in with a browser.', subscriber, []),
    resources: list('Addresses whose handler runs when they are called.', resource, []),
    drain: duration('Time that calls get to end by themselves after SIGTERM.', '30s'),
  },
  additionalProperties: false,
} as const
