import { defaultRoomMembers, maxRoomMembers } from '../../../../config/schema/room-schema.ts'
import type { ResourceDetails } from '../../../directory/model/resource-types.ts'
import { layoutNames } from '../../../rooms/layouts/layout-names.ts'
import { maxMetaCharacters } from '../../../rooms/room-meta.ts'
import type { ValidatedFields } from '../../requests/typed-routes.ts'
import {
  badField,
  httpMethod,
  httpUrl,
  optional,
  text,
  timeText,
  withoutEffect,
  withoutUnset,
} from '../shared/field-schemas.ts'
import type { ResourceKind } from './resource-kind.ts'

/** Maximum time in a room that can be set, in seconds. */
const maxSeconds = 200_000

const time = optional({ type: 'string', format: 'date-time', maxLength: 40 })
const flag = { type: 'boolean' } as const

const properties = {
  name: {
    ...text(64),
    pattern: '^[A-Za-z0-9._-]+$',
    description: 'Name of the room, and the default name of its address.',
  },
  display_name: text(),
  description: optional(text(3000)),
  max_members: {
    type: ['integer', 'null'],
    minimum: 1,
    maximum: maxRoomMembers,
    description: `Maximum number of members, shared screens included; default ${defaultRoomMembers}.`,
  },
  join_from: { ...time, description: 'Earliest time of joining; null for any.' },
  join_until: { ...time, description: 'Latest time of joining; null for any.' },
  remove_at: { ...time, description: 'Time at which all members are removed; null for never.' },
  remove_after_seconds_elapsed: {
    type: ['integer', 'null'],
    minimum: 1,
    maximum: maxSeconds,
    description: 'Time after which each member is removed, in seconds from its joining; null for never.',
  },
  layout: {
    ...optional({ type: 'string', enum: layoutNames }),
    description: 'Layout at the start of each session; default `grid-responsive`.',
  },
  record_on_start: { ...flag, description: 'Whether each session is recorded; default false.' },
  record_members: {
    ...flag,
    description:
      'Whether recordings have files of the camera, the screen and the sound of each member; default false.',
  },
  recording_storage_url: {
    ...optional(httpUrl),
    description: 'URL that complete recordings are uploaded to; null for none.',
  },
  recording_storage_url_method: {
    ...optional({ type: 'string', enum: ['PUT', 'POST'] }),
    description: 'Method of the uploads; default PUT.',
  },
  tone_on_entry_and_exit: {
    ...flag,
    description: 'Whether members hear a tone when a member joins or leaves; default true.',
  },
  user_join_video_off: { ...flag, description: 'Whether members join with muted video; default false.' },
  prioritize_handraise: {
    ...flag,
    description: 'Whether raised hands come before speakers when a layout has too few slots; default false.',
  },
  names: {
    ...flag,
    description:
      'Whether names stand over cameras in a composed picture; default false: in plain tiles only.',
  },
  meta: {
    type: ['object', 'null'],
    additionalProperties: true,
    description: `Data of the application, at most ${maxMetaCharacters} characters of JSON.`,
  },
  status_callback_url: {
    ...optional(httpUrl),
    description: 'URL that receives the events of each session; null for none.',
  },
  status_callback_method: { ...optional(httpMethod), description: 'Method of its requests; default POST.' },
  ...withoutEffect(
    'quality',
    'fps',
    'size',
    'room_join_video_off',
    'enable_room_previews',
    'sync_audio_video',
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
    description: properties.description,
    max_members: properties.max_members,
    join_from: properties.join_from,
    join_until: properties.join_until,
    remove_at: properties.remove_at,
    remove_after_seconds_elapsed: properties.remove_after_seconds_elapsed,
    layout: { type: ['string', 'null'] },
    record_on_start: { type: 'boolean' },
    record_members: { type: 'boolean' },
    recording_storage_url: { type: ['string', 'null'] },
    recording_storage_url_method: { type: ['string', 'null'] },
    tone_on_entry_and_exit: properties.tone_on_entry_and_exit,
    user_join_video_off: properties.user_join_video_off,
    prioritize_handraise: properties.prioritize_handraise,
    names: properties.names,
    meta: properties.meta,
    status_callback_url: { type: ['string', 'null'] },
    status_callback_method: { type: ['string', 'null'] },
  },
  create: (body) => ({
    displayName: body.display_name ?? body.name,
    name: body.name,
    details: { recordOnStart: false, ...detailsOf(body) },
  }),
  change: (body) => ({ displayName: body.display_name, name: body.name, details: detailsOf(body) }),
  show: ({ displayName, address, details }) => ({
    name: address.name,
    display_name: displayName,
    description: details.description ?? null,
    max_members: details.maxMembers ?? null,
    join_from: shown(details.joinFrom),
    join_until: shown(details.joinUntil),
    remove_at: shown(details.removeAt),
    remove_after_seconds_elapsed: details.removeAfterSeconds ?? null,
    layout: details.layout ?? null,
    record_on_start: details.recordOnStart,
    record_members: details.recordMembers ?? false,
    recording_storage_url: details.recordingStorageUrl ?? null,
    recording_storage_url_method: details.recordingStorageMethod ?? null,
    tone_on_entry_and_exit: details.toneOnEntryAndExit ?? true,
    user_join_video_off: details.userJoinVideoOff ?? false,
    prioritize_handraise: details.prioritizeHandraise ?? false,
    names: details.names ?? false,
    meta: details.meta ?? null,
    status_callback_url: details.statusCallbackUrl ?? null,
    status_callback_method: details.statusCallbackMethod ?? null,
  }),
}

const shown = (ms: number | undefined): string | null => (ms === undefined ? null : timeText(ms))

/** Returns the details in a body. Throws `invalid_field` for too long data. */
const detailsOf = (body: Partial<RoomBody>): Partial<ResourceDetails['room']> => {
  const { meta } = body
  if (meta && JSON.stringify(meta).length > maxMetaCharacters)
    throw badField('meta', `expected at most ${maxMetaCharacters} characters of JSON`)
  return withoutUnset({
    description: body.description,
    maxMembers: body.max_members,
    joinFrom: timeOf(body.join_from),
    joinUntil: timeOf(body.join_until),
    removeAt: timeOf(body.remove_at),
    removeAfterSeconds: body.remove_after_seconds_elapsed,
    layout: body.layout,
    recordOnStart: body.record_on_start,
    recordMembers: body.record_members,
    recordingStorageUrl: body.recording_storage_url,
    recordingStorageMethod: body.recording_storage_url_method,
    toneOnEntryAndExit: body.tone_on_entry_and_exit,
    userJoinVideoOff: body.user_join_video_off,
    prioritizeHandraise: body.prioritize_handraise,
    names: body.names,
    meta,
    statusCallbackUrl: body.status_callback_url,
    statusCallbackMethod: body.status_callback_method,
  })
}

const timeOf = (value: string | null | undefined): number | null | undefined =>
  value == null ? value : Date.parse(value)
