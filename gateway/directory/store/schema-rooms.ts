/** Sessions of video rooms. */
export interface RoomSessionTable {
  id: string
  /** Gateway that has, or had, the session. */
  node_id: string
  project_id: string
  room_id: string
  /** Name in the room's address. */
  name: string
  display_name: string
  /** Settings at the start of the session. */
  settings_json: string
  /** 1: the room is locked, or was at the end. */
  locked: number
  /** Layout in force, or the last one. */
  layout: string
  /** Members, screens and devices that have joined, with the audience. */
  members: number
  /** Those that are present. */
  present_members: number
  /** Maximum number of those present at the same time. */
  max_members: number
  /** Number of events; also the position of the last one. Not all need be stored. */
  events: number
  started_at: number
  /** Time of the last event. */
  updated_at: number
  /** Null for a session in progress. */
  ended_at: number | null
  end_reason: string | null
  /**
   * Status target that receives the events; null without one, or after the end. May contain a user and a
   * password.
   */
  status_json: string | null
}

/** Members of the sessions of video rooms. */
export interface RoomMemberTable {
  id: string
  session_id: string
  name: string
  type: 'member' | 'screen' | 'device'
  /** Member that a screen or a device belongs to. */
  parent_id: string | null
  device: 'browser' | 'phone'
  /** Id of the member's call in its browser, or of its leg. */
  call_id: string
  subscriber_id: string | null
  /** 1: the member was in the audience. */
  is_audience: number
  joined_at: number
  /** Null for a member that is present. */
  left_at: number | null
  leave_reason: string | null
}

/** Events of the sessions of video rooms. */
export interface RoomEventTable {
  id: string
  session_id: string
  /** Position in the session, from 1. */
  place: number
  name: string
  level: 'info' | 'warn'
  member_id: string | null
  recording_id: string | null
  payload_json: string
  created_at: number
}

/** Streams that start with the sessions of rooms. */
export interface RoomStreamTable {
  id: string
  project_id: string
  /** Resource of the room. */
  room_id: string
  /** URL of the server with the key, sealed. */
  url: string
  /** URL without the key. */
  shown_url: string
  created_at: number
  updated_at: number
  /** 1: the configuration file declares the stream. */
  managed_by_file: number
}

/** Tokens of conferences. Their texts are derived from the gateway's secret, and not stored. */
export interface ConferenceTokenTable {
  id: string
  project_id: string
  /** Resource of the room. */
  room_id: string
  /** Unique in the room. */
  name: 'moderator' | 'guest'
  /** Id of the present text; a reset changes it. */
  version: string
  created_at: number
  updated_at: number
}
