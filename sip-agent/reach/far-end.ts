import { reachHeader } from '../drachtio/extensions.ts'
import type { Headers } from '../message/headers.ts'
import { headerKey } from '../message/headers.ts'

/**
 * Far end of a request or a dialog, as the application names it by {@link reachHeader}. It is a carrier, or a
 * SIP URI that a project dials without a carrier.
 */
export type FarEnd =
  | { readonly kind: 'carrier'; readonly name: string }
  | { readonly kind: 'project'; readonly id: string }

/** Key of {@link reachHeader}, which no message on the network has. */
export const reachKey = headerKey(reachHeader)

/** Returns the far end that the application names; undefined without the header, or if it is malformed. */
export const farEndOf = (headers: Headers): FarEnd | undefined => {
  const value = headers.first(reachKey) ?? ''
  const space = value.indexOf(' ')
  const name = value.slice(space + 1)
  if (space < 0 || name === '') return undefined
  const kind = value.slice(0, space)
  if (kind === 'carrier') return { kind, name }
  return kind === 'project' ? { kind, id: name } : undefined
}
