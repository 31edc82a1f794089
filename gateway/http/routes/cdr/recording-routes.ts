import fastifyStatic from '@fastify/static'
import { TrunklineError } from '../../../core/errors/catalogue.ts'
import type { RecordingRow } from '../../../directory/recordings.ts'
import type { Recordings } from '../../../recordings/recordings.ts'
import { listBody, pageOf, pagingQuery } from '../../requests/paging.ts'
import type { RequireProject } from '../../requests/principal.ts'
import type { TypedSite } from '../../requests/typed-routes.ts'
import { emptyBody, forProjects, idParams, listSchema } from '../shared/route-schemas.ts'
import { sendSound } from './audio-response.ts'
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
const recordingSchema = { type: 'object', required: Object.keys(properties), properties }

const path = '/api/recordings'

/**
 * `GET /api/recordings` lists recordings, `GET /api/recordings/{id}` tells of one, with a link to its audio;
 * `DELETE` removes it; all by Basic auth of its project. `GET /api/recordings/{id}/audio` is the audio, by
 * such a link or by Basic auth.
 */
export const recordingRoutes = async (site: TypedSite, deps: RecordingDeps): Promise<void> => {
  const { recordings, requireProject } = deps
  const onRequest = requireProject('records')
  const lists = forProjects('recordings', 'list_recordings', 'List recordings, the newest first')
  site.get(
    path,
    {
      onRequest,
      schema: { ...lists, querystring: listQuery, response: { 200: listSchema(recordingSchema) } },
    },
    async ({ projectId, query }) => {
      const { call_id: callId, ...rest } = query
      const { startedFrom: from, startedUntil: until } = timeRangeOf(rest)
      const search = { ...pageOf(rest), ...(callId !== undefined && { callId }) }
      const range = { ...(from !== undefined && { from }), ...(until !== undefined && { until }) }
      const list = await recordings.list(projectId, { ...search, ...range })
      return listBody(list, path, query, (row) => body(recordings, row))
    },
  )
  const reads = forProjects('recordings', 'get_recording', 'Get a recording')
  site.get(
    `${path}/:id`,
    { onRequest, schema: { ...reads, params: idParams, response: { 200: recordingSchema } } },
    async ({ projectId, params }) => body(recordings, await found(recordings, params.id, projectId)),
  )
  const removes = forProjects('recordings', 'delete_recording', 'Remove a recording')
  site.delete(
    `${path}/:id`,
    { onRequest, schema: { ...removes, params: idParams, response: { 204: emptyBody } } },
    async ({ projectId, params }, reply) => {
      await recordings.remove(await found(recordings, params.id, projectId))
      return reply.code(204).send()
    },
  )
  await audioRoute(site, deps)
}

const audioRoute = (site: TypedSite, { recordings, requireProject }: RecordingDeps) =>
  site.register(async (scope: TypedSite) => {
    const onRequest = requireProject('records')
    // Nothing is served by its name: this gives replies the way to send a file.
    await scope.register(fastifyStatic, { root: recordings.folder.path, serve: false })
    const sound = { schema: { type: 'string', format: 'binary' } }
    const response = {
      200: { description: 'The audio.', content: { 'audio/wav': sound, 'audio/mpeg': sound } },
    }
    const hears = forProjects('recordings', 'get_recording_audio', 'Get the audio of a recording')
    const schema = { ...hears, params: idParams, querystring: audioQuery, response }
    scope.get(`${path}/:id/audio`, { schema }, async (request, reply) => {
      const { id } = request.params
      const { expires, signature } = request.query
      const linked = expires !== undefined && signature !== undefined
      if (linked) checkLink(recordings.checkLink(id, { expires, signature }))
      else await onRequest(request, reply)
      const row = await found(recordings, id, linked ? undefined : request.projectId)
      return sendSound(reply, row, recordings.folder)
    })
  })

const found = async (
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

/** A recording as the API shows it. */
const body = (recordings: Pick<Recordings, 'linkTo' | 'underWay'>, row: RecordingRow) => ({
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
