import type { Clock, ErrorCode, Timer } from '@trunkline/client'
import type { Party } from './lines.ts'
import type { Phone } from './phone.ts'
import { roomTexts } from './texts/room.ts'

/** Reasons of a room that may pass by themselves. */
export type RoomRejection = Extract<ErrorCode, 'room_locked' | 'room_not_open' | 'room_full'>

/** Room that rejected the user, who waits for it. */
export interface WaitingRoom extends Party {
  readonly code: RoomRejection
  readonly video: boolean
}

/** Collaborators of a {@link RoomWait}. */
export interface RoomWaitDeps {
  readonly clock: Clock
  /** Dials the room again. */
  readonly dial: (room: WaitingRoom) => void
  readonly changed: () => void
}

/** Returns the rejection in words. */
export const rejectionText = (code: RoomRejection): string => {
  const t = roomTexts()
  return { room_locked: t.isLocked, room_not_open: t.isNotOpen, room_full: t.isFull }[code]
}

/** Reasons for which a room makes a member leave. */
export type RoomRemoval = Extract<ErrorCode, 'room_removed' | 'room_ended' | 'room_expired'>

const removalText = (code: RoomRemoval): string => {
  const t = roomTexts()
  return { room_removed: t.wasRemoved, room_ended: t.wasEnded, room_expired: t.hasExpired }[code]
}

/** Says why a room made the user leave; once, although the end of the call has the reason again. */
export const sayRemoval = (phone: Pick<Phone, 'notice' | 'warn'>, code: RoomRemoval): void => {
  const text = () => removalText(code)
  if (phone.notice?.text !== text()) phone.warn(text, 'plain')
}

const firstMs = 10_000
const longestMs = 60_000

/**
 * Wait for a room that is locked, full or not open yet. The room is dialled again after 10 s, and then after
 * growing delays of up to 60 s, until the user stops or joins.
 */
export class RoomWait {
  readonly #deps: RoomWaitDeps
  #room: WaitingRoom | undefined
  #delay = firstMs
  #timer: Timer | undefined

  constructor(deps: RoomWaitDeps) {
    this.#deps = deps
  }

  /** The room that the user waits for; also during another attempt. */
  get room(): WaitingRoom | undefined {
    return this.#room
  }

  /** Whether a call is an attempt to join the room. */
  isAttempt(to: string): boolean {
    return this.#room?.number === to
  }

  /** Handles a rejection: the room is dialled again later. */
  rejected(room: WaitingRoom): void {
    const isAgain = this.isAttempt(room.number)
    this.#delay = isAgain ? Math.min(this.#delay * 1.5, longestMs) : firstMs
    this.#room = room
    this.#timer?.cancel()
    this.#timer = this.#deps.clock.after(this.#delay, () => this.#again())
    this.#deps.changed()
  }

  /** Dials the room again at once. */
  tryAgain(): void {
    this.#delay = firstMs
    this.#again()
  }

  /** Ends the wait. */
  stop(): void {
    this.#timer?.cancel()
    if (!this.#room) return
    this.#room = undefined
    this.#deps.changed()
  }

  #again(): void {
    this.#timer?.cancel()
    if (this.#room) this.#deps.dial(this.#room)
  }
}
