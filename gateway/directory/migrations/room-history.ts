import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** Tables of the sessions of video rooms. `schema-rooms.ts` describes the columns. */
export const roomHistory: Migration = {
  name: 'history of video rooms',
  up: async (db) => {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}

const statements = [
  `create table room_session (
    id text primary key,
    node_id text not null,
    project_id text not null,
    room_id text not null,
    name text not null,
    display_name text not null,
    settings_json text not null,
    locked integer not null,
    layout text not null,
    members integer not null,
    present_members integer not null,
    max_members integer not null,
    events integer not null,
    started_at bigint not null,
    updated_at bigint not null,
    ended_at bigint,
    end_reason text,
    status_json text
  )`,
  'create index room_session_by_ended_at on room_session (ended_at)',
  'create index room_session_by_project_id_started_at_id on room_session (project_id, started_at, id)',
  `create index room_session_by_project_id_room_id_started_at_id
    on room_session (project_id, room_id, started_at, id)`,
  `create index room_session_by_project_id_name_started_at_id
    on room_session (project_id, name, started_at, id)`,
  'create index room_session_in_progress on room_session (node_id) where ended_at is null',
  `create index room_session_of_project_in_progress on room_session (project_id, started_at, id)
    where ended_at is null`,
  `create table room_member (
    id text primary key,
    session_id text not null,
    name text not null,
    type text not null,
    parent_id text,
    device text not null,
    call_id text not null,
    subscriber_id text,
    is_audience integer not null,
    joined_at bigint not null,
    left_at bigint,
    leave_reason text
  )`,
  'create index room_member_by_left_at on room_member (left_at)',
  'create index room_member_by_session_id_joined_at_id on room_member (session_id, joined_at, id)',
  `create table room_event (
    id text primary key,
    session_id text not null,
    place integer not null,
    name text not null,
    level text not null,
    member_id text,
    recording_id text,
    payload_json text not null,
    created_at bigint not null
  )`,
  'create index room_event_by_created_at on room_event (created_at)',
  'create index room_event_by_session_id_place on room_event (session_id, place)',
]
