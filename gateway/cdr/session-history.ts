import { randomUUID } from 'node:crypto'
import type { Callbacks } from '../callbacks/callback-outbox.ts'
import type { Clock } from '../core/clock.ts'
import type { RoomEventRow, RoomMemberRow, RoomSessionRow } from '../directory/tables/room-sessions.ts'
import type { RoomSession } from '../rooms/room-session.ts'
import type { LeaveReason, RoomEvent, RoomMember } from '../rooms/room-types.ts'
import { roomCallback, roomEnded } from './room-callbacks.ts'
import {
  memberFacts,
  playbackFacts,
  recordingFacts,
  sessionFacts,
  settingsFacts,
  streamFacts,
} from './room-facts.ts'

/** Maximum number of stored events of a session; the end is stored in any case. */
const maxEvents = 2_000
/** Number of these that may be changes of the room, which every member can cause. */
const maxUpdates = 500

/** Row of the history, by its table. */
export type HistoryEntry =
  | { readonly session: RoomSessionRow }
  | { readonly member: RoomMemberRow }
  | { readonly event: RoomEventRow }

/** Event of a session. */
interface HistoryEvent {
  /** Name such as `recording.started`. */
  readonly name: string
  readonly memberId?: string
  readonly recordingId?: string
  /** JSON values that the API and the callback show beside the ids and `room_session`. */
  readonly payload: Readonly<Record<string, unknown>>
}

/** Collaborators of a {@link SessionHistory}. */
export interface SessionHistoryDeps {
  /** Id of this gateway among the gateways that share the store. */
  readonly nodeId: string
  /** Stores a row in the background. A row replaces a waiting one with the same key. */
  readonly put: (key: string, entry: HistoryEntry) => void
  readonly callbacks: Callbacks
  readonly clock: Pick<Clock, 'now'>
}

/**
 * Records one session: its row, its members and its events, and sends the events to the status target of the
 * room. A session without any member leaves no record. Changes of the room are stored, and not sent.
 */
export class SessionHistory {
  readonly #session: RoomSession
  readonly #deps: SessionHistoryDeps
  #row: RoomSessionRow
  readonly #members = new Map<string, RoomMemberRow>()
  #updates = 0
  #lastReason: LeaveReason = 'left'

  constructor(session: RoomSession, deps: SessionHistoryDeps) {
    this.#session = session
    this.#deps = deps
    this.#row = firstRow(session, deps.nodeId)
  }

  /** Records all further events of the session. */
  start(): void {
    this.#session.listen((event) => this.#take(event))
  }

