import { randomUUID } from 'node:crypto'
import type { TurnConfig } from '../../../config/types.ts'
import type { AudioCodec, WebRtc } from '../../../media/types.ts'
import type { SessionStates } from '../../auth/states.ts'
import type { SubscriberTokens } from '../../auth/tokens.ts'
import { newLegId } from '../../calls/ids.ts'
import { Leg } from '../../calls/leg.ts'
import type { Arrivals, OutboundRequest, OutboundSubscriber, Target } from '../../calls/ports.ts'
import type { Clock } from '../../clock.ts'
import type { Directory } from '../../directory/types.ts'
import type { Log } from '../../log.ts'
import type { Metrics } from '../../metrics.ts'
import type { Push } from '../../push/push.ts'
import type { RpcHandler, RpcSession } from '../session.ts'
import type { Client } from './client.ts'
import { Connection } from './connection.ts'
import { Invitation } from './invitation.ts'
import { Parties } from './parties.ts'
import { Presence } from './presence.ts'

/** Limits of the browser dialect. */
export interface SubscriberLimits {
  /** How long a page that lost its connection is waited for, in milliseconds. */
  readonly graceMs: number
  /** Calls of one page at once. */
  readonly maxCallsPerClient: number
}

/** The default limits. */
export const defaultSubscriberLimits: SubscriberLimits = { graceMs: 20_000, maxCallsPerClient: 20 }

/** What the browser dialect works with. */
export interface SubscriberDialectParts {
  readonly directory: Directory
  readonly tokens: Pick<SubscriberTokens, 'verify' | 'isRevoked' | 'onRevocation'>
  readonly states: SessionStates
  readonly webrtc: Pick<WebRtc, 'answer' | 'offer' | 'screen'>
  /** What whoever is dialled is likely to speak; default: nothing is known of that. */
  readonly likelyCodecs?: (to: string, projectId: string) => readonly AudioCodec[]
  readonly arrivals: Arrivals
  /** Tells devices of calls; default none. */
  readonly push?: Pick<Push, 'call'>
  readonly metrics: Pick<Metrics, 'rejections'>
  readonly clock: Clock
  readonly log: Log
  readonly limits?: Partial<SubscriberLimits>
  /** TURN servers that pages are told of; default none. */
  readonly turn?: TurnConfig
  /** Name of this gateway in the dialect; default a random one. */
  readonly nodeId?: string
}

/** Events that a page has not acknowledged, up to which it is told what it can also fetch. */
const mostWaiting = 50

/** The dialect that browsers speak: it knows which pages are online, takes their calls and rings them. */
export class SubscriberDialect implements OutboundSubscriber {
  #parts: SubscriberDialectParts
  #limits: SubscriberLimits
  #presence: Presence
  #invitations = new Map<string, Invitation>()
  #nodeId: string
  #parties: Parties

  constructor(parts: SubscriberDialectParts) {
    this.#parts = parts
    this.#limits = { ...defaultSubscriberLimits, ...parts.limits }
    this.#presence = new Presence(parts.clock, this.#limits.graceMs)
    this.#nodeId = parts.nodeId ?? randomUUID()
    this.#parties = new Parties(this.#nodeId)
  }

  /** Subscribers that receive invitations. */
  get subscribersOnline(): number {
    return this.#presence.subscribersOnline
  }

  /** Pages that are known, connected or waited for. */
  get clients(): number {
    return this.#presence.clients
  }

  /** Browsers in calls, and telephones that they talk to. */
  get parties(): number {
    return this.#parties.size
  }

  /** Legs to subscribers that have not ended. */
  get invitations(): number {
    return this.#invitations.size
  }

  /** Gives a new WebSocket its vocabulary. */
  open(session: RpcSession): RpcHandler {
    const { directory, tokens, states, webrtc, likelyCodecs, arrivals, turn, metrics, clock, log } =
      this.#parts
    return new Connection(
      {
        ...{ directory, tokens, states, webrtc, likelyCodecs, arrivals, metrics, clock, log },
        ...(turn && { turn }),
        parties: this.#parties,
        presence: this.#presence,
        nodeId: this.#nodeId,
        maxCallsPerClient: this.#limits.maxCallsPerClient,
        invitation: (wireId) => this.#invitations.get(wireId),
        cameOnline: (client) => this.#ringLate(client),
      },
      session,
    )
  }

  dial(target: Extract<Target, { kind: 'subscriber' }>, request: OutboundRequest): Leg {
    const { directory, webrtc, push, clock, log } = this.#parts
    const { subscriberId, address } = target
    const name = directory.subscriber(subscriberId)?.displayName ?? ''
    const leg = new Leg({
      id: newLegId(),
      kind: 'browser',
      direction: 'outbound',
      from: request.from,
      to: { uri: address, user: address.split('/').at(-1) ?? address, name },
      now: () => clock.now(),
    })
    const parts = { webrtc, parties: this.#parties, clock, log, nodeId: this.#nodeId, ...(push && { push }) }
    const { callId, codec, caller } = request
    const options = { leg, callId, subscriberId, codec, ...(caller && { caller }) }
    const invitation = new Invitation(parts, { ...options, video: wantsVideo(request) })
    leg.attach(invitation)
    this.#invitations.set(invitation.wireId, invitation)
    leg.whenGone(() => this.#invitations.delete(invitation.wireId))
    // The leg must have an owner before anything happens to it.
    queueMicrotask(() => {
      if (!leg.isEnded) void invitation.start(() => this.#presence.online(subscriberId))
    })
    return leg
  }

  /**
   * Sends an event to the connected pages of a subscriber or a guest. A page that acknowledges nothing misses it: it must not take the place
   * of what a page is told of its calls.
   */
  tell(holderId: string, event: string, params: object): void {
    for (const client of this.#presence.connected(holderId))
      if (client.waiting < mostWaiting) client.emit(event, params)
  }

  /** Forgets every page; their calls end. Sessions are closed by their server. */
  close(): void {
    this.#presence.close()
  }

  /** Calls that ring already ring on a page that comes online too. */
  #ringLate(client: Client): void {
    for (const invitation of this.#invitations.values())
      if (invitation.subscriberId === client.holder.id) invitation.invite(client)
  }
}

/** Whether the caller shows itself, or could be shown somebody, or whoever calls asks for video. */
const wantsVideo = ({ destination, caller }: OutboundRequest): boolean =>
  caller?.video?.sends === true ||
  caller?.video?.receives === true ||
  /^[^?]*\?(?:.*&)?channel=video(?:&|$)/.test(destination.to)
