import { type StreamFacts, secondsOf, streamFacts } from '../../../cdr/room-facts.ts'
import { TrunklineError } from '../../../core/errors/catalogue.ts'
import type { RoomSessionRow } from '../../../directory/tables/room-sessions.ts'
import { pageOf, pageQuery, sliceOf } from '../../requests/paging.ts'
import type { TypedSite } from '../../requests/typed-routes.ts'
import { CollectionRoutes } from '../shared/collection-routes.ts'
import { timeText } from '../shared/field-schemas.ts'
import { forProjects, idParams } from '../shared/route-schemas.ts'
import { type RoomSessionDeps, sessionInProgress, sessionsPath } from './room-session-lookup.ts'
import { streamUrlBody } from './room-stream-routes.ts'

/** Stream with its session. */
interface ShownStream {
  readonly stream: StreamFacts
  readonly session: RoomSessionRow
}

const itemParams = {
  type: 'object',
  required: ['id', 'stream_id'],
  properties: { id: { type: 'string' }, stream_id: { type: 'string', description: 'Id of the stream.' } },
} as const

const text = { type: 'string' } as const
const textOrNull = { type: ['string', 'null'] } as const

const properties = {
  id: text,
  room_session_id: text,
  url: { ...text, description: 'URL of the server, without the key.' },
  status: { type: 'string', enum: ['streaming', 'completed'] },
  error: { ...textOrNull, description: 'Reason of an end by a failure.' },
  started_at: text,
  ended_at: { ...textOrNull, description: 'Time of the end (RFC 3339); null before it.' },
  duration: {
    type: ['integer', 'null'],
    description: 'Duration in seconds, rounded up; null before the end.',
  },
}

const schema = { type: 'object', required: Object.keys(properties), properties }

/** Streams of a session to servers: list and read, and those of a session in progress: start and end. */
export const sessionStreamRoutes = (site: TypedSite, deps: RoomSessionDeps): void => {
  const { history, rooms, requireProject } = deps
  const options = {
    path: `${sessionsPath}/:id/streams`,
    itemPath: ':stream_id',
    params: idParams,
    itemParams,
    schema,
    show: streamBody,
  }
  const all = async (projectId: string, sessionId: string): Promise<readonly ShownStream[]> => {
    const session = await history.find(projectId, sessionId)
    const stored = await history.streams(projectId, sessionId)
    // The history stores a limited number of events.
    const live = rooms.session(projectId, sessionId)?.streams.list.map(streamFacts) ?? []
    const streams = new Map([...stored, ...live].map((stream) => [stream.id, stream]))
    return [...streams.values()].map((stream) => ({ stream, session }))
  }
  const find = async (projectId: string, sessionId: string, id: string): Promise<ShownStream> => {
    const found = (await all(projectId, sessionId)).find(({ stream }) => stream.id === id)
    if (!found) throw new TrunklineError('unknown_resource')
    return found
  }
  const reading = new CollectionRoutes<ShownStream, typeof idParams, typeof itemParams>(site, {
    ...options,
    onRequest: requireProject('records'),
  })
  reading.list(
    describe('list_room_session_streams', 'List the streams of a session, in order of their start'),
    pageQuery,
    async ({ projectId, params, query }) => sliceOf(await all(projectId, params.id), pageOf(query)),
  )
  reading.read(describe('get_room_session_stream', 'Get a stream of a session'), ({ projectId, params }) =>
    find(projectId, params.id, params.stream_id),
  )
  const control = new CollectionRoutes<ShownStream, typeof idParams, typeof itemParams>(site, {
    ...options,
    onRequest: requireProject('calling'),
  })
  control.create(
    describe('create_room_session_stream', 'Stream a session in progress to a server'),
    streamUrlBody,
    async ({ projectId, params, body }) => {
      const session = await sessionInProgress(deps, projectId, params.id)
      const stream = streamFacts(session.streams.start(body.url))
      return { stream, session: await history.find(projectId, params.id) }
    },
  )
  control.remove(
    describe('delete_room_session_stream', 'End a stream of a session in progress'),
    async ({ projectId, params }) => {
      const session = await sessionInProgress(deps, projectId, params.id)
      session.streams.stop(params.stream_id)
    },
  )
}

const describe = (id: string, summary: string) => forProjects('video rooms', id, summary)

/** Returns a stream for responses. One without an end has ended with its session, by a crash. */
const streamBody = ({ stream, session }: ShownStream) => {
  const isCut = stream.end_time === null && session.ended_at !== null
  const endedAt = isCut ? timeText(session.ended_at!) : stream.end_time
  return {
    id: stream.id,
    room_session_id: session.id,
    url: stream.url,
    status: isCut ? 'completed' : stream.state,
    error: stream.error,
    started_at: stream.start_time,
    ended_at: endedAt,
    duration: isCut ? secondsOf(Date.parse(stream.start_time ?? ''), session.ended_at) : stream.duration,
  }
}
