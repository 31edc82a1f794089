import type { RoomHistory } from '../../../cdr/room-history.ts'
import { TrunklineError } from '../../../core/errors/catalogue.ts'
import { isOfRoom, type RecordingRow, roomFormats } from '../../../directory/tables/recordings.ts'
import { filesOf, manifestName, memberFileType } from '../../../recordings/member-files.ts'
import type { Recordings } from '../../../recordings/recordings.ts'
import { pageOf, pagingQuery } from '../../requests/paging.ts'
import type { RequireProject } from '../../requests/principal.ts'
import type { TypedSite } from '../../requests/typed-routes.ts'
import { CollectionRoutes } from '../shared/collection-routes.ts'
import { forProjects, idParams } from '../shared/route-schemas.ts'

type RoomRecordingStore = Pick<Recordings, 'find' | 'list' | 'remove' | 'linkTo' | 'linkToFile' | 'underWay'>

/** Collaborators of {@link roomRecordingRoutes}. */
export interface RoomRecordingDeps {
  readonly recordings: RoomRecordingStore
  readonly history: Pick<RoomHistory, 'find'>
  readonly requireProject: RequireProject
}

const listQuery = {
  type: 'object',
  properties: {
    ...pagingQuery,
    media_ttl: {
      type: 'integer',
      minimum: 1,
      maximum: 604_800,
      description: 'Time for which the links are valid, in seconds; default the one of the configuration.',
    },
  },
} as const

const text = { type: 'string' } as const
const textOrNull = { type: ['string', 'null'] } as const

const fileProperties = {
  name: text,
  member_id: { ...text, description: 'Id of the member.' },
  kind: { type: 'string', enum: ['camera', 'screen', 'audio'] },
  format: text,
  start: { type: 'number', description: 'Time of its start in the recording, in seconds.' },
  duration: { type: 'number' },
  size_in_bytes: { type: 'integer', description: 'Size of the file.' },
  uri: text,
}

const properties = {
  id: text,
  room_session_id: text,
  status: { type: 'string', enum: ['recording', 'paused', 'processing', 'completed', 'failed'] },
  error: { ...textOrNull, description: 'Code of the fault that ended the recording, or its conversion.' },
  started_at: text,
  finished_at: { ...textOrNull, description: 'Time of the end (RFC 3339); null before it.' },
  duration: { type: 'number' },
  size_in_bytes: { type: 'integer', description: 'Size of the file at the end; 0 before it.' },
  format: { ...text, enum: ['video/webm', 'video/mp4'] },
  cost_in_dollars: { type: 'number', description: 'Always 0.' },
  uri: textOrNull,
  files: {
    type: 'array',
    items: { type: 'object', required: Object.keys(fileProperties), properties: fileProperties },
    description: 'Files of the members after the end, if the recording has any.',
  },
  manifest_uri: { ...textOrNull, description: 'Link to the description of these files.' },
  created_at: text,
  updated_at: text,
}
const schema = { type: 'object', required: Object.keys(properties), properties }

/** A recording with the lifetime of its link. */
interface Linked {
  readonly row: RecordingRow
  readonly linkSeconds?: number | undefined
}

const path = '/api/video/room_recordings'

/**
 * `GET /api/video/room_recordings`, `GET` and `DELETE` of one, and `GET
 * /api/video/room_sessions/{id}/recordings`, with Basic authentication of the project.
 */
export const roomRecordingRoutes = (
  site: TypedSite,
  { recordings, history, requireProject }: RoomRecordingDeps,
): void => {
  const options = {
    onRequest: requireProject('records'),
    schema,
    show: (linked: Linked) => roomRecordingBody(recordings, linked),
  }
  const list = async (projectId: string, query: ListQuery, conferenceId?: string) => {
    const filter = { formats: roomFormats, ...(conferenceId !== undefined && { conferenceId }) }
    const { items, total } = await recordings.list(projectId, { ...pageOf(query), ...filter })
    return { items: items.map((row): Linked => ({ row, linkSeconds: query.media_ttl })), total }
  }
  const routes = new CollectionRoutes<Linked>(site, { path, ...options })
  routes.list(
    describe('list_room_recordings', 'List recordings of rooms, the newest first'),
    listQuery,
    ({ projectId, query }) => list(projectId, query),
  )
  routes.read(describe('get_room_recording', 'Get a recording of a room'), async ({ projectId, params }) => ({
    row: await findRow(recordings, params.id, projectId),
  }))
  routes.remove(describe('delete_room_recording', 'Remove a recording of a room'), async (request) =>
    recordings.remove(await findRow(recordings, request.params.id, request.projectId)),
  )
  const ofSessions = new CollectionRoutes<Linked, typeof idParams>(site, {
    path: '/api/video/room_sessions/:id/recordings',
    params: idParams,
    ...options,
  })
  ofSessions.list(
    describe('list_room_session_recordings', 'List the recordings of a room session, the newest first'),
    listQuery,
    async ({ projectId, query, params }) => {
      const { id } = await history.find(projectId, params.id)
      return list(projectId, query, id)
    },
  )
}

type ListQuery = Parameters<typeof pageOf>[0] & { readonly media_ttl?: number }

const describe = (id: string, summary: string) => forProjects('video rooms', id, summary)

const findRow = async (
  recordings: Pick<Recordings, 'find'>,
  id: string,
  project: string,
): Promise<RecordingRow> => {
  const row = await recordings.find(id, project)
  if (!row || !isOfRoom(row)) throw new TrunklineError('unknown_recording')
  return row
}

/** Returns a recording of a room for responses. */
const roomRecordingBody = (
  recordings: Pick<Recordings, 'linkTo' | 'linkToFile' | 'underWay'>,
  { row, linkSeconds }: Linked,
) => {
  const isPaused = recordings.underWay(row.id, row.project_id)?.isPaused === true
  const linkMs = linkSeconds && linkSeconds * 1000
  const files = filesOf(row)
  const startedAt = new Date(row.started_at).toISOString()
  const endedAt = row.ended_at === null ? null : new Date(row.ended_at).toISOString()
  return {
    id: row.id,
    room_session_id: row.conference_id ?? '',
    status: statusOf(row, isPaused),
    error: row.error,
    started_at: startedAt,
    finished_at: endedAt,
    duration: row.duration_ms / 1000,
    size_in_bytes: row.bytes,
    format: `video/${row.format}`,
    cost_in_dollars: 0,
    uri: row.bytes > 0 ? recordings.linkTo(row.id, linkMs) : null,
    files: files.map(({ duration = 0, size_in_bytes = 0, ...file }) => ({
      ...file,
      format: memberFileType(file.name, file.kind),
      duration,
      size_in_bytes,
      uri: recordings.linkToFile(row.id, file.name, linkMs),
    })),
    manifest_uri: files.length > 0 ? recordings.linkToFile(row.id, manifestName, linkMs) : null,
    created_at: startedAt,
    updated_at: endedAt ?? startedAt,
  }
}

/** A recording that a fault has ended is failed, also if the part before the fault is kept. */
const statusOf = ({ status, conversion, error }: RecordingRow, isPaused: boolean): string => {
  if (status === 'in-progress') return isPaused ? 'paused' : 'recording'
  if (conversion) return 'processing'
  return error === 'recording_failed' ? 'failed' : status
}
