import { parts } from './builders.ts'

const { duration, integer, object } = parts

const maxCount = 10_000_000
const bytes = (description: string, value: number) =>
  integer(`${description} In bytes.`, 1024, 16 << 20, value)

const share = (description: string, [connections, newConnections, calls, dials]: readonly number[]) =>
  object(description, {
    connections: integer('Maximum number of concurrent connections.', 1, maxCount, connections),
    connectionsPerMinute: integer(
      'Maximum number of new connections per minute.',
      1,
      maxCount,
      newConnections,
    ),
    calls: integer('Maximum number of concurrent calls, inbound and outbound.', 1, maxCount, calls),
    dialsPerMinute: integer('Maximum number of outbound calls per minute.', 1, maxCount, dials),
  })

/** Schema of `limits.webSockets`: limits before sign-in and limits of each connection. */
export const webSockets = object('Limits of the WebSockets of browsers and applications.', {
  connections: integer('Maximum number of concurrent connections.', 1, maxCount, 10_000),
  waiting: integer(
    'Maximum number of connections that have not signed in; each network address without one may open one more.',
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

const quota = (maxCalls?: number, callsPerSecond?: number) => ({
  maxCalls: integer('Maximum number of concurrent calls to carriers.', 1, 1_000_000, maxCalls),
  callsPerSecond: integer('Maximum number of new calls to carriers per second.', 1, 100_000, callsPerSecond),
})

/** Schema of `carrierCalls` of a project. */
export const carrierCallsOfProject = object(
  "Limits of the project's calls to carriers; default limits.carrierCalls.perProject.",
  quota(),
  [],
  false,
)

/** Schema of `limits.carrierCalls`. */
export const carrierCalls = object(
  'Limits of calls to carriers, besides those of each carrier. Each gateway counts its own calls.',
  {
    perProject: object('Limits of one project, including its callers, documents and applications.', quota()),
    perSubscriber: object('Limits of one subscriber, over all browsers.', quota(10, 2)),
    guests: object('Common limits of all guests of one project.', quota(20, 2)),
  },
)

/** Schema of `limits.browsers`: quotas of connections and calls. */
export const browsers = object('Quotas of browsers, by identity and by network address.', {
  perSubscriber: share('Quotas of one subscriber, over all browsers and tokens.', [200, 5_000, 100, 300]),
  perToken: share('Quotas of one access token of a subscriber.', [200, 5_000, 100, 300]),
  perGuestToken: share('Quotas of one access token of a guest or an invited user.', [20, 300, 10, 60]),
  perAddress: share(
    'Quotas of one network address (an IPv4 address, or a /64 of IPv6).',
    [1_000, 20_000, 1_000, 3_000],
  ),
})
