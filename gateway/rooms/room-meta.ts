import { TrunklineError } from '../core/errors/catalogue.ts'
import type { Meta } from './room-types.ts'

/**
 * Maximum length of the JSON text of metadata, in characters: that of the variables of a call, which become
 * metadata of a member.
 */
export const maxMetaCharacters = 2048

/** Returns the metadata if their JSON text is short enough. Throws `room_meta_too_large` otherwise. */
export const checkedMeta = (meta: Meta): Meta => {
  const { length } = JSON.stringify(meta)
  if (length > maxMetaCharacters) throw new TrunklineError('room_meta_too_large', undefined, { length })
  return meta
}

/** Change of metadata: other metadata in their place, merged keys, or removed keys. */
export type MetaChange =
  | { readonly set: Meta }
  | { readonly update: Meta }
  | { readonly remove: readonly string[] }

/** Returns changed metadata. Throws `room_meta_too_large`. */
export const changedMeta = (before: Meta, change: MetaChange): Meta => {
  if ('set' in change) return checkedMeta(change.set)
  if ('update' in change) return checkedMeta({ ...before, ...change.update })
  return Object.fromEntries(Object.entries(before).filter(([key]) => !change.remove.includes(key)))
}
