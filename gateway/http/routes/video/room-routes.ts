import type { Resources } from '../../../directory/model/ports.ts'
import type { Listed, ListPage } from '../../../directory/model/resource-types.ts'
import type { RoomSessionRow } from '../../../directory/tables/room-sessions.ts'
import type { RoomStreams } from '../../../directory/tables/room-streams.ts'
import { pageOf, pagingQuery, sliceOf } from '../../requests/paging.ts'
import type { TypedSite, Validated } from '../../requests/typed-routes.ts'
import { timeOf } from '../cdr/cdr-filters.ts'
import { conferenceRooms } from '../fabric/conference-room-kind.ts'
import { withoutUndefined } from '../shared/field-schemas.ts'
import { forProjects } from '../shared/route-schemas.ts'
import {
  commonAnswers,
  commonBody,
  listRooms,
  type NewRoom,
  type Room,
  roomCollection,
} from './room-collection.ts'
import { sessionBody, sessionSchema } from './room-session-body.ts'
import type { RoomSessionDeps } from './room-session-lookup.ts'

/** Collaborators of {@link roomRoutes}. */
export interface RoomDeps extends Pick<RoomSessionDeps, 'history' | 'rooms' | 'requireProject'> {
  readonly resources: Resources
  readonly roomStreams: RoomStreams
}

/** Room with its session in progress: null without one, absent unless requested. */
interface ShownRoom {
  readonly room: Room
  readonly session?: RoomSessionRow | null
}

const activeSession = {
  include_active_session: {
    type: 'boolean',
    description: 'Whether the response has the session in progress; default false.',
  },
} as const

const when = (description: string) => ({ type: 'string', maxLength: 40, description }) as const

const listQuery = {
  type: 'object',
  additionalProperties: false,
  properties: {
    ...pagingQuery,
    ...activeSession,
    starts_after: when('Rooms whose `join_from` is at this time or later (ISO 8601).'),
    ends_before: when('Rooms whose `join_until` is at this time or earlier.'),
  },
} as const

const roomProperties = {
  ...commonAnswers,
  quality: { type: 'string', description: 'Always `720p`.' },
  fps: { type: 'null', description: 'Always null: the rate of the picture follows the room.' },
  room_join_video_off: { type: 'boolean', description: 'Always false.' },
  enable_room_previews: { type: 'boolean', description: 'Always false.' },
  sync_audio_video: { type: 'null', description: 'Always null.' },
}

const roomSchema = {
  type: 'object',
  required: Object.keys(roomProperties),
  properties: {
    ...roomProperties,
    active_session: { ...sessionSchema, type: ['object', 'null'], description: 'Session in progress.' },
  },
}

/**
 * Video rooms: the resources of `/api/fabric/resources/conference_rooms` in the form of the video API. An
 * item is found by its id, or by the name of a room at `/public/`.
 */
export const roomRoutes = (site: TypedSite, deps: RoomDeps): void => {
  const { history, resources, requireProject } = deps
  const routes = roomCollection<ShownRoom, NewRoom>(site, resources, {
    path: '/api/video/rooms',
    name: 'video_room',
    title: 'a video room',
    onRequest: requireProject('resources'),
    schema: roomSchema,
    properties: conferenceRooms.properties,
    required: conferenceRooms.required,
    fieldsOf: (fields) => fields,
    read: async (room) => {
      const sessions = await history.inProgress(room.projectId, [room.id])
      return { room, session: sessions.get(room.id) ?? null }
    },
    changed: alone,
    show: roomBody,
  })
  routes.list(
    forProjects('video rooms', 'list_video_rooms', 'List video rooms'),
    listQuery,
    async ({ projectId, query }) => {
      const { items, total } = roomsOf(resources, projectId, query)
      const isWanted = query.include_active_session ?? false
      return { items: isWanted ? await withSessions(deps, projectId, items) : items.map(alone), total }
    },
  )
}

const alone = (room: Room): ShownRoom => ({ room })

const roomsOf = (
  resources: Resources,
  projectId: string,
  query: Validated<typeof listQuery>,
): Listed<Room> => {
  const from = timeOf(query.starts_after, 'starts_after')
  const until = timeOf(query.ends_before, 'ends_before')
  const page = pageOf(query)
  const isFiltered = from !== undefined || until !== undefined
  const { items, total } = listRooms(resources, projectId, isFiltered ? everything : page)
  if (!isFiltered) return { items, total }
  const fitting = items.filter(
    ({ details: { joinFrom, joinUntil } }) =>
      (from === undefined || (joinFrom !== undefined && joinFrom >= from)) &&
      (until === undefined || (joinUntil !== undefined && joinUntil <= until)),
  )
  return sliceOf(fitting, page)
}

const everything: ListPage = { number: 0, size: Number.MAX_SAFE_INTEGER }

const withSessions = async (
  { history }: Pick<RoomDeps, 'history'>,
  projectId: string,
  rooms: readonly Room[],
): Promise<readonly ShownRoom[]> => {
  const sessions = await history.inProgress(
    projectId,
    rooms.map(({ id }) => id),
  )
  return rooms.map((room) => ({ room, session: sessions.get(room.id) ?? null }))
}

const roomBody = ({ room, session }: ShownRoom) =>
  withoutUndefined({
    ...commonBody(room),
    // Fields of the API family that have no meaning here.
    quality: '720p',
    fps: null,
    room_join_video_off: false,
    enable_room_previews: false,
    sync_audio_video: null,
    active_session: session && sessionBody(session),
  })
