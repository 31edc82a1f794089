import { duration, format, group, integer, list, object } from './builders.ts'

const maxCount = 10_000_000
const bytes = (description: string, value: number) =>
  integer(`${description} In bytes.`, 1024, 16 << 20, value)

type ShareKey = 'connections' | 'connectionsPerMinute' | 'calls' | 'dialsPerMinute'

const share = (description: string, value: Readonly<Record<ShareKey, number>>) =>
  group(description, {
    connections: integer('Maximum number of concurrent connections.', 1, maxCount, value.connections),
    connectionsPerMinute: integer(
      'Maximum number of new connections per minute.',
      1,
      maxCount,
      value.connectionsPerMinute,
    ),
    calls: integer('Maximum number of concurrent calls, inbound and outbound.', 1, maxCount, value.calls),
    dialsPerMinute: integer(
      'Maximum number of outbound calls per minute.',
      1,
      maxCount,
      value.dialsPerMinute,
    ),
  })

const webSockets = group('Limits of the WebSockets of browsers and applications.', {
  connections: integer('Maximum number of concurrent connections.', 1, maxCount, 10_000),
  waiting: integer(
    'Maximum number of connections that have not signed in. Above it, a network address may still have ' +
      'one such connection.',
    1,
    maxCount,
    2_000,
  ),
  waitingPerAddress: integer(
    'Maximum number of connections from one network address that have not signed in.',
    1,
    maxCount,
    500,
  ),
  signInTimeout: duration('Maximum time to sign in; the connection is then closed.', '10s'),
  bytesBeforeSignIn: bytes('Maximum amount of data that a connection may send before its sign-in.', 65_536),
  frame: bytes('Maximum size of a received message.', 262_144),
  buffered: bytes(
    'Maximum amount of unsent data; the connection of a client that does not read is then closed.',
    1_048_576,
  ),
  requestsPerSecond: integer('Maximum number of requests per second of one browser.', 1, maxCount, 100),
  requestsPerSecondOfApplication: integer(
    'Maximum number of requests per second of one application.',
    1,
    maxCount,
    2_000,
  ),
  unacknowledged: integer(
    'Maximum number of unacknowledged events of a browser session; the session and its calls then end.',
    100,
    maxCount,
    1_000,
  ),
  acknowledgeTimeout: duration(
    'Maximum time for a browser to acknowledge an event; its connection is then closed.',
    '60s',
  ),
})

const quota = <const D extends number | undefined = undefined>(maxCalls?: D, callsPerSecond?: D) => ({
  maxCalls: integer('Maximum number of concurrent calls to carriers.', 1, 1_000_000, maxCalls as D),
  callsPerSecond: integer(
    'Maximum number of new calls to carriers per second.',
    1,
    100_000,
    callsPerSecond as D,
  ),
})

/** Schema of `carrierCalls` of a project. */
export const carrierCallsOfProject = object(
  "Limits of the project's calls to carriers; default limits.carrierCalls.perProject.",
  quota(),
)

const carrierCalls = group(
  'Limits of calls to carriers by their origin; each carrier has its own maxCalls and callsPerSecond. ' +
    'Gateways that share a database count separately.',
  {
    perProject: group(
      'Limits of one project: calls of its callers, documents and applications together. Default none.',
      quota(),
    ),
    perSubscriber: group('Limits of one subscriber, over all browsers.', quota(10, 2)),
    guests: group('Limits of all guests of one project together.', quota(20, 2)),
  },
)

