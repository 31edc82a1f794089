import { createHash } from 'node:crypto'
import { TrunklineError } from '../../../core/errors/catalogue.ts'
import type { CdrPosition } from '../../../directory/tables/cdrs.ts'

/**
 * Returns the cursor of the next page. The cursor is valid only for `list`, which stands for the project and
 * the filters. The cursor is a plain digest and grants no access, so any gateway on the same store accepts
 * it.
 */
export const cursorAt = (list: string, position: CdrPosition): string =>
  Buffer.from(`${position.startedAt}.${position.id}.${digestOf(list, position)}`).toString('base64url')

/**
 * Returns the position of a cursor. Throws `invalid_field` if the cursor is malformed or belongs to another
 * list.
 */
export const positionOf = (list: string, cursor: string): CdrPosition => {
  const [startedAt = '', id = '', digest] = Buffer.from(cursor, 'base64url').toString('latin1').split('.')
  const position = { startedAt: Number(startedAt), id }
  if (/^\d{1,15}$/.test(startedAt) && digest === digestOf(list, position)) return position
  throw new TrunklineError('invalid_field', 'cursor: expected one of this list.', { attribute: 'cursor' })
}

const digestOf = (list: string, { startedAt, id }: CdrPosition): string =>
  createHash('sha256').update(`${list}\n${startedAt}\n${id}`).digest('hex').slice(0, 32)
