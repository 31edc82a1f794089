import { TrunklineError } from '../core/errors/catalogue.ts'
import { positionNamed } from './layouts/read-position.ts'
import type { SessionMember } from './session-member.ts'

/** Voice of a member, with those of its microphones. */
export interface Voice {
  /** Member that the voice counts for in the choice of the picture. */
  readonly owner: SessionMember
  readonly isTalking: boolean
  readonly hasVoice: boolean
}

/** Members, screens and devices of a session by id, in order of joining, with the audience. */
export class MemberList extends Map<string, SessionMember> {
  #requests = 0

  /** Copy of the list, which stays as it is while members leave. */
  get all(): readonly SessionMember[] {
    return [...this.values()]
  }

  /** Returns a member. Throws `room_member_unknown`. */
  find(id: string): SessionMember {
    const member = this.get(id)
    if (!member) throw new TrunklineError('room_member_unknown', undefined, { member: id })
    return member
  }

  /** Returns the screens and the devices of a member. */
  sourcesOf(id: string): readonly SessionMember[] {
    return this.all.filter(({ parentId }) => parentId === id)
  }

  /** Returns the voice that a member belongs to: a microphone without a camera speaks for its owner. */
  voiceOf(member: SessionMember): Voice {
    const owner = (!member.hasVideo && this.get(member.parentId ?? '')) || member
    const voices = [owner, ...this.sourcesOf(owner.id).filter(({ hasVideo }) => !hasVideo)]
    return {
      owner,
      isTalking: voices.some(({ isTalking }) => isTalking),
      hasVoice: voices.some(({ hasVoice }) => hasVoice),
    }
  }

  /** Returns the rank of a further request for a position: later ones are higher. */
  nextRequest(): number {
    return ++this.#requests
  }

  /**
   * Checks positions by the ids of members, and returns the function that requests them. Throws
   * `room_member_unknown` and `room_position_unknown`.
   */
  positionsRequest(positions: Readonly<Record<string, string>>): () => void {
    const requests = Object.entries(positions).map(([id, position]) => ({
      member: this.find(id),
      position: positionNamed(position),
    }))
    return () => {
      for (const { member, position } of requests) {
        member.requestedPosition = position
        member.requestOrder = this.nextRequest()
      }
    }
  }
}
