import type { UserVariables } from '../../../handlers/verbs.ts'
import type { TokenIdentity } from '../../auth/token-identity.ts'
import type { Leg } from '../../calls/leg/leg.ts'
import { Member } from './member.ts'
import type { MemberEvents } from './member-events.ts'

/** A channel that can be muted. */
export type Channel = 'audio' | 'video'

/** One leg of a call, as the pages of the call are told of it: a browser, or a telephone. */
export class CallParty {
  readonly leg: Leg
  /** Who acts by the page; undefined: it is a telephone. */
  readonly identity: TokenIdentity | undefined
  readonly member: Member
  /** The screen that it shares. */
  screen: Member | undefined
  /** Whoever muted a channel of it, where it was not itself. */
  readonly mutedBy = new Map<Channel, CallParty>()
  /** Told of what concerns it; absent: there is no page. */
  page: MemberEvents | undefined

  constructor(leg: Leg, member: Member, identity?: TokenIdentity) {
    this.leg = leg
    this.member = member
    this.identity = identity
  }

  /** Whether its pictures can be seen. */
  get isVisible(): boolean {
    return this.leg.video?.isSending === true && !this.member.state.video_muted
  }
}

/** The parties of all legs that pages talk to. */
export class CallParties {
  readonly #nodeId: string
  readonly #of = new Map<Leg, CallParty>()

  constructor(nodeId: string) {
    this.#nodeId = nodeId
  }

  /** Parties that are known. */
  get size(): number {
    return this.#of.size
  }

  /** A browser takes part. `callId` is the id that its page knows, `meta` what it shows to the others. */
  join(leg: Leg, callId: string, identity: TokenIdentity, meta: UserVariables = {}): CallParty {
    const member = new Member({ type: 'member', callId, nodeId: this.#nodeId, meta })
    return this.#keep(new CallParty(leg, member, identity))
  }

  /** The party of a leg; a telephone's is made when it is asked for first. */
  of(leg: Leg): CallParty {
    const state = { video_muted: true }
    return (
      this.#of.get(leg) ??
      this.#keep(
        new CallParty(leg, new Member({ type: 'member', callId: leg.id, nodeId: this.#nodeId, state })),
      )
    )
  }

  #keep(party: CallParty): CallParty {
    this.#of.set(party.leg, party)
    party.leg.whenGone(() => this.#of.delete(party.leg))
    return party
  }
}
