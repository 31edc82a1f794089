/** Fields of requests about rooms, in both dialects of browsers. */
import { asRecord } from '../../frames.ts'
import { MemberRequestError } from '../member-request-error.ts'
import type { BrowserRoom } from './browser-room.ts'

/** Maximum number of positions in one request: the maximum number of members. */
const maxPositions = 300

/** Returns a text. Throws for a value of another type. */
export const textField = (name: string, value: unknown): string => {
  if (typeof value === 'string') return value
  throw new MemberRequestError('422', `${name}: expected a string`)
}

/** Returns positions by member; the key `self` is the browser's own member. Throws for too many. */
export const positionsField = ({ member }: BrowserRoom, value: unknown): Readonly<Record<string, string>> => {
  const positions = Object.entries(asRecord(value) ?? {})
  checkCount(positions)
  return Object.fromEntries(
    positions.map(([id, position]) => [id === 'self' ? member.id : id, textField('position', position)]),
  )
}

/** Throws for too many positions. */
export const checkCount = (positions: readonly unknown[]): void => {
  if (positions.length > maxPositions)
    throw new MemberRequestError('422', `positions: expected at most ${maxPositions}`)
}
