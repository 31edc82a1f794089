import type { MemberFigures } from '../../../calls/room/room-figures.ts'
import { memberFacts, type SettingsFacts, sessionFacts } from '../../../cdr/room-facts.ts'
import type { RoomEventRow, RoomMemberRow, RoomSessionRow } from '../../../directory/tables/room-sessions.ts'
import type { RoomSession } from '../../../rooms/room-session.ts'
import type { RoomMember } from '../../../rooms/room-types.ts'
import { timeText } from '../shared/field-schemas.ts'
import { figuresBody, figuresSchema } from './room-figures-body.ts'

const text = { type: 'string' } as const
const textOrNull = { type: ['string', 'null'] } as const
const timeOrNull = textOrNull
const count = { type: 'integer' } as const
const countOrNull = { type: ['integer', 'null'] } as const
const flag = { type: 'boolean' } as const

/** Returns the object schema in which all properties are required. */
const whole = (properties: object) => ({
  type: 'object',
  required: Object.keys(properties),
  properties,
})

/** Schema of a session in responses. */
export const sessionSchema = whole({
  id: text,
  project_id: text,
  room_id: text,
  name: text,
  display_name: text,
  status: { type: 'string', enum: ['in-progress', 'completed'] },
  start_time: text,
  end_time: timeOrNull,
  duration: { ...countOrNull, description: 'Duration in seconds, rounded up; null before the end.' },
  end_reason: {
    ...textOrNull,
    description:
      'Reason for the end: `left`, `removed`, `ended`, `expired`, or `interrupted` if the gateway crashed.',
  },
  members_present: { ...count, description: 'Present members and screens, with the audience.' },
  members_total: { ...count, description: 'Members and screens that have joined, with the audience.' },
  members_max: { ...count, description: 'Maximum number of those present at the same time.' },
  locked: flag,
  layout: { ...text, description: 'Layout at the start of the session.' },
  layout_name: { ...text, description: 'Layout in force, or the last one.' },
  max_members: count,
  join_from: timeOrNull,
  join_until: timeOrNull,
  remove_at: timeOrNull,
  remove_after_seconds_elapsed: countOrNull,
  record_on_start: flag,
  tone_on_entry_and_exit: flag,
  room_join_video_off: { ...flag, description: 'Always false.' },
  user_join_video_off: flag,
  prioritize_handraise: flag,
  quality: { ...text, description: 'Always `720p`.' },
  fps: { type: 'null', description: 'Always null: the rate of the picture follows the room.' },
  sync_audio_video: { type: 'null', description: 'Always null.' },
  enable_room_previews: { ...flag, description: 'Always false.' },
  preview_url: { type: 'null', description: 'Always null.' },
  locked_cover: { type: 'null', description: 'Always null.' },
  cost_in_dollars: { type: 'number', description: 'Always 0.' },
  created_at: text,
  updated_at: text,
})

/** Returns a session for responses. */
export const sessionBody = (row: RoomSessionRow) => ({
  project_id: row.project_id,
  ...(JSON.parse(row.settings_json) as SettingsFacts),
  ...sessionFacts(row),
  locked: row.locked === 1,
  layout_name: row.layout,
  // Fields of the API family that have no meaning here.
  room_join_video_off: false,
  quality: '720p',
  fps: null,
  sync_audio_video: null,
  enable_room_previews: false,
  preview_url: null,
  locked_cover: null,
  cost_in_dollars: 0,
  created_at: timeText(row.started_at),
  updated_at: timeText(row.updated_at),
})

const stateSchema = {
  ...whole({
    audio_muted: flag,
    video_muted: flag,
    deaf: flag,
    handraised: flag,
    visible: flag,
    talking: flag,
    on_hold: flag,
    input_volume: { type: 'number' },
    output_volume: { type: 'number' },
    input_sensitivity: { type: 'number' },
    requested_position: text,
    current_position: text,
    meta: { type: 'object', additionalProperties: true },
  }),
  type: ['object', 'null'],
  description: 'Present state; null for a member that has left, or that is on another gateway.',
}

/** Schema of a member in responses. */
export const memberSchema = whole({
  id: text,
  room_session_id: text,
  name: text,
  type: { type: 'string', enum: ['member', 'screen', 'device'] },
  parent_id: { ...textOrNull, description: 'Member that a screen belongs to.' },
  device: { type: 'string', enum: ['browser', 'phone'] },
  call_id: { ...text, description: "Id of the member's call in its browser, or of its leg." },
  subscriber_id: textOrNull,
  join_as: { type: 'string', enum: ['member', 'audience'] },
  join_time: text,
  leave_time: timeOrNull,
  leave_reason: {
    ...textOrNull,
    description:
      'Reason for the departure: `left`, `removed`, `ended`, `expired`, or `interrupted` if the gateway ' +
      'crashed.',
  },
  duration: { ...countOrNull, description: 'Time in the room in seconds, rounded up; null while present.' },
  state: stateSchema,
  figures: figuresSchema,
  cost_in_dollars: { type: 'number', description: 'Always 0.' },
})

/**
 * Returns a member for responses. `session`: its session, if it is in progress on this gateway. `figures`:
 * those of its media, if there are any.
 */
export const memberBody = (
  row: RoomMemberRow,
  session: RoomSession | undefined,
  figures?: MemberFigures | undefined,
) => {
  const member = session?.member(row.id)
  return {
    ...memberFacts(row),
    state: session && member ? stateBody(session, member) : null,
    figures: figuresBody(figures),
    cost_in_dollars: 0,
  }
}

const stateBody = (session: RoomSession, member: RoomMember) => ({
  ...member.state,
  visible: member.isVisible,
  talking: member.isTalking,
  on_hold: member.isOnHold,
  requested_position: member.requestedPosition,
  current_position: session.positionOf(member.id),
  meta: member.meta,
})

/** Schema of an event in responses. */
export const roomEventSchema = whole({
  id: text,
  project_id: text,
  room_id: text,
  room_session_id: text,
  room_participant_id: { ...textOrNull, description: 'Member that the event concerns.' },
  room_recording_id: { ...textOrNull, description: 'Recording that the event concerns.' },
  sequence: { ...count, description: 'Position of the event in its session, from 1.' },
  level: { type: 'string', enum: ['info', 'warn'] },
  name: text,
  payload: { type: 'object', additionalProperties: true },
  created_at: text,
})

/** Returns an event for responses. */
export const roomEventBody = (row: RoomEventRow, session: RoomSessionRow) => ({
  id: row.id,
  project_id: session.project_id,
  room_id: session.room_id,
  room_session_id: row.session_id,
  room_participant_id: row.member_id,
  room_recording_id: row.recording_id,
  sequence: row.place,
  level: row.level,
  name: row.name,
  payload: JSON.parse(row.payload_json),
  created_at: timeText(row.created_at),
})
