import { randomUUID } from 'node:crypto'
import type { WebSocketLimits } from '../../config/types.ts'
import type { Edge, WebRtc } from '../../media/types.ts'
import type { Arrivals } from '../calls/call/arrival.ts'
import type { Metrics } from '../core/metrics.ts'
import type { Push } from '../push/push.ts'
import type { RpcHandler, RpcSession } from '../rpc/rpc-session.ts'
import { BrowserCallFactory } from '../rpc/subscriber/browser-call-factory.ts'
import { BrowserConnection, type BrowserConnectionDeps } from '../rpc/subscriber/browser-connection.ts'
import { BrowserCredentials } from '../rpc/subscriber/browser-credentials.ts'
import { BrowserDialRules } from '../rpc/subscriber/browser-dial-rules.ts'
import { BrowserDialer } from '../rpc/subscriber/browser-dialer.ts'
import { BrowserQuotas } from '../rpc/subscriber/browser-quotas.ts'
import type { SessionLimits } from '../rpc/subscriber/browser-session.ts'
import { CallParties } from '../rpc/subscriber/call-parties.ts'
import { CallTransfers } from '../rpc/subscriber/call-transfers.ts'
import { IceServers } from '../rpc/subscriber/ice-servers.ts'
import { Presence } from '../rpc/subscriber/presence.ts'
import { PresenceRequests } from '../rpc/subscriber/presence-requests.ts'
import { PresenceWatch } from '../rpc/subscriber/presence-watch.ts'
import { SubscriberCallLog, type SubscriberCallLogDeps } from '../rpc/subscriber/subscriber-call-log.ts'
import { SubscriberRinger } from '../rpc/subscriber/subscriber-ringer.ts'
import { VertoRequests } from '../rpc/subscriber/verto-requests.ts'
import { openBrowserRoom } from '../rpc/video/open-browser-room.ts'
import { VideoDialect } from '../rpc/video/video-dialect.ts'
import type { CarrierDirectory } from '../sip/trunks/carrier-directory.ts'
import type { CarrierQuotas } from '../sip/trunks/carrier-quotas.ts'
import { LikelyCodecs } from '../sip/trunks/likely-codecs.ts'
import type { AppContext, OpenedStore } from './open.ts'

/** Opened components that the calls of browsers use. */
export interface OpenBrowsersDeps {
  readonly webrtc: Pick<WebRtc, 'answer' | 'offer' | 'source'>
  readonly edge: Pick<Edge, 'open'>
  readonly arrivals: Arrivals
  readonly carriers: CarrierDirectory
  readonly quotas: CarrierQuotas
  readonly push: Pick<Push, 'call'>
  readonly history: SubscriberCallLogDeps['history'] & BrowserConnectionDeps['history']
}

/** Sessions of browsers, and the calls to subscribers. */
export interface OpenedBrowsers {
  readonly presence: Presence
  readonly ringer: SubscriberRinger
  /** Creates the handler of a new WebSocket. */
  readonly connect: (session: RpcSession) => RpcHandler
}

const sessionLimits = ({ unacknowledged, acknowledgeTimeoutMs }: WebSocketLimits): SessionLimits => ({
  unacknowledged,
  acknowledgeMs: acknowledgeTimeoutMs,
})

/** Opens the dialect of browsers. */
export const openBrowsers = (
  { config, clock, log, closing, followers }: AppContext,
  { directory, tokens, roomTokens, states }: OpenedStore,
  { webrtc, edge, arrivals, carriers, quotas: carrierQuotas, push, history }: OpenBrowsersDeps,
  metrics: Metrics,
): OpenedBrowsers => {
  const { browsers: quotaLimits, webSockets } = config.limits
  const nodeId = randomUUID()
  const presence = new Presence({ nodeId, tokens, metrics, clock, log }, sessionLimits(webSockets))
  const quotas = new BrowserQuotas({ presence, metrics, clock, log }, quotaLimits)
  const iceServers = new IceServers(clock, config.media.webrtc.turn)
  const parties = new CallParties(nodeId)
  const calls = new BrowserCallFactory({ webrtc, parties, openRoom: openBrowserRoom, clock, log })
  const rules = new BrowserDialRules(directory, new LikelyCodecs({ directory, carriers }), carrierQuotas)
  const callLog = new SubscriberCallLog({ history, presence })
  const dialer = new BrowserDialer({ rules, calls, arrivals, callLog, metrics, clock, log })
  const legDeps = { calls, push, metrics, clock, log }
  const ringer = new SubscriberRinger({ directory, presence, quotas, callLog, legDeps })
  const transfers = new CallTransfers({ rules, quotas, edge, metrics, clock, log })
  const verto = new VertoRequests({ dialer, transfers, ringer, quotas, log })
  const rooms = new VideoDialect({ verto, directory, metrics, clock, log })
  const credentials = new BrowserCredentials({ directory, tokens, roomTokens, states, metrics, log })
  const watch = new PresenceWatch({ directory, presence, parties })
  const presenceRequests = new PresenceRequests({ watch, directory, log })
  const connectionDeps: BrowserConnectionDeps = {
    credentials,
    presence,
    quotas,
    verto,
    rooms,
    presenceRequests,
    iceServers,
    history,
    clock,
    log,
  }
  followers.change('limits.browsers', ({ limits, media }) => {
    quotas.change(limits.browsers)
    presence.change(sessionLimits(limits.webSockets))
    iceServers.change(media.webrtc.turn)
  })
  metrics.gauge('subscribers_online', () => presence.subscribersOnline)
  metrics.gauge('browsers', () => presence.browsers)
  metrics.gauge('presence_watchers', () => watch.watchers)
  metrics.gauge('invitations', () => ringer.size)
  metrics.gauge('browser_shares', () => quotas.counted)
  metrics.gauge('call_parties', () => parties.size)
  closing.add('subscribers', presence, (open) => open.close())
  return { presence, ringer, connect: (session) => new BrowserConnection(connectionDeps, session) }
}
