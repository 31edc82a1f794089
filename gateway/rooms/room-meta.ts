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

/** Returns metadata without some keys. */
export const withoutKeys = (meta: Meta, keys: readonly string[]): Meta =>
  Object.fromEntries(Object.entries(meta).filter(([key]) => !keys.includes(key)))
