import type { UserVariables } from '../../../handlers/verbs.ts'
import type { TokenIdentity } from '../../auth/token-identity.ts'
import type { Leg } from '../../calls/leg/leg.ts'
import { Member } from './member.ts'
import type { MemberEvents } from './member-events.ts'

/** A channel that can be muted. */
export type Channel = 'audio' | 'video'

/** Party of a call as browsers see it: a browser or a telephone. */
export class CallParty {
  readonly leg: Leg
  /** Identity of the browser; undefined for a telephone. */
  readonly identity: TokenIdentity | undefined
  readonly member: Member
  /** Screen that the party shares. */
  screen: Member | undefined
  /** Other party that muted a channel of this party. */
  readonly mutedBy = new Map<Channel, CallParty>()
  /** Events of the party's browser; undefined for a telephone. */
  events: MemberEvents | undefined

  constructor(leg: Leg, member: Member, identity?: TokenIdentity) {
    this.leg = leg
    this.member = member
    this.identity = identity
  }

  /** Whether the party's video is visible. */
  get isVisible(): boolean {
    return this.leg.video?.isSending === true && !this.member.state.video_muted
  }
}

/** Registry of the parties in calls of browsers, by leg. */
export class CallParties {
  /** Name of this gateway in the dialect. */
  readonly nodeId: string
  readonly #of = new Map<Leg, CallParty>()
  /** Number of calls by the id of the subscriber. */
  readonly #subscribers = new Map<string, number>()
  #onSubscriber: (subscriberId: string) => void = () => {}

  constructor(nodeId: string) {
    this.nodeId = nodeId
  }

  /** Number of parties. */
  get size(): number {
    return this.#of.size
  }

  /** Whether a subscriber dials or talks. */
  isInCall(subscriberId: string): boolean {
    return this.#subscribers.has(subscriberId)
  }

  /** Sets the one listener to the first and the last call of each subscriber. */
  onSubscriber(listener: (subscriberId: string) => void): void {
    this.#onSubscriber = listener
  }

  /** Adds a browser. `callId` is the call's id in the browser; `meta` are variables that others see. */
  join(leg: Leg, callId: string, identity: TokenIdentity, meta: UserVariables = {}): CallParty {
    const member = new Member({ type: 'member', callId, nodeId: this.nodeId, meta })
    if (identity.kind === 'subscriber') this.#count(leg, identity.id)
    return this.#keep(new CallParty(leg, member, identity))
  }

  #count(leg: Leg, subscriberId: string): void {
    const change = (by: 1 | -1) => {
      const calls = (this.#subscribers.get(subscriberId) ?? 0) + by
      if (calls > 0) this.#subscribers.set(subscriberId, calls)
      else this.#subscribers.delete(subscriberId)
      this.#onSubscriber(subscriberId)
    }
    change(1)
    leg.whenGone(() => change(-1))
  }

  /** Returns the party of a leg. The party of a telephone is created at its first use. */
  of(leg: Leg): CallParty {
    const state = { video_muted: true }
    return (
      this.#of.get(leg) ??
      this.#keep(
        new CallParty(leg, new Member({ type: 'member', callId: leg.id, nodeId: this.nodeId, state })),
      )
    )
  }

  #keep(party: CallParty): CallParty {
    this.#of.set(party.leg, party)
    party.leg.whenGone(() => this.#of.delete(party.leg))
    return party
  }
}
