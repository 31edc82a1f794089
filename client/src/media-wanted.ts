import { ClientError } from './errors.ts'
import type { MediaKind } from './local-media.ts'
import type { MediaControl, MediaDirection } from './media-types.ts'
import { directionOf } from './peer.ts'

/** Wanted state of one kind of media, validated. */
export interface MediaWanted {
  readonly kind: MediaKind
  readonly direction: MediaDirection
  readonly constraints: MediaTrackConstraints | undefined
}

/**
 * Validates the wanted state of a kind of media. Returns an empty list if the application gave no state.
 * Throws `bad_argument`.
 */
export const wantedOf = (kind: MediaKind, control: MediaControl | undefined): MediaWanted[] => {
  if (!control) return []
  const { enable, direction = enable === undefined ? undefined : directionOf(enable, enable) } = control
  if (!direction) throw new ClientError('bad_argument', `${kind}: expected enable or direction, got neither`)
  if (!['sendrecv', 'sendonly', 'recvonly', 'inactive'].includes(direction))
    throw new ClientError('bad_argument', `${kind}.direction: "${direction}" is none`)
  return [{ kind, direction, constraints: control.constraints }]
}