const browsers = group('Quotas of browser connections and their calls, by identity and by network address.', {
  perSubscriber: share('Quotas of one subscriber, over all browsers and tokens.', {
    connections: 200,
    connectionsPerMinute: 5_000,
    calls: 100,
    dialsPerMinute: 300,
  }),
  perToken: share('Quotas of one access token of a subscriber.', {
    connections: 200,
    connectionsPerMinute: 5_000,
    calls: 100,
    dialsPerMinute: 300,
  }),
  perGuestToken: share('Quotas of one access token of a guest or an invited user.', {
    connections: 20,
    connectionsPerMinute: 300,
    calls: 10,
    dialsPerMinute: 60,
  }),
  perAddress: share('Quotas of one network address (an IPv4 address, or a /64 of IPv6).', {
    connections: 1_000,
    connectionsPerMinute: 20_000,
    calls: 1_000,
    dialsPerMinute: 3_000,
  }),
})

/** Schema of `limits`. */
export const limits = group('Limits of calls, requests, connections and stored objects.', {
  calls: integer(
    'Maximum number of concurrent calls of the gateway; further ones get 503.',
    1,
    1_000_000,
    1000,
  ),
  addressDepth: integer(
    'Maximum length of a chain of addresses in which the document of each one calls the next. Stops loops.',
    1,
    50,
    10,
  ),
  addressCalls: integer(
    'Maximum number of concurrent calls to addresses that one call causes, directly or through other ' +
      'addresses. The maximum over its whole duration is 20 times this number.',
    1,
    10_000,
    50,
  ),
  strangers: group(
    'Limits of untrusted SIP callers, whose address is in no `allow` list and who have not authenticated.',
    {
      maxCallsOfSource: integer(
        "Maximum number of concurrent calls from one address (IPv6: /64), over all domains. A domain's " +
          '`maxCallsOfSource` overrides it.',
        1,
        1_000_000,
        10,
      ),
      callsPerSecondOfSource: integer(
        "Maximum number of new calls per second from one address. A domain's " +
          '`callsPerSecondOfSource` overrides it.',
        1,
        100_000,
        2,
      ),
      maxUnconfirmedCalls: integer(
        'Maximum number of concurrent calls over UDP whose source address is not yet confirmed by an ' +
          'ACK or PRACK.',
        1,
        1_000_000,
        100,
      ),
      reservedPercent: integer(
        'Percentage of `limits.calls`, of the RTP ports and of `sip.overload.callsPerSecond` that ' +
          'untrusted callers cannot use.',
        0,
        90,
        30,
      ),
    },
  ),
  callDuration: duration('Maximum duration of a call; the gateway then hangs up.', '4h'),
  ring: duration('Maximum ring time of a destination, unless the document specifies one.', '60s'),
  documentTimeout: duration(
    "Maximum time of a request to a customer's server, with its retries. The URL may set another time (tt=).",
    '5s',
  ),
  recordsKept: format(
    'age',
    'Time after which calls, their records and sessions of rooms are deleted. Written as 36h or 400d.',
    '400d',
  ),
  messagesKept: format(
    'age',
    'Time after which messages of conversations are deleted. Written as 36h or 400d.',
    '400d',
  ),
  documentNetworks: list(
    "Private networks that customers' URLs may reach. By default, they reach public addresses only.",
    format('network', 'IP network.'),
    [],
  ),
  project: group(
    'Limits of objects that one project creates through the API. Entries of this file do not count.',
    {
      subscribers: integer('Maximum number of subscribers.', 1, 10_000_000, 200_000),
      resources: integer('Maximum number of other resources.', 1, 10_000_000, 10_000),
      domainApps: integer('Maximum number of domain applications.', 1, 1_000_000, 1_000),
      carriers: integer('Maximum number of carriers.', 1, 100_000, 100),
      tokens: integer('Maximum number of API tokens.', 1, 1_000_000, 100),
    },
  ),
  api: group('Limits of API requests; further requests get 429.', {
    perToken: integer('Maximum number of requests per minute with one token.', 1, 10_000_000, 1200),
    perAddress: integer(
      'Maximum number of requests per minute from one network address, over all tokens.',
      1,
      10_000_000,
      6000,
    ),
  }),
  carrierCalls,
  webSockets,
  browsers,
})
