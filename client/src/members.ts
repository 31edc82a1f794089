import { type Json, record, text } from './frames.ts'

/** A participant as `call.…` requests name it. */
export interface CallMember {
  readonly member_id: string
  readonly call_id: string
  readonly node_id: string
}

/**
 * Finds in a `call.joined` event who we are. `self` is the member of the call's first segment; `target` the one of the segment that was
 * joined now, which differs when the call was moved into a room.
 */
export const membersOf = (
  joined: Json,
  callId: string,
): { readonly self: CallMember | undefined; readonly target: CallMember | undefined } => {
  const list = record(joined.room_session).members
  const members = Array.isArray(list) ? list.map(record) : []
  const find = (fits: (member: Json) => boolean): CallMember | undefined => {
    const member = members.find(fits)
    const id = text(member?.member_id)
    return member && id
      ? { member_id: id, call_id: text(member.call_id) ?? callId, node_id: text(member.node_id) ?? '' }
      : undefined
  }
  const target =
    find((member) => member.member_id === joined.member_id) ?? find((m) => m.call_id === joined.call_id)
  return { self: joined.call_id === callId ? target : undefined, target }
}
