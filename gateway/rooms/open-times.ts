import { TrunklineError } from '../core/errors/catalogue.ts'
import type { RoomMember, RoomSettings } from './room-types.ts'

/** Times at which a room or a token admits a member, in ms since the epoch; absent ones do not limit. */
export interface OpenTimes {
  readonly joinFrom?: number
  readonly joinUntil?: number
  readonly removeAt?: number
}

/** Whether a member may join at a time. */
export const isOpenAt = ({ joinFrom, joinUntil, removeAt }: OpenTimes, now: number): boolean =>
  now >= (joinFrom ?? now) && now <= (joinUntil ?? now) && now < (removeAt ?? Number.POSITIVE_INFINITY)

/** Member that wants to join, and the state of its room. `at`: ms since the epoch. */
export interface Entry {
  readonly at: number
  readonly type: RoomMember['type']
  readonly isLocked: boolean
  /** Number of members, screens and devices. */
  readonly size: number
}

/** Throws `room_not_open`, `room_locked` or `room_full` if the member may not join. */
export const checkEntry = (settings: RoomSettings, { at, type, isLocked, size }: Entry): void => {
  const { joinFrom, joinUntil, removeAt, maxMembers, name: room } = settings
  if (type === 'member' && !isOpenAt(settings, at))
    throw new TrunklineError('room_not_open', undefined, { room, joinFrom, joinUntil, removeAt })
  if (type === 'member' && isLocked) throw new TrunklineError('room_locked', undefined, { room })
  if (size >= maxMembers) throw new TrunklineError('room_full', undefined, { room, maxMembers })
}

/** Returns the shorter of two time limits in ms; undefined without any. */
export const shorterOf = (first: number | undefined, second: number | undefined): number | undefined =>
  first === undefined || second === undefined ? (first ?? second) : Math.min(first, second)
