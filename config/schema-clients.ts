import { parts } from './schema-parts.ts'

const { duration, integer, object } = parts

const most = 10_000_000
const bytes = (description: string, value: number) =>
  integer(`${description} In bytes.`, 1024, 16 << 20, value)

const share = (description: string, [connections, newConnections, calls, dials]: readonly number[]) =>
  object(description, {
    connections: integer('Connections at once.', 1, most, connections),
    connectionsPerMinute: integer('Connections within a minute.', 1, most, newConnections),
    calls: integer('Calls at once, rung and dialled.', 1, most, calls),
    dialsPerMinute: integer('Calls dialled within a minute.', 1, most, dials),
  })

/** Schema of `limits.webSockets`: what is bounded before anybody knows who connects, and of each connection. */
export const webSockets = object('WebSockets, of browsers and of applications.', {
  connections: integer('Connections at once, over everything.', 1, most, 10_000),
  waiting: integer(
    'Connections at once that have not signed in; one more of each network address that has none.',
    1,
    most,
    2_000,
  ),
  waitingPerAddress: integer('The same of one network address.', 1, most, 500),
  signInTimeout: duration('How long a connection may stay without signing in.', '10s'),
  bytesBeforeSignIn: bytes('What a connection may send before it has signed in, all of it.', 65_536),
  frame: bytes('Longest frame.', 262_144),
  buffered: bytes('What may wait to be sent before a connection that does not read is closed.', 1_048_576),
  requestsPerSecond: integer('Requests of one browser.', 1, most, 100),
  requestsPerSecondOfApplication: integer('Requests of one application.', 1, most, 2_000),
  unacknowledged: integer(
    'Events that a page has not acknowledged before it is given up with its calls.',
    100,
    most,
    1_000,
  ),
  acknowledgeTimeout: duration(
    'How long a page may take to acknowledge an event before its connection is closed.',
    '60s',
  ),
})

const quota = (maxCalls?: number, callsPerSecond?: number) => ({
  maxCalls: integer('Calls to carriers at once.', 1, 1_000_000, maxCalls),
  callsPerSecond: integer('New calls to carriers a second.', 1, 100_000, callsPerSecond),
})

/** Schema of `carrierCalls` of a project. */
export const carrierCallsOfProject = object(
  'Its calls to carriers; default limits.carrierCalls.perProject.',
  quota(),
  [],
  false,
)

/** Schema of `limits.carrierCalls`. */
export const carrierCalls = object(
  'Calls to carriers, besides the limits of each carrier. Each gateway counts its own.',
  {
    perProject: object('Of one project, with all of its callers, documents and applications.', quota()),
    perSubscriber: object('Begun by one subscriber, with all pages.', quota(10, 2)),
    guests: object('Begun by guests of one project, all together.', quota(20, 2)),
  },
)

/** Schema of `limits.browsers`: who may have how many connections and calls. */
export const browsers = object('What browsers may have, by whom they act for and where they are.', {
  perSubscriber: share('Of one subscriber, with all pages and tokens.', [200, 5_000, 100, 300]),
  perToken: share('Of one access token of a subscriber.', [200, 5_000, 100, 300]),
  perGuestToken: share('Of one access token of a guest, or of somebody invited.', [20, 300, 10, 60]),
  perAddress: share(
    'Of one network address (an IPv4 address, the /64 of an IPv6 one).',
    [1_000, 20_000, 1_000, 3_000],
  ),
})