  #take(event: RoomEvent): void {
    if (event.kind === 'member.joined') this.#joined(event.member)
    else if (event.kind === 'member.left') this.#left(event.member.id, event.reason)
    else if (event.kind === 'room.updated') this.#updated(event.updated)
    else if (event.kind === 'room.ended') this.#ended()
    else if ('recording' in event) this.#recorded(event)
    else if ('playback' in event) this.#played(event)
    else if ('stream' in event)
      this.#add({ name: event.kind, payload: { stream: streamFacts(event.stream) } }, true)
    else if (event.kind !== 'member.updated' && 'member' in event && event.kind !== 'member.talking')
      this.#changed(event.kind, event.member)
  }

  /** Stores a member with another role or another party. */
  #changed(name: string, member: RoomMember): void {
    const row = memberRow(this.#session.id, member)
    if (!this.#members.has(row.id)) return
    this.#members.set(row.id, row)
    this.#deps.put(`member ${row.id}`, { member: row })
    this.#add({ name, memberId: row.id, payload: { member: memberFacts(row) } }, true)
  }

  #recorded({ kind: name, recording }: RoomEvent & { readonly kind: `recording.${string}` }): void {
    const payload = { recording: recordingFacts(recording) }
    this.#add({ name, recordingId: recording.id, payload }, name !== 'recording.updated')
  }

  /** Stores the start and the end of a playback, but none of its pauses and places. */
  #played({ kind: name, playback }: RoomEvent & { readonly kind: `playback.${string}` }): void {
    if (name !== 'playback.updated') this.#add({ name, payload: { playback: playbackFacts(playback) } }, true)
  }

  #joined(member: RoomMember): void {
    const row = memberRow(this.#session.id, member)
    const isFirst = this.#row.members === 0
    this.#members.set(row.id, row)
    this.#row = {
      ...this.#row,
      members: this.#row.members + 1,
      present_members: this.#members.size,
      max_members: Math.max(this.#row.max_members, this.#members.size),
    }
    if (isFirst) this.#add({ name: 'room.started', payload: {} }, true)
    this.#deps.put(`member ${row.id}`, { member: row })
    this.#add({ name: 'member.joined', memberId: row.id, payload: { member: memberFacts(row) } }, true)
  }

  #left(id: string, reason: LeaveReason): void {
    const present = this.#members.get(id)
    if (!present) return
    const row = { ...present, left_at: this.#deps.clock.now(), leave_reason: reason }
    this.#members.delete(id)
    this.#row = { ...this.#row, present_members: this.#members.size }
    this.#lastReason = reason
    this.#deps.put(`member ${id}`, { member: row })
    this.#add({ name: 'member.left', memberId: id, payload: { member: memberFacts(row) } }, true)
  }

  #updated(updated: readonly string[]): void {
    const { isLocked, layoutName, isVideoMutedHidden, isHandraisePrioritized } = this.#session
    if (this.#row.members === 0 || ++this.#updates > maxUpdates) return
    const state = {
      locked: isLocked,
      layout_name: layoutName,
      hide_video_muted: isVideoMutedHidden,
      prioritize_handraise: isHandraisePrioritized,
    }
    this.#add({ name: 'room.updated', payload: { updated, ...state } }, false)
  }

  #ended(): void {
    if (this.#row.members === 0) return
    const now = this.#deps.clock.now()
    this.#row = { ...this.#row, ended_at: now, end_reason: this.#lastReason, status_json: null }
    this.#add({ name: roomEnded, payload: {} }, true)
  }

  #add(event: HistoryEvent, isSent: boolean): void {
    const { put, callbacks, clock } = this.#deps
    const { settings, isLocked, layoutName: layout } = this.#session
    const { statusTarget, projectId } = settings
    const state = { locked: isLocked ? 1 : 0, layout, updated_at: clock.now() }
    this.#row = { ...this.#row, ...state, events: this.#row.events + 1 }
    const row = eventRow(event, this.#row)
    put(`session ${this.#row.id}`, { session: this.#row })
    if (row.place <= maxEvents || row.name === roomEnded) put(`event ${row.id}`, { event: row })
    if (isSent && statusTarget)
      callbacks.notify({ projectId, callId: this.#row.id }, roomCallback(statusTarget, this.#row, row))
  }
}

const firstRow = ({ id, settings, startedAt }: RoomSession, nodeId: string): RoomSessionRow => ({
  id,
  node_id: nodeId,
  project_id: settings.projectId,
  room_id: settings.id,
  name: settings.name,
  display_name: settings.displayName,
  settings_json: JSON.stringify(settingsFacts(settings)),
  locked: 0,
  layout: settings.layout,
  members: 0,
  present_members: 0,
  max_members: 0,
  events: 0,
  started_at: startedAt,
  updated_at: startedAt,
  ended_at: null,
  end_reason: null,
  status_json: settings.statusTarget ? JSON.stringify(settings.statusTarget) : null,
})

const memberRow = (sessionId: string, member: RoomMember): RoomMemberRow => ({
  id: member.id,
  session_id: sessionId,
  name: member.name,
  type: member.type,
  parent_id: member.parentId ?? null,
  device: member.isPhone ? 'phone' : 'browser',
  call_id: member.callId,
  subscriber_id: member.subscriberId,
  is_audience: member.isAudience ? 1 : 0,
  joined_at: member.joinedAt,
  left_at: null,
  leave_reason: null,
})

const eventRow = (
  { name, memberId, recordingId, payload }: HistoryEvent,
  session: RoomSessionRow,
): RoomEventRow => ({
  id: randomUUID(),
  session_id: session.id,
  place: session.events,
  name,
  level: 'info',
  member_id: memberId ?? null,
  recording_id: recordingId ?? null,
  payload_json: JSON.stringify({ room_session: sessionFacts(session), ...payload }),
  created_at: session.updated_at,
})
