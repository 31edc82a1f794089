import { parts } from './schema-parts.ts'

const { duration, format, integer, list, object, text } = parts

/** Path of a file. */
export const file = (description: string) => format('file-path', description)

/** List of IP networks. */
export const networks = (description: string, value?: readonly unknown[]) =>
  list(description, format('network', 'An IP network.'), value)

/** User name, password, and `more`. */
export const credentials = (description: string, more: Parameters<typeof object>[1] = {}) =>
  object(
    description,
    {
      username: { ...text('User name.'), minLength: 1 },
      password: { ...text('Password; better from the environment.'), minLength: 1, writeOnly: true },
      ...more,
    },
    ['username', 'password'],
  )

/** Digest credentials that a caller has to show. */
export const challenge = credentials('Digest credentials that callers have to show; without it, none.')

const listen = {
  ...list(
    'Where the embedded SIP agent listens. Unused with drachtio.',
    object(
      'One listener.',
      {
        transport: { ...text('Transport protocol.'), enum: ['udp', 'tcp', 'tls', 'ws', 'wss'] },
        address: format('ip', 'Local address to listen on.', '0.0.0.0'),
        port: integer('Port to listen on; 0 takes a free one.', 0, 65_535, 5060),
      },
      ['transport'],
    ),
  ),
  minItems: 1,
  default: [
    { transport: 'udp', address: '0.0.0.0', port: 5060 },
    { transport: 'tcp', address: '0.0.0.0', port: 5060 },
  ],
}

const announceTo = list(
  'Addresses for peers of certain networks; the first that fits goes before announce.',
  object(
    'One announced address.',
    {
      networks: { ...networks('The networks whose peers are told it.'), minItems: 1 },
      address: format('announced-ip', 'The address.'),
    },
    ['networks', 'address'],
  ),
  [],
)

const tls = object('Certificates of the TLS and WSS listeners, PEM files.', {
  certificate: file('Certificate, with its chain; without one the self-made one of HTTPS is used.'),
  key: file('Its key.'),
  names: list(
    'Further certificates, by the name that the client asks for (SNI).',
    object(
      'One certificate.',
      {
        host: format(
          'server-name',
          'The name; *.sip.example is any name of one label before it. The whole name goes first.',
        ),
        certificate: file('Certificate, with its chain.'),
        key: file('Its key.'),
      },
      ['host', 'certificate', 'key'],
    ),
    [],
  ),
  ca: file("Authorities that sign clients' and carriers' certificates; without it, the system's."),
  clientCertificates: {
    ...text('Whether clients are asked for a certificate, and must have one.', 'none'),
    enum: ['none', 'request', 'require'],
  },
  minVersion: { ...text('Lowest TLS version.', 'TLSv1.2'), enum: ['TLSv1.2', 'TLSv1.3'] },
})

const messages = object('How large received SIP may be, and how much of it is held at once.', {
  bytes: integer('Bytes of one message.', 1_024, 1_048_576, 65_535),
  headers: integer('Header fields of one message.', 16, 1_024, 256),
  headerLength: integer('Characters of one header field.', 256, 65_536, 8_192),
  connections: integer('Connections per listener; a quarter of them from one address.', 4, 100_000, 1_000),
  transactions: integer(
    'Transactions of received requests; above it new ones get 503.',
    100,
    1_000_000,
    50_000,
  ),
})

const shield = object(
  'The shield in front of everything. Known networks are those of the allow lists of domains and carriers.',
  {
    packetsPerSecond: integer('Packets a second from one unknown address.', 1, 1_000_000, 50),
    knownPacketsPerSecond: integer(
      'Packets a second from one address of a known network.',
      1,
      1_000_000,
      5_000,
    ),
    banAfter: integer('Offences within a minute after which an address is banned.', 1, 100_000, 20),
    banFor: duration('How long it is banned.', '10m'),
    scanners: list(
      'Parts of User-Agent headers whose requests are dropped, in any case of letters.',
      { ...text('A part of a User-Agent header.'), minLength: 3 },
      [
        'friendly-scanner',
        'sipvicious',
        'sipcli',
        'sip-scan',
        'sipsak',
        'sundayddr',
        'iwar',
        'vaxsipuseragent',
        'pplsip',
      ],
    ),
    strangers: {
      ...text(
        'What requests of unknown addresses get: an answer, which asks for a password where one could let them in; 403 and no question (refuse), so that only known networks sign in; or nothing (drop).',
        'answer',
      ),
      enum: ['answer', 'refuse', 'drop'],
    },
  },
)

const overload = object('When new calls get 503.', {
  busyPercent: integer(
    'Per cent of its time that the gateway is busy, from which new calls are refused; 100: never.',
    10,
    100,
    85,
  ),
  callsPerSecond: integer('New calls a second, over everything.', 1, 100_000, 500),
  retryAfter: duration('Time after which a refused caller may try again.', '10s'),
})

const sessionTimer = object('Session timers (RFC 4028), which find calls whose far side is gone.', {
  expires: duration('Interval that we ask for.', '30m'),
  min: duration('Shortest interval that we take.', '90s'),
})

const registrar = object('The registrar for SIP endpoints.', {
  domains: list(
    'Hosts at which endpoints register; none: there is no registrar.',
    format('host', 'A host.'),
    [],
  ),
  minExpires: duration('Shortest registration.', '60s'),
  maxExpires: duration('Longest registration.', '1h'),
  contacts: integer('Contacts of one endpoint.', 1, 100, 10),
  keepAlive: duration('Time between two OPTIONS to a phone behind NAT that registered by UDP.', '30s'),
})

/** Schema of `sip`. */
export const sip = object('The SIP side, towards carriers.', {
  listen,
  announce: format(
    'announced-ip',
    'Address that carriers can reach, where it is not the local one (behind NAT).',
  ),
  announceTo,
  tls,
  drachtio: object(
    'A drachtio-server to use instead of the embedded agent.',
    {
      host: format('host', 'Host of the drachtio-server.'),
      port: integer('Port for applications of the drachtio-server.', 1, 65_535, 9022),
      secret: { ...text('Shared secret of the drachtio-server.'), minLength: 1, writeOnly: true },
    },
    ['host', 'secret'],
    false,
  ),
  userAgent: text('Value of the Server and User-Agent headers; empty: none.', 'Trunkline'),
  messages,
  shield,
  overload,
  sessionTimer,
  registrar,
  challenges: {
    ...list(
      'Algorithms of the digest challenges that callers and endpoints get, in this order. Without MD5 here, answers with MD5 are not accepted. Many phones give up over one that they do not know: SHA-256 alone is for those who know theirs.',
      { ...text('An algorithm.'), enum: ['MD5', 'SHA-256'] },
      ['MD5'],
    ),
    minItems: 1,
  },
  domainSuffix: format(
    'host',
    'End of the domains of domain applications that are made by the API; default dapp. and http.publicHost, or dapp.localhost.',
  ),
  dial: {
    ...text(
      'SIP URIs that may be dialled: any, or those of the project’s carriers alone. With several projects that do not trust each other, carriers is the safer one.',
      'any',
    ),
    enum: ['any', 'carriers'],
  },
  dialNetworks: networks(
    'Private networks that dialled SIP URIs may reach; carriers and registered endpoints need none.',
    [],
  ),
})
