import { parse } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { RecordingRow } from '../../directory/recordings.ts'
import { TrunklineError } from '../../errors.ts'
import type { Recordings } from '../../recordings/recordings.ts'
import type { AuthenticateProject } from '../basic.ts'

/** What the routes of recordings need. */
export interface RecordingParts {
  readonly recordings: Pick<Recordings, 'find' | 'remove' | 'linkTo' | 'checkLink' | 'folder'>
  readonly authenticate: AuthenticateProject
}

const params = {
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'string', pattern: '^[0-9a-f-]{36}$' } },
} as const

const querystring = {
  type: 'object',
  properties: {
    expires: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    signature: { type: 'string', pattern: '^[\\w-]{43}$' },
  },
  dependencies: { expires: ['signature'], signature: ['expires'] },
} as const

interface Route {
  readonly Params: { readonly id: string }
  readonly Querystring: { readonly expires?: number; readonly signature?: string }
}

const types = { wav: 'audio/wav', mp3: 'audio/mpeg' } as const

/**
 * `GET /api/recordings/{id}` tells of a recording, with a link to its audio; `DELETE` removes it; both by Basic auth of its project.
 * `GET /api/recordings/{id}/audio` is the audio, by such a link or by Basic auth, in whole or in ranges (RFC 9110 section 14).
 */
export const recordingRoutes = async (site: FastifyInstance, parts: RecordingParts): Promise<void> => {
  const { recordings, authenticate } = parts
  const path = '/api/recordings/:id'
  const found = async (id: string, project?: string): Promise<RecordingRow> => {
    const row = await recordings.find(id, project)
    if (!row) throw new TrunklineError('unknown_recording')
    return row
  }
  site.get<Route>(path, { schema: { params } }, async (request, reply) => {
    const row = await found(request.params.id, authenticate(request, reply))
    reply.header('cache-control', 'no-store')
    return body(row, row.bytes > 0 ? recordings.linkTo(row.id) : null)
  })
  site.delete<Route>(path, { schema: { params } }, async (request, reply) => {
    await recordings.remove(await found(request.params.id, authenticate(request, reply)))
    return reply.code(204).send()
  })
  await site.register(async (scope) => {
    // Nothing is served by its name: this gives replies the way to send a file.
    await scope.register(fastifyStatic, { root: recordings.folder.path, serve: false })
    scope.get<Route>(`${path}/audio`, { schema: { params, querystring } }, async (request, reply) => {
      const { id } = request.params
      const { expires, signature } = request.query
      const linked = expires !== undefined && signature !== undefined
      if (linked) checkLink(recordings.checkLink(id, { expires, signature }))
      const row = await found(id, linked ? undefined : authenticate(request, reply))
      checkSound(row, await recordings.folder.sizeOf(row))
      return send(reply, row, recordings.folder.fileOf(row))
    })
  })
}

const checkLink = (state: 'good' | 'expired' | 'forged'): void => {
  if (state === 'expired') throw new TrunklineError('unauthorized', 'The link has expired.')
  if (state === 'forged') throw new TrunklineError('unauthorized', 'The link is not valid.')
}

/** `size` is that of the file, undefined where there is none. */
const checkSound = (row: RecordingRow, size: number | undefined): void => {
  if (row.status === 'in-progress') throw new TrunklineError('recording_in_progress')
  if (row.bytes === 0) throw new TrunklineError('unknown_recording', 'It holds no sound.')
  if (size === undefined) throw new TrunklineError('unknown_recording', 'Its file is gone.')
}

const send = (reply: FastifyReply, row: RecordingRow, file: string): FastifyReply => {
  const { base, dir } = parse(file)
  reply.headers({
    'content-disposition': `inline; filename="${base}"`,
    'x-content-type-options': 'nosniff',
    'cache-control': 'private, no-cache',
  })
  return reply.type(types[row.format]).sendFile(base, dir, { cacheControl: false, contentType: false })
}

/** A recording as the API shows it. */
const body = (row: RecordingRow, url: string | null) => ({
  id: row.id,
  project_id: row.project_id,
  call_id: row.call_id,
  leg_id: row.leg_id,
  status: row.status,
  end_reason: row.end_reason,
  format: row.format,
  channels: row.channels,
  sample_rate: row.sample_rate,
  started_at: new Date(row.started_at).toISOString(),
  ended_at: row.ended_at === null ? null : new Date(row.ended_at).toISOString(),
  duration_ms: row.duration_ms,
  bytes: row.bytes,
  url,
})
