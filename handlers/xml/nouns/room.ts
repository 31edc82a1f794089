import { roomPattern } from '../../common/conferences.ts'
import type { ElementReader } from '../element-reader.ts'
import { codes } from '../faults.ts'
import type { ElementKind } from '../verb.ts'

/** Element `Room`: the name or address of a room. */
export const room: ElementKind = { name: 'Room', attributes: [] }

/** Reads the name of a `Room`. Undefined, after a warning, if it has none. */
export const readRoom = (reader: ElementReader): string | undefined => {
  const name = reader.content()
  if (new RegExp(roomPattern).test(name)) return name
  reader.warning(codes.schema, 'Room needs the name or the address of a room; the caller does not join it.')
  return undefined
}
