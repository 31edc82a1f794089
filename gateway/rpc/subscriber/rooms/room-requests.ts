import type { RoomMember, RoomMemberState } from '../../../rooms/room-types.ts'
import { asRecord } from '../../frames.ts'
import { MemberRequestError } from '../../rooms/member-request-error.ts'
import { checkCount, positionsField, textField } from '../../rooms/request-fields.ts'
import type { Reply } from '../../rpc-session.ts'
import { memberChanges } from '../member-changes.ts'
import type { BrowserRoom } from './browser-room.ts'
import { memberBodies } from './room-bodies.ts'

type Params = Readonly<Record<string, unknown>>

/** Requests about the whole room or the positions of members. */
const others: Readonly<Record<string, (room: BrowserRoom, params: Params) => Reply>> = {
  'call.member.list': ({ session, viewer }) => ok({ members: memberBodies(session, viewer) }),
  'call.layout.list': ({ session }) => ok({ layouts: session.layouts }),
  'call.layout.set': (room, { layout, positions }) => {
    checkPermission(room)
    room.session.setLayout(textField('layout', layout), positionsField(room.member.id, positions))
    return ok({})
  },
  'call.member.position.set': (room, { targets, target, position }) => {
    const list = targets ?? { target, position }
    room.session.setPositions(positionsOf(room, Array.isArray(list) ? list : [list]))
    return ok({})
  },
  'call.member.remove': (room, { target }) => {
    const found = targetsOf(room, target)
    for (const member of found) checkPermission(room, member)
    return ok({}, () => {
      // The removal of one member may end the session.
      for (const { id } of found) if (room.session.member(id)) room.session.remove(id)
    })
  },
  'call.lock': (room) => setLocked(room, true),
  'call.unlock': (room) => setLocked(room, false),
  'call.end': (room) => {
    checkPermission(room)
    return ok({}, () => room.session.end())
  },
}

/**
 * Answers a request of a browser that is a member of a room. Throws {@link MemberRequestError}, and
 * TrunklineError as the session does.
 */
export const handleRoomRequest = (room: BrowserRoom, method: string, params: Params): Reply => {
  const change = memberChanges[method]
  return change ? applyChanges(room, params, change(params)) : others[method]!(room, params)
}

const applyChanges = (room: BrowserRoom, params: Params, wanted: Partial<RoomMemberState>): Reply => {
  const found = targetsOf(room, params.target)
  for (const member of found) checkPermission(room, member)
  for (const { id } of found) room.session.change(id, wanted, room.member.id)
  return ok({})
}

const setLocked = (room: BrowserRoom, isLocked: boolean): Reply => {
  checkPermission(room)
  return ok({}, () => room.session.setLocked(isLocked))
}

/** Returns the positions in a list of targets. Throws for a member that the browser may not change. */
const positionsOf = (room: BrowserRoom, list: readonly unknown[]): Readonly<Record<string, string>> => {
  checkCount(list)
  const positions: [string, string][] = []
  for (const each of list) {
    const { target, position } = asRecord(each) ?? {}
    for (const member of targetsOf(room, target)) {
      checkPermission(room, member)
      positions.push([member.id, textField('position', position)])
    }
  }
  return Object.fromEntries(positions)
}

/** Returns the members that a request names; default the browser's own. Throws for an unknown member. */
const targetsOf = ({ session, member }: BrowserRoom, target: unknown): readonly RoomMember[] => {
  const id = asRecord(target)?.member_id
  if (id === undefined) return [member]
  if (id === 'all') return session.members.filter(({ type }) => type === 'member')
  const found = session.members.find((each) => each.id === id)
  if (!found) throw new MemberRequestError('404', 'The member does not exist.')
  return [found]
}

/**
 * Throws unless the browser may change the member; without one, the whole room. Each browser may change its
 * own member and its own screens.
 */
const checkPermission = ({ viewer, member: own }: BrowserRoom, member?: RoomMember): void => {
  const isOwn = member?.id === own.id || member?.parentId === own.id
  if (!isOwn && !viewer.seesSubscribers)
    throw new MemberRequestError('403', 'The token does not permit changes to other members or the room.')
}

const ok = (result: Params, after?: () => void): Reply => ({
  result: { code: '200', message: 'OK', ...result },
  after,
})
