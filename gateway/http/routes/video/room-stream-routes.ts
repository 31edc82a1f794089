import { readRtmpUrl } from '../../../callbacks/rtmp-target.ts'
import { TrunklineError } from '../../../core/errors/catalogue.ts'
import type { ConfiguredStream, StreamUrl } from '../../../directory/tables/room-streams.ts'
import { pageOf, pageQuery, sliceOf } from '../../requests/paging.ts'
import type { TypedSite } from '../../requests/typed-routes.ts'
import { CollectionRoutes } from '../shared/collection-routes.ts'
import { text, timeText } from '../shared/field-schemas.ts'
import { forProjects, idParams } from '../shared/route-schemas.ts'
import { findRoom } from './room-collection.ts'
import type { RoomDeps } from './room-routes.ts'

const streamUrl = {
  ...text(2000),
  description:
    'Server, application and key: `rtmp://host/application/key`, or with `rtmps:`. Responses have `***` in ' +
    'place of the key.',
} as const

/** Body of a request that names a server for a stream. */
export const streamUrlBody = {
  type: 'object',
  required: ['url'],
  additionalProperties: false,
  properties: { url: streamUrl },
} as const

const number = { type: 'integer' } as const

const properties = {
  id: { type: 'string' },
  room_id: { type: 'string' },
  url: { type: 'string', description: 'URL of the server, without the key.' },
  stream_type: { type: 'string', enum: ['rtmp'] },
  width: { ...number, description: 'Width of the picture; always 1280.' },
  height: { ...number, description: 'Height of the picture; always 720.' },
  fps: { ...number, description: 'Pictures per second; always 30.' },
  managed_by: {
    type: 'string',
    enum: ['file', 'api'],
    description: 'Whether the configuration file declares the stream. The API cannot change it then.',
  },
  created_at: { type: 'string' },
  updated_at: { type: 'string' },
}

const schema = { type: 'object', required: Object.keys(properties), properties }

/**
 * Streams that start with each session of a room: those of `/api/video/rooms/{id}/streams` and `/api/video/
 * conferences/{id}/streams`, and one by its id at `/api/video/streams/{id}`.
 */
export const roomStreamRoutes = (site: TypedSite, deps: RoomDeps): void => {
  const { roomStreams, requireProject } = deps
  const options = { onRequest: requireProject('resources'), schema, show: streamBody }
  listRoutes(site, deps, { path: '/api/video/rooms', name: 'video_room', title: 'a video room' })
  listRoutes(site, deps, {
    path: '/api/video/conferences',
    name: 'video_conference',
    title: 'a conference',
  })
  const items = new CollectionRoutes<ConfiguredStream>(site, { path: '/api/video/streams', ...options })
  items.read(describe('get_video_stream', 'Get a stream of a room'), ({ projectId, params }) =>
    roomStreams.find(projectId, params.id),
  )
  items.update(
    (verb) => describe(`${verb}_video_stream`, 'Change the server of a stream of a room'),
    streamUrlBody,
    ({ projectId, params, body }) => roomStreams.change(projectId, params.id, urlOf(body.url)),
  )
  items.remove(describe('delete_video_stream', 'Delete a stream of a room'), ({ projectId, params }) =>
    roomStreams.remove(projectId, params.id),
  )
}

/** Rooms, in one of their forms. */
interface RoomPath {
  readonly path: string
  /** Name in operation ids. */
  readonly name: string
  readonly title: string
}

const listRoutes = (
  site: TypedSite,
  { resources, roomStreams, rooms, requireProject }: RoomDeps,
  { path, name, title }: RoomPath,
): void => {
  const routes = new CollectionRoutes<ConfiguredStream, typeof idParams>(site, {
    path: `${path}/:id/streams`,
    params: idParams,
    onRequest: requireProject('resources'),
    schema,
    show: streamBody,
  })
  routes.list(
    describe(`list_${name}_streams`, `List the streams of ${title}`),
    pageQuery,
    async ({ projectId, params, query }) => {
      const { id } = findRoom(resources, projectId, params.id)
      return sliceOf(await roomStreams.ofRoom(id), pageOf(query))
    },
  )
  routes.create(
    describe(`create_${name}_stream`, `Add a stream that starts with each session of ${title}`),
    streamUrlBody,
    async ({ projectId, params, body }) => {
      const { id } = findRoom(resources, projectId, params.id)
      if (!rooms.hasFfmpeg) throw new TrunklineError('ffmpeg_missing')
      return roomStreams.add(projectId, id, urlOf(body.url))
    },
  )
}

/** Reads a URL. Throws `bad_room_stream_url`. */
const urlOf = (url: string): StreamUrl => ({ url, shown: readRtmpUrl(url).masked })

const describe = (id: string, summary: string) => forProjects('video rooms', id, summary)

const streamBody = (stream: ConfiguredStream) => ({
  id: stream.id,
  room_id: stream.room_id,
  url: stream.shown_url,
  stream_type: 'rtmp',
  width: 1280,
  height: 720,
  fps: 30,
  managed_by: stream.managed_by_file === 1 ? 'file' : 'api',
  created_at: timeText(stream.created_at),
  updated_at: timeText(stream.updated_at),
})
