import { TrunklineError } from '../../../core/errors/catalogue.ts'
import type { Resources } from '../../../directory/model/ports.ts'
import type { Listed, ListPage, Resource } from '../../../directory/model/resource-types.ts'
import type { RoomSessionRow } from '../../../directory/tables/room-sessions.ts'
import { pageOf, pagingQuery, sliceOf } from '../../requests/paging.ts'
import type { TypedSite, Validated } from '../../requests/typed-routes.ts'
import { timeOf } from '../cdr/cdr-filters.ts'
import { conferenceRooms } from '../fabric/conference-room-kind.ts'
import { CollectionRoutes } from '../shared/collection-routes.ts'
import { timeText, withoutUndefined } from '../shared/field-schemas.ts'
import { forProjects } from '../shared/route-schemas.ts'
import { sessionBody, sessionSchema } from './room-session-body.ts'
import type { RoomSessionDeps } from './room-session-lookup.ts'

/** Collaborators of {@link roomRoutes}. */
export interface RoomDeps extends Pick<RoomSessionDeps, 'history' | 'requireProject'> {
  readonly resources: Resources
}

/** Room of a project. */
export type Room = Resource<'room'>
/** Fields of a new room. */
export type NewRoom = Parameters<typeof conferenceRooms.create>[0]

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

const body = (required: readonly string[]) => ({
  type: 'object',
  required: [...required],
  additionalProperties: false,
  properties: conferenceRooms.properties,
})

const roomProperties = {
  id: { type: 'string' },
  address: { type: 'string' },
  ...conferenceRooms.answer,
  quality: { type: 'string', description: 'Always `720p`.' },
  fps: { type: 'null', description: 'Always null: the rate of the picture follows the room.' },
  room_join_video_off: { type: 'boolean', description: 'Always false.' },
  enable_room_previews: { type: 'boolean', description: 'Always false.' },
  sync_audio_video: { type: 'null', description: 'Always null.' },
  managed_by: { type: 'string', enum: ['file', 'api'] },
  created_at: { type: 'string' },
  updated_at: { type: 'string' },
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
  const onRequest = requireProject('resources')
  const routes = new CollectionRoutes<ShownRoom>(site, {
    path: '/api/video/rooms',
    onRequest,
    schema: roomSchema,
    show: roomBody,
  })
  routes.list(describe('list_video_rooms', 'List video rooms'), listQuery, async ({ projectId, query }) => {
    const { items, total } = roomsOf(resources, projectId, query)
    const isWanted = query.include_active_session ?? false
    return { items: isWanted ? await withSessions(deps, projectId, items) : items.map(alone), total }
  })
  routes.create(
    describe('create_video_room', 'Create a video room'),
    body(conferenceRooms.required),
    ({ projectId, body: fields }) => {
      // The schema has checked that the fields are those of a room.
      const made = conferenceRooms.create(fields as NewRoom, noResource)
      return nameTaken(resources.create({ ...made, projectId, type: 'room' })).then(alone)
    },
  )
  routes.read(
    describe('get_video_room', 'Get a video room by its id or name'),
    async ({ projectId, params }) => {
      const room = findRoom(resources, projectId, params.id)
      const sessions = await history.inProgress(projectId, [room.id])
      return { room, session: sessions.get(room.id) ?? null }
    },
  )
  routes.update(
    (verb) => describe(`${verb}_video_room`, 'Change a video room; omitted fields keep their values'),
    body([]),
    ({ projectId, params, body: fields }) => {
      const room = findRoom(resources, projectId, params.id)
      const change = conferenceRooms.change(fields as NewRoom, room, noResource)
      return nameTaken(resources.update(projectId, 'room', room.id, change)).then(alone)
    },
  )
  routes.remove(describe('delete_video_room', 'Delete a video room'), ({ projectId, params }) =>
    resources.remove(projectId, 'room', findRoom(resources, projectId, params.id).id),
  )
}

const describe = (id: string, summary: string) => forProjects('video rooms', id, summary)

const alone = (room: Room): ShownRoom => ({ room })

/** Finds no resources, as the fields of a room refer to none. */
export const noResource = () => undefined

/** Returns a room by its id, or by its name at `/public/`. Throws `unknown_resource`. */
export const findRoom = (resources: Resources, projectId: string, idOrName: string): Room => {
  const found =
    resources.find(projectId, 'room', idOrName) ?? resources.findByAddress(projectId, 'public', idOrName)
  if (found?.type !== 'room') throw new TrunklineError('unknown_resource')
  return found
}

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

/** Returns a page of the rooms of a project. */
export const listRooms = (resources: Resources, projectId: string, page: ListPage): Listed<Room> => {
  const { items, total } = resources.list(projectId, { ...page, types: ['room'] })
  return { items: items.filter((each): each is Room => each.type === 'room'), total }
}

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

/** Names the field of this API if the name is taken. */
export const nameTaken = async (change: Promise<Room>): Promise<Room> => {
  try {
    return await change
  } catch (error) {
    if (!(error instanceof TrunklineError) || error.code !== 'address_taken') throw error
    throw new TrunklineError('address_taken', undefined, { attribute: 'name' }, error)
  }
}

const roomBody = ({ room, session }: ShownRoom) =>
  withoutUndefined({
    id: room.id,
    address: `/${room.address.context}/${room.address.name}`,
    ...conferenceRooms.show(room),
    // Fields of the API family that have no meaning here.
    quality: '720p',
    fps: null,
    room_join_video_off: false,
    enable_room_previews: false,
    sync_audio_video: null,
    managed_by: room.managedByFile ? 'file' : 'api',
    created_at: timeText(room.createdAt),
    updated_at: timeText(room.updatedAt),
    active_session: session && sessionBody(session),
  })
