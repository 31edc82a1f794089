import type { Call, CallEvents, Room } from '@trunkline/client'
import { useMemo, useSyncExternalStore } from 'react'
import { steady } from './steady.ts'

const watched = [
  'id',
  'name',
  'members',
  'self',
  'isLocked',
  'layout',
  'layouts',
  'rights',
] as const satisfies readonly (keyof Room)[]

/** Result of {@link useRoom}: the properties of {@link Room} with these names. */
export type RoomView = Pick<Room, (typeof watched)[number]>

/** Events of the call that can change the room or its view. */
const events = [
  'call.joined',
  'call.left',
  'call.updated',
  'memberList.updated',
  'member.talking',
  'layout.changed',
  'destroy',
] as const satisfies readonly (keyof CallEvents)[]

const read = (room: Room): RoomView =>
  Object.fromEntries(watched.map((name) => [name, room[name]])) as unknown as RoomView

/** Views of the rooms that the call is in, one after another. */
const viewOf = (call: Call | undefined): (() => RoomView | undefined) => {
  let room: Room | undefined
  let view: (() => RoomView) | undefined
  return () => {
    const current = call?.room
    if (current !== room) {
      room = current
      view = current && steady(() => read(current))
    }
    return view?.()
  }
}

const subscribeTo = (call: Call | undefined) => (listener: () => void) => {
  let room: Room | undefined
  const follow = (next: Room | undefined) => {
    if (next === room) return
    room?.off('layouts', listener)
    room = next
    room?.on('layouts', listener)
  }
  const changed = () => {
    follow(call?.room)
    listener()
  }
  follow(call?.room)
  for (const event of events) call?.on(event, changed)
  return () => {
    follow(undefined)
    for (const event of events) call?.off(event, changed)
  }
}

const watch = (call: Call | undefined) => ({ view: viewOf(call), subscribe: subscribeTo(call) })

/**
 * Returns the current state of the room that a call is in; undefined without a call, and outside a room.
 * Commands go to the room itself: `call.room.lock()`.
 */
export const useRoom = (call: Call | undefined): RoomView | undefined => {
  const { subscribe, view } = useMemo(() => watch(call), [call])
  return useSyncExternalStore(subscribe, view, view)
}
