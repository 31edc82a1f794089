import fastifyStatic from '@fastify/static'
import { TrunklineError } from '../../../core/errors/catalogue.ts'
import type { RecordingRow } from '../../../directory/tables/recordings.ts'
import type { Recordings } from '../../../recordings/recordings.ts'
import { pageOf, pagingQuery } from '../../requests/paging.ts'
import type { RequireProject } from '../../requests/principal.ts'
import type { TypedSite } from '../../requests/typed-routes.ts'
import { CollectionRoutes } from '../shared/collection-routes.ts'
import { withoutUndefined } from '../shared/field-schemas.ts'
import { forProjects, idParams } from '../shared/route-schemas.ts'
import { sendAudio, sendMemberFile } from './audio-response.ts'
import { timeFilters, timeRangeOf } from './cdr-filters.ts'

/** Collaborators of the routes of recordings. */
export interface RecordingDeps {
  readonly recordings: Pick<
    Recordings,
    'find' | 'list' | 'remove' | 'linkTo' | 'checkLink' | 'folder' | 'underWay'
  >
  readonly requireProject: RequireProject
}

const listQuery = {
  type: 'object',
  additionalProperties: false,
  properties: { ...pagingQuery, ...timeFilters, call_id: { type: 'string', maxLength: 64 } },
} as const

const audioQuery = {
  type: 'object',
  properties: {
    expires: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    signature: { type: 'string', pattern: '^[\\w-]{43}$' },
  },
  dependencies: { expires: ['signature'], signature: ['expires'] },
} as const

const fileParams = {
  type: 'object',
  required: ['id', 'name'],
  properties: {
    ...idParams.properties,
    name: { type: 'string', maxLength: 100, description: 'Name of the file in the recording.' },
  },
} as const

const text = { type: 'string' } as const
const textOrNull = { type: ['string', 'null'] } as const
const whole = { type: 'integer' } as const

const properties = {
  id: text,
  project_id: text,
  call_id: text,
  leg_id: text,
  status: { type: 'string', enum: ['in-progress', 'paused', 'completed', 'failed'] },
  end_reason: textOrNull,
  format: text,
  channels: whole,
  sample_rate: whole,
  started_at: text,
  ended_at: textOrNull,
  duration_ms: whole,
  bytes: whole,
  url: textOrNull,
}
const schema = { type: 'object', required: Object.keys(properties), properties }

const path = '/api/recordings'

/**
 * `GET /api/recordings`, `GET` and `DELETE /api/recordings/{id}`, with Basic authentication of the project. A
 * recording has a link to its audio, `GET /api/recordings/{id}/audio`, which also accepts Basic
 * authentication.
 */
export const recordingRoutes = async (site: TypedSite, deps: RecordingDeps): Promise<void> => {
  const { recordings, requireProject } = deps
  const routes = new CollectionRoutes<RecordingRow>(site, {
    path,
    onRequest: requireProject('records'),
    schema,
    show: (row) => recordingBody(recordings, row),
  })
  routes.list(
    describe('list_recordings', 'List recordings, the newest first'),
    listQuery,
    ({ projectId, query }) => {
      const { startedFrom: from, startedUntil: until } = timeRangeOf(query)
      const filters = withoutUndefined({ callId: query.call_id, from, until })
      return recordings.list(projectId, { ...pageOf(query), ...filters })
    },
  )
  routes.read(describe('get_recording', 'Get a recording'), ({ projectId, params }) =>
    findRecording(recordings, params.id, projectId),
  )
  routes.remove(describe('delete_recording', 'Remove a recording'), async ({ projectId, params }) =>
    recordings.remove(await findRecording(recordings, params.id, projectId)),
  )
  await audioRoute(site, deps)
}

const describe = (id: string, summary: string) => forProjects('recordings', id, summary)

const audioRoute = (site: TypedSite, { recordings, requireProject }: RecordingDeps) =>
  site.register(async (scope: TypedSite) => {
    const onRequest = requireProject('records')
    // The plugin serves no files by name here; it adds `reply.sendFile`.
    await scope.register(fastifyStatic, { root: recordings.folder.path, serve: false })
    const file = { schema: { type: 'string', format: 'binary' } }
    const content = { 'audio/wav': file, 'audio/mpeg': file, 'video/webm': file }
    const response = {
      200: { description: 'The audio, or the video of a room.', content },
      206: { description: 'The requested range of the file.', content },
    }
    const schema = {
      ...describe('get_recording_audio', 'Get the audio of a recording'),
      params: idParams,
      querystring: audioQuery,
      response,
    }
    scope.get(`${path}/:id/audio`, { schema }, async (request, reply) => {
      const { id } = request.params
      const { expires, signature } = request.query
      const isLinked = expires !== undefined && signature !== undefined
      if (isLinked) checkLink(recordings.checkLink(id, { expires, signature }))
      else await onRequest(request, reply)
      const row = await findRecording(recordings, id, isLinked ? undefined : request.projectId)
      return sendAudio(reply, row, recordings.folder)
    })
    const fileContent = { ...content, 'audio/webm': file, 'application/json': file }
    const fileSchema = {
      ...describe('get_recording_file', 'Get a file of a member of a room from a recording'),
      params: fileParams,
      querystring: audioQuery,
      response: {
        200: { description: 'The file, or the manifest of the files.', content: fileContent },
        206: { description: 'The requested range of the file.', content: fileContent },
      },
    }
    scope.get(`${path}/:id/files/:name`, { schema: fileSchema }, async (request, reply) => {
      const { id, name } = request.params
      const { expires, signature } = request.query
      const isLinked = expires !== undefined && signature !== undefined
      if (isLinked) checkLink(recordings.checkLink(id, { expires, signature }, name))
      else await onRequest(request, reply)
      const row = await findRecording(recordings, id, isLinked ? undefined : request.projectId)
      return sendMemberFile(reply, row, name, recordings.folder)
    })
  })

const findRecording = async (
  recordings: Pick<Recordings, 'find'>,
  id: string,
  project: string | undefined,
): Promise<RecordingRow> => {
  const row = await recordings.find(id, project)
  if (!row) throw new TrunklineError('unknown_recording')
  return row
}

const checkLink = (state: 'good' | 'expired' | 'forged'): void => {
  if (state === 'expired') throw new TrunklineError('unauthorized', 'The link has expired.')
  if (state === 'forged') throw new TrunklineError('unauthorized', 'The link is not valid.')
}

/** Returns a recording for responses. */
const recordingBody = (recordings: Pick<Recordings, 'linkTo' | 'underWay'>, row: RecordingRow) => ({
  id: row.id,
  project_id: row.project_id,
  call_id: row.call_id,
  leg_id: row.leg_id,
  status: recordings.underWay(row.id, row.project_id)?.isPaused ? 'paused' : row.status,
  end_reason: row.end_reason,
  format: row.format,
  channels: row.channels,
  sample_rate: row.sample_rate,
  started_at: new Date(row.started_at).toISOString(),
  ended_at: row.ended_at === null ? null : new Date(row.ended_at).toISOString(),
  duration_ms: row.duration_ms,
  bytes: row.bytes,
  url: row.bytes > 0 ? recordings.linkTo(row.id) : null,
})
