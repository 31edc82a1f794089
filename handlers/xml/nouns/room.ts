import { roomPattern } from '../../common/conferences.ts'
import type { ElementReader } from '../element-reader.ts'
import { codes } from '../faults.ts'
import type { ElementKind } from '../verb.ts'

/** `Room`: the room of this name or address. */
export const room: ElementKind = { name: 'Room', attributes: [] }

/** Reads the name of a `Room`; undefined: it has none, and the reader has been told so. */
export const readRoom = (reader: ElementReader): string | undefined => {
  const name = reader.content()
  if (new RegExp(roomPattern).test(name)) return name
  reader.warning(codes.schema, 'Room needs the name or the address of a room; nobody joins it.')
  return undefined
}
