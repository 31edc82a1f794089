import type { ValidatedFields } from '../../requests/typed-routes.ts'
import { optional, text, withoutEffect, withoutUnset } from '../shared/field-schemas.ts'
import type { ResourceKind } from './resource-kind.ts'

const properties = {
  name: {
    ...text(64),
    pattern: '^[A-Za-z0-9._-]+$',
    description: 'Name of the room, and the default name of its address.',
  },
  display_name: text(),
  max_members: { type: ['integer', 'null'], minimum: 1, maximum: 10_000 },
  record_on_start: { type: 'boolean' },
  layout: optional(text(64)),
  ...withoutEffect(
    'description',
    'quality',
    'fps',
    'size',
    'join_from',
    'join_until',
    'remove_at',
    'meta',
    'remove_after_seconds_elapsed',
    'tone_on_entry_and_exit',
    'room_join_video_off',
    'user_join_video_off',
    'enable_room_previews',
    'sync_audio_video',
    'prioritize_handraise',
  ),
} as const

type RoomBody = ValidatedFields<typeof properties, 'name'>

/** Conference rooms. */
export const conferenceRooms: ResourceKind<'room', RoomBody> = {
  type: 'room',
  path: 'conference_rooms',
  title: 'conference room',
  properties,
  required: ['name'],
  answer: {
    name: { type: 'string' },
    display_name: { type: 'string' },
    max_members: { type: ['integer', 'null'] },
    record_on_start: { type: 'boolean' },
    layout: { type: ['string', 'null'] },
  },
  create: (body) => ({
    displayName: body.display_name ?? body.name,
    name: body.name,
    details: {
      recordOnStart: false,
      ...withoutUnset({
        maxMembers: body.max_members,
        recordOnStart: body.record_on_start,
        layout: body.layout,
      }),
    },
  }),
  change: (body) => ({
    displayName: body.display_name,
    name: body.name,
    details: withoutUnset({
      maxMembers: body.max_members,
      recordOnStart: body.record_on_start,
      layout: body.layout,
    }),
  }),
  show: ({ displayName, address, details }) => ({
    name: address.name,
    display_name: displayName,
    max_members: details.maxMembers ?? null,
    record_on_start: details.recordOnStart,
    layout: details.layout ?? null,
  }),
}
