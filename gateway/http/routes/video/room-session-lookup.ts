import type { ProjectRooms } from '../../../calls/room/project-rooms.ts'
import type { RoomHistory } from '../../../cdr/room-history.ts'
import { TrunklineError } from '../../../core/errors/catalogue.ts'
import type { RoomSession } from '../../../rooms/room-session.ts'
import type { RequireProject } from '../../requests/principal.ts'

/** Collaborators of the routes of room sessions. */
export interface RoomSessionDeps {
  readonly history: Pick<
    RoomHistory,
    'nodeId' | 'find' | 'list' | 'inProgress' | 'members' | 'member' | 'events' | 'streams'
  >
  /** Sessions in progress on this gateway. */
  readonly rooms: Pick<ProjectRooms, 'session' | 'figuresOf' | 'hasFfmpeg'>
  readonly requireProject: RequireProject
}

/** Path of the sessions. */
export const sessionsPath = '/api/video/room_sessions'

/**
 * Returns a session in progress on this gateway. Throws `unknown_resource`, `room_ended`, or `room_elsewhere`
 * for a session of another gateway on the same store.
 */
export const sessionInProgress = async (
  { history, rooms }: Pick<RoomSessionDeps, 'history' | 'rooms'>,
  projectId: string,
  id: string,
): Promise<RoomSession> => {
  const live = rooms.session(projectId, id)
  if (live && live.size > 0) return live
  const row = await history.find(projectId, id)
  const isElsewhere = row.ended_at === null && row.node_id !== history.nodeId
  throw new TrunklineError(isElsewhere ? 'room_elsewhere' : 'room_ended')
}
