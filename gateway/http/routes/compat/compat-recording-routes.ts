import fastifyStatic from '@fastify/static'
import type { FastifyInstance } from 'fastify'
import { TrunklineError } from '../../../core/errors/catalogue.ts'
import type { RecordingRow } from '../../../directory/recordings.ts'
import type { Recordings } from '../../../recordings/recordings.ts'
import { sendSound } from '../cdr/audio-response.ts'
import { type Paging, pageBody, pageOf, pageSchema, pagingQuery } from './compat-paging.ts'
import { recordingBody, recordingShape } from './compat-recording-body.ts'
import { stretchOf, type TimeQuery, timeQuery } from './compat-times.ts'
import type { Asked, On } from './form-routes.ts'

/** Collaborators of the routes of recordings. */
export interface CompatRecordingDeps {
  readonly recordings: Pick<Recordings, 'find' | 'list' | 'remove' | 'linkTo' | 'folder' | 'underWay'>
}

/** Filters of recordings. */
export type RecordingQuery = Paging & TimeQuery<'DateCreated'> & { readonly CallSid?: string }

/** Their schema, without that of the call. */
export const recordingQuery = { ...timeQuery('DateCreated'), ...pagingQuery }

/** `Recordings`: list, fetch, remove, and their sound (`.wav`, `.mp3`). */
export const recordingRoutes = async (
  site: FastifyInstance,
  on: On,
  { recordings }: CompatRecordingDeps,
): Promise<void> => {
  // Nothing is served by its name: this gives replies the way to send a file.
  await site.register(fastifyStatic, { root: recordings.folder.path, serve: false })
  const path = '/Accounts/:account/Recordings'
  on<unknown, RecordingQuery>(
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
    (asked) => listed(recordings, asked, asked.query.CallSid),
  )
  on(
    'GET',
    `${path}/:sid`,
    {
      id: 'fetchCompatRecording',
      summary: 'Tells of a recording',
      scope: 'records',
      query: { IncludeSoftDeleted: { type: 'boolean' } },
      answer: recordingShape,
    },
    async (asked) => {
      const [id = '', format] = asked.id('sid').split('.')
      const row = await recordingOf(recordings, asked.projectId, id)
      if (format === undefined) return shownRow(recordings, row, asked.base)
      if (format !== row.format) throw new TrunklineError('unknown_recording', `It is a ${row.format} file.`)
      await sendSound(asked.reply, row, recordings.folder)
      return undefined
    },
  )
  on(
    'DELETE',
    `${path}/:sid`,
    { id: 'deleteCompatRecording', summary: 'Removes a recording', scope: 'records' },
    async ({ projectId, id }) => {
      await recordings.remove(await recordingOf(recordings, projectId, id('sid')))
      return undefined
    },
  )
}

/** A list of recordings, of one call or of all. */
export const listed = async (
  recordings: CompatRecordingDeps['recordings'],
  asked: Asked<unknown, RecordingQuery>,
  callId: string | undefined,
) => {
  const query = {
    ...stretchOf(asked.query, 'DateCreated'),
    ...pageOf(asked),
    ...(callId !== undefined && { callId }),
  }
  const list = await recordings.list(asked.projectId, query)
  return pageBody(asked, 'recordings', list, (row) => shownRow(recordings, row, asked.base))
}

/** One of the project's recordings, and of this call where one is named; throws `unknown_recording`. */
export const recordingOf = async (
  recordings: CompatRecordingDeps['recordings'],
  projectId: string,
  id: string,
  callId?: string,
): Promise<RecordingRow> => {
  const row = recordings.underWay(id, projectId)?.row ?? (await recordings.find(id, projectId))
  if (!row || (callId !== undefined && row.call_id !== callId)) throw new TrunklineError('unknown_recording')
  return row
}

/** A recording as it is shown. */
export const shownRow = (
  recordings: CompatRecordingDeps['recordings'],
  row: RecordingRow,
  base: string,
): object => {
  const isPaused = recordings.underWay(row.id, row.project_id)?.isPaused ?? false
  return recordingBody(row, base, { isPaused, link: (id) => recordings.linkTo(id) })
}
