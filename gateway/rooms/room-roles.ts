import { TrunklineError } from '../core/errors/catalogue.ts'
import { checkedMeta } from './room-meta.ts'
import type { RoleChange } from './room-types.ts'
import type { SessionMember } from './session-member.ts'

/** Roles of members with room tokens. A demotion stays with the token, also when its holder returns. */
export class RoomRoles {
  readonly #demoted = new Map<string, RoleChange>()

  /** Returns the demotion of the holder of a token; undefined without one. */
  demotionOf(tokenId: string): RoleChange | undefined {
    return this.#demoted.get(tokenId)
  }

  /**
   * Checks a change of the role, and returns the function that makes it. Throws `room_member_unknown` unless
   * the member has the other role, `not_permitted` without a room token, and `room_meta_too_large`.
   */
  changing(member: SessionMember, isAudience: boolean, change: RoleChange): () => void {
    const { id, holder } = member
    if (member.type !== 'member' || member.isAudience === isAudience)
      throw new TrunklineError('room_member_unknown', undefined, { member: id })
    if (!holder) throw new TrunklineError('not_permitted', 'The member has no room token.')
    const meta = checkedMeta(change.meta ?? member.meta)
    return () => {
      if (isAudience) this.#demoted.set(holder.tokenId, change)
      else this.#demoted.delete(holder.tokenId)
      const { mediaAllowed = holder.mediaAllowed } = change
      member.meta = meta
      member.setRole(isAudience, { ...holder, mediaAllowed }, change)
    }
  }
}
