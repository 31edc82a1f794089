import type { UserVariables } from '../../../handlers/verbs.ts'
import type { TokenHolder } from '../../auth/holders.ts'
import type { Leg } from '../../calls/leg/leg.ts'
import { Member } from './member.ts'
import type { MemberEvents } from './member-events.ts'

/** A channel that can be muted. */
export type Channel = 'audio' | 'video'

/** One leg of a call, as the pages of the call are told of it: a browser, or a telephone. */
export class Party {
  readonly leg: Leg
  /** Who acts by the page; undefined: it is a telephone. */
  readonly holder: TokenHolder | undefined
  readonly member: Member
  /** The screen that it shares. */
  screen: Member | undefined
  /** Whoever muted a channel of it, where it was not itself. */
  readonly silencedBy = new Map<Channel, Party>()
  /** Told of what concerns it; absent: there is no page. */
  page: MemberEvents | undefined

  constructor(leg: Leg, member: Member, holder?: TokenHolder) {
    this.leg = leg
    this.member = member
    this.holder = holder
  }

  /** Whether its pictures can be seen. */
  get visible(): boolean {
    return this.leg.video?.sends === true && !this.member.state.video_muted
  }
}

/** The parties of all legs that pages talk to. */
export class Parties {
  readonly #nodeId: string
  readonly #of = new Map<Leg, Party>()

  constructor(nodeId: string) {
    this.#nodeId = nodeId
  }

  /** Parties that are known. */
  get size(): number {
    return this.#of.size
  }

  /** A browser takes part. `callId` is the id that its page knows, `meta` what it shows to the others. */
  join(leg: Leg, callId: string, holder: TokenHolder, meta: UserVariables = {}): Party {
    const member = new Member({ type: 'member', callId, nodeId: this.#nodeId, meta })
    return this.#keep(new Party(leg, member, holder))
  }

  /** The party of a leg; a telephone's is made when it is asked for first. */
  of(leg: Leg): Party {
    const state = { video_muted: true }
    return (
      this.#of.get(leg) ??
      this.#keep(new Party(leg, new Member({ type: 'member', callId: leg.id, nodeId: this.#nodeId, state })))
    )
  }

  #keep(party: Party): Party {
    this.#of.set(party.leg, party)
    party.leg.whenGone(() => this.#of.delete(party.leg))
    return party
  }
}
