import fastifyStatic from '@fastify/static'
import { TrunklineError } from '../../../core/errors/catalogue.ts'
import { isOfRoom, type RecordingRow } from '../../../directory/tables/recordings.ts'
import type { Recordings } from '../../../recordings/recordings.ts'
import type { TypedSite, ValidatedFields } from '../../requests/typed-routes.ts'
import { sendAudio } from '../cdr/audio-response.ts'
import { pageBody, pageOf, pageSchema, pagingQuery } from './compat-paging.ts'
import { recordingBody, recordingShape } from './compat-recording-body.ts'
import { timeQuery, timeRangeOf } from './compat-times.ts'
import type { CompatRequest, On } from './form-routes.ts'

/** Collaborators of the routes of recordings. */
export interface CompatRecordingDeps {
  readonly recordings: Pick<Recordings, 'find' | 'list' | 'remove' | 'linkTo' | 'folder' | 'underWay'>
}

/** Query parameters of lists of recordings, without the call. */
export const recordingQuery = { ...timeQuery('DateCreated'), ...pagingQuery }

type RecordingQuery = ValidatedFields<typeof recordingQuery>

/** `Recordings`: list, fetch, remove, and their audio (`.wav`, `.mp3`). */
export const recordingRoutes = async (
  site: TypedSite,
  on: On,
  { recordings }: CompatRecordingDeps,
): Promise<void> => {
  // The plugin serves no files by name here; it adds `reply.sendFile`.
  await site.register(fastifyStatic, { root: recordings.folder.path, serve: false })
  const path = '/Accounts/:account/Recordings'
  on(
    'GET',
    path,
    {
      id: 'listCompatRecordings',
      summary: 'Lists recordings, newest first',
      scope: 'records',
      query: { CallSid: { type: 'string', maxLength: 64 }, ...recordingQuery },
      answer: pageSchema('recordings', recordingShape),
      unused: [],
    },
    (request) => recordingPage(recordings, request, request.query.CallSid),
  )
  on(
    'GET',
    `${path}/:sid`,
    {
      id: 'fetchCompatRecording',
      summary: 'Fetches a recording',
      scope: 'records',
      query: { IncludeSoftDeleted: { type: 'boolean' } },
      answer: recordingShape,
    },
    async (request) => {
      const [id = '', format] = request.id('sid').split('.')
      const row = await findRecording(recordings, request.projectId, id)
      if (format === undefined) return recordingResponse(recordings, row, request.base)
      if (format !== row.format)
        throw new TrunklineError('unknown_recording', `The recording is a ${row.format} file.`)
      await sendAudio(request.reply, row, recordings.folder)
      return undefined
    },
  )
  on(
    'DELETE',
    `${path}/:sid`,
    { id: 'deleteCompatRecording', summary: 'Deletes a recording', scope: 'records' },
    async ({ projectId, id }) => {
      await recordings.remove(await findRecording(recordings, projectId, id('sid')))
      return undefined
    },
  )
}

/** Returns a page of recordings, of one call or of all calls. */
export const recordingPage = async (
  recordings: CompatRecordingDeps['recordings'],
  request: CompatRequest<unknown, RecordingQuery>,
  callId: string | undefined,
) => {
  const query = {
    ...timeRangeOf(request.query, 'DateCreated'),
    ...pageOf(request),
    ...(callId !== undefined && { callId }),
  }
  const list = await recordings.list(request.projectId, query)
  return pageBody(request, 'recordings', list, (row) => recordingResponse(recordings, row, request.base))
}

/** Returns a recording of the project, and of the call if one is given. Throws `unknown_recording`. */
export const findRecording = async (
  recordings: CompatRecordingDeps['recordings'],
  projectId: string,
  id: string,
  callId?: string,
): Promise<RecordingRow> => {
  const row = recordings.underWay(id, projectId)?.row ?? (await recordings.find(id, projectId))
  const isOther = callId !== undefined && row?.call_id !== callId
  // Recordings of rooms belong to no call, and the room controls them.
  if (!row || isOther || isOfRoom(row)) throw new TrunklineError('unknown_recording')
  return row
}

/** Returns a recording for responses. */
export const recordingResponse = (
  recordings: CompatRecordingDeps['recordings'],
  row: RecordingRow,
  base: string,
): object => {
  const isPaused = recordings.underWay(row.id, row.project_id)?.isPaused ?? false
  return recordingBody(row, base, { isPaused, link: (id) => recordings.linkTo(id) })
}
