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
    'Maximum number of connections that have not signed in; each network address without one may open ' +
      'one more.',
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
  signInTimeout: duration('Maximum time from the connection to its sign-in.', '10s'),
  bytesBeforeSignIn: bytes('Maximum data that a connection may send before its sign-in.', 65_536),
  frame: bytes('Maximum size of a frame.', 262_144),
  buffered: bytes('Maximum unsent data before a connection that does not read is closed.', 1_048_576),
  requestsPerSecond: integer('Maximum number of requests per second of one browser.', 1, maxCount, 100),
  requestsPerSecondOfApplication: integer(
    'Maximum number of requests per second of one application.',
    1,
    maxCount,
    2_000,
  ),
  unacknowledged: integer(
    'Maximum number of unacknowledged events before a browser session and its calls end.',
    100,
    maxCount,
    1_000,
  ),
  acknowledgeTimeout: duration(
    'Maximum time to acknowledge an event before the connection is closed.',
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
  'Limits of calls to carriers, besides those of each carrier. Each gateway counts its own calls.',
  {
    perProject: group(
      'Limits of one project, including its callers, documents and applications. Default none.',
      quota(),
    ),
    perSubscriber: group('Limits of one subscriber, over all browsers.', quota(10, 2)),
    guests: group('Common limits of all guests of one project.', quota(20, 2)),
  },
)

const browsers = group('Quotas of browsers, by identity and by network address.', {
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
export const limits = group('Limits.', {
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
  strangers: group(
    'Limits of untrusted SIP callers: those who are in no `allow` list and have not authenticated.',
    {
      maxCallsOfSource: integer(
        "Maximum number of concurrent calls of one address (IPv6: /64), over all domains. A domain's " +
          'own `maxCallsOfSource` overrides it.',
        1,
        1_000_000,
        10,
      ),
      callsPerSecondOfSource: integer(
        "Maximum number of new calls per second of one address. A domain's own " +
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
        'Percentage of `calls`, of the RTP ports and of `sip.overload.callsPerSecond` that is reserved ' +
          'for known networks.',
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
  project: group(
    'Maximum numbers of objects that one project may create by the API; entries of this file do not count.',
    {
      subscribers: integer('Subscribers.', 1, 10_000_000, 200_000),
      resources: integer('Other resources.', 1, 10_000_000, 10_000),
      domainApps: integer('Domain applications.', 1, 1_000_000, 1_000),
      carriers: integer('Carriers.', 1, 100_000, 100),
      tokens: integer('Tokens of the API.', 1, 1_000_000, 100),
    },
  ),
  api: group('Maximum numbers of API requests per minute; further requests get 429.', {
    perToken: integer('Requests of one token.', 1, 10_000_000, 1200),
    perAddress: integer('Requests of one network address, over all tokens.', 1, 10_000_000, 6000),
  }),
  carrierCalls,
  webSockets,
  browsers,
})
