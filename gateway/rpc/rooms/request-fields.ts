/** Fields of requests about rooms and members, in all dialects. */
import { maxRoomMembers } from '../../../config/schema/room-schema.ts'
import { asRecord } from '../frames.ts'
import { MemberRequestError } from './member-request-error.ts'

/** Returns a text. Throws for a value of another type. */
export const textField = (name: string, value: unknown): string => {
  if (typeof value === 'string') return value
  throw new MemberRequestError('422', `${name}: expected a string`)
}

/** Returns a boolean. Throws for a value of another type. */
export const flagField = (name: string, value: unknown): boolean => {
  if (typeof value === 'boolean') return value
  throw new MemberRequestError('422', `${name}: expected true or false`)
}

/** Returns metadata. Throws for a value that is no object. */
export const metaField = (value: unknown): Readonly<Record<string, unknown>> => {
  const meta = asRecord(value)
  if (!meta) throw new MemberRequestError('422', 'meta: expected an object')
  return meta
}

/** Returns a number. Throws for another value, and outside the limits. */
export const numberField = (name: string, value: unknown, min: number, max: number): number => {
  if (typeof value === 'number' && value >= min && value <= max) return value
  throw new MemberRequestError('422', `${name}: expected a number from ${min} to ${max}`)
}

/**
 * Returns positions by member; the key `self` is the sender's own member, if it has one. Throws for too
 * many.
 */
export const positionsField = (own: string | undefined, value: unknown): Readonly<Record<string, string>> => {
  const positions = Object.entries(asRecord(value) ?? {})
  checkCount(positions)
  return Object.fromEntries(
    positions.map(([id, position]) => [id === 'self' ? (own ?? id) : id, textField('position', position)]),
  )
}

/** Throws for too many positions. */
export const checkCount = (positions: readonly unknown[]): void => {
  if (positions.length > maxRoomMembers)
    throw new MemberRequestError('422', `positions: expected at most ${maxRoomMembers}`)
}
