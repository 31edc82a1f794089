import {
  choice,
  duration,
  format,
  group,
  integer,
  list,
  object,
  type Properties,
  secret,
  text,
} from './builders.ts'

/** Schema of the path of a file. */
export const file = (description: string) => format('file-path', description)

/** Schema of a list of IP networks. */
export const networks = <const D extends readonly string[] | undefined = undefined>(
  description: string,
  value?: D,
) => list(description, format('network', 'IP network.'), value as D)

/** Schema of a user name and password, with the keys of `more`. */
export const credentials = <const P extends Properties>(description: string, more: P) =>
  object(
    description,
    {
      username: { ...text('User name.'), minLength: 1 },
      password: secret('Password, preferably from an environment variable.', 1),
      ...more,
    },
    ['username', 'password'],
  )

/** Schema of the digest credentials that callers must present. */
export const challenge = credentials('Digest credentials that callers must present; default none.', {})

const listen = {
  ...list(
    'Listeners of the embedded SIP agent; without effect if drachtio is set.',
    object(
      'Listener.',
      {
        transport: choice('Transport protocol.', ['udp', 'tcp', 'tls', 'ws', 'wss']),
        address: format('ip', 'Local address to listen on.', '0.0.0.0'),
        port: integer('Port to listen on; 0 selects a free one.', 0, 65_535, 5060),
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
  'Addresses in Via and Contact for peers in certain networks. The first match overrides announce.',
  object(
    'Announced address.',
    {
      networks: { ...networks('Networks of the peers.'), minItems: 1 },
      address: format('announced-ip', 'Address for these peers.'),
    },
    ['networks', 'address'],
  ),
  [],
)

const tls = group('Certificates of the TLS and WSS listeners, as PEM files.', {
  certificate: file('Certificate with its chain; requires key. Default the certificate of HTTPS.'),
  key: file('Key of the certificate.'),
  names: list(
    'Additional certificates, by the name that the client requests (SNI).',
    object(
      'Certificate of a name.',
      {
        host: format(
          'server-name',
          'Host name; *.sip.example matches names with exactly one label in place of *. An exact name ' +
            'takes precedence.',
        ),
        certificate: file('Certificate with its chain.'),
        key: file('Key of the certificate.'),
      },
      ['host', 'certificate', 'key'],
    ),
    [],
  ),
  ca: file("Certificate authorities for the certificates of clients and carriers; default the system's."),
  clientCertificates: choice(
    'Whether clients are asked for a certificate (request), or rejected without a valid one (require).',
    ['none', 'request', 'require'],
    'none',
  ),
  minVersion: choice(
    'Minimum TLS version of clients, and of connections to carriers.',
    ['TLSv1.2', 'TLSv1.3'],
    'TLSv1.2',
  ),
})

const messages = group('Limits of received SIP messages, accepted connections and transactions.', {
  bytes: integer('Maximum size of a message in bytes.', 1_024, 1_048_576, 65_535),
  headers: integer('Maximum number of header fields of a message.', 16, 1_024, 256),
  headerLength: integer('Maximum length of a header field in characters.', 256, 65_536, 8_192),
  connections: integer(
    'Maximum number of connections of one listener. One address may have a quarter of them, and all ' +
      'untrusted peers together three quarters.',
    4,
    100_000,
    1_000,
  ),
  transactions: integer(
    'Maximum number of server transactions in progress; further requests get 503.',
    100,
    1_000_000,
    50_000,
  ),
})

const shield = group(
  'Protection of the SIP listeners. Known networks are those in the allow lists of domains and carriers.',
  {
    packetsPerSecond: integer(
      'Maximum number of packets per second from one unknown address.',
      1,
      1_000_000,
      50,
    ),
    knownPacketsPerSecond: integer(
      'Maximum number of packets per second from one address of a known network.',
      1,
      1_000_000,
      5_000,
    ),
    banAfter: integer(
      'Number of offences within a minute after which an address is banned. Offences are malformed ' +
        'messages, rejected calls and failed sign-ins. Datagrams whose source may be forged do not count, ' +
        'and known networks are never banned.',
      1,
      100_000,
      20,
    ),
    banFor: duration('Duration of a ban.', '10m'),
    scanners: list(
      'Requests with one of these texts in User-Agent are dropped without a response; case is ignored.',
      { ...text('Part of a User-Agent header.'), minLength: 3 },
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
    strangers: choice(
      'Response to requests from unknown addresses. answer: a normal response, or a digest challenge if a ' +
        'password can permit the request. refuse: 403 without a challenge, so that only known networks can ' +
        'sign in; a domain with challenge then requires allow. drop: no response; every domain then ' +
        'requires allow.',
      ['answer', 'refuse', 'drop'],
      'answer',
    ),
  },
)

const overload = group('Limits of the load, above which new calls are rejected with 503.', {
  busyPercent: integer(
    'Utilization of the event loop in percent above which new calls are rejected; 100 turns the check off.',
    10,
    100,
    85,
  ),
  callsPerSecond: integer('Maximum number of new calls per second of the gateway.', 1, 100_000, 500),
  retryAfter: duration('Time after which a rejected caller may retry (Retry-After).', '10s'),
})

const sessionTimer = group('Session timers (RFC 4028), which detect calls whose far side has disappeared.', {
  expires: duration('Session interval to request; at least 90s.', '30m'),
  min: duration('Minimum session interval to accept, at least 90s; shorter ones get 422.', '90s'),
})

const registrar = group('Registrar for SIP endpoints.', {
  domains: list(
    'Hosts at which endpoints register, other than those of domains; empty turns the registrar off.',
    format('host', 'Host.'),
    [],
  ),
  minExpires: duration('Minimum expiry of a registration; shorter ones get 423.', '60s'),
  maxExpires: duration('Maximum expiry of a registration; longer ones are shortened.', '1h'),
  contacts: integer(
    'Maximum number of contacts of one endpoint. A further one replaces a contact without an instance id, ' +
      'otherwise the first to expire.',
    1,
    100,
    10,
  ),
  keepAlive: duration(
    'Interval of OPTIONS to phones behind NAT that registered over UDP, so that calls reach them.',
    '30s',
  ),
})

const trace = group(
  'SIP messages that the embedded agent keeps in memory, without secrets, for `trunkline trace`. ' +
    'The oldest ones are replaced.',
  {
    maxMessages: integer('Maximum number of messages; 0 keeps none.', 0, 1_000_000, 10_000),
    maxBytes: integer('Memory for the messages in bytes.', 65_536, 1_073_741_824, 8_388_608),
  },
)

/** Schema of `sip`. */
export const sip = group('SIP towards carriers and endpoints.', {
  listen,
  announce: format('announced-ip', 'Public address in Via and Contact, if the gateway is behind NAT.'),
  announceTo,
  tls,
  drachtio: object(
    'drachtio-server to use instead of the embedded agent.',
    {
      host: format('host', 'Host of the drachtio-server.'),
      port: integer('Port on which the drachtio-server accepts applications.', 1, 65_535, 9022),
      secret: secret('Shared secret of the drachtio-server.', 1),
    },
    ['host', 'secret'],
  ),
  userAgent: text('Value of the Server and User-Agent headers; empty omits them.', 'Trunkline'),
  messages,
  trace,
  shield,
  overload,
  sessionTimer,
  registrar,
  challenges: {
    ...list(
      'Algorithms of digest challenges to callers and endpoints, in order. SHA-256 is always accepted, ' +
        'MD5 only if listed. Many phones fail on an unknown algorithm, so list SHA-256 only if all phones ' +
        'support it.',
      choice('Algorithm.', ['MD5', 'SHA-256']),
      ['MD5'],
    ),
    minItems: 1,
  },
  domainSuffix: format(
    'host',
    'Suffix of the domains of domain applications that the API creates. Default dapp. followed by the host ' +
      'of http.publicHost, or by localhost.',
  ),
  dial: choice(
    'SIP URIs that may be dialled: any, or only those of the project’s carriers. Choose carriers if ' +
      'projects do not trust each other.',
    ['any', 'carriers'],
    'any',
  ),
  dialNetworks: networks(
    'Private networks that dialled SIP URIs may reach; default none. Carriers and registered endpoints ' +
      'need no entry.',
    [],
  ),
})
