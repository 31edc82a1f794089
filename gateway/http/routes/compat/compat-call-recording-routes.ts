import { recordingTracks, tracksOf } from '../../../../handlers/common/recordings.ts'
import type { Callbacks } from '../../../callbacks/callback-outbox.ts'
import type { CallOrder } from '../../../calling/call-placement.ts'
import { beginRecording } from '../../../calling/record-call.ts'
import { TrunklineError } from '../../../core/errors/catalogue.ts'
import type { ValidatedFields } from '../../requests/typed-routes.ts'
import { recordingStatusProperties } from './compat-call-request.ts'
import { findCall } from './compat-call-routes.ts'
import { pageSchema } from './compat-paging.ts'
import { recordingShape } from './compat-recording-body.ts'
import {
  type CompatRecordingDeps,
  findRecording,
  recordingPage,
  recordingQuery,
  recordingResponse,
} from './compat-recording-routes.ts'
import type { On, RouteSpec } from './form-routes.ts'
import { controlOf, type LiveCallDeps, whileInProgress } from './live-calls.ts'

/** Collaborators of the routes of a call's recordings. */
export interface CompatCallRecordingDeps extends LiveCallDeps, CompatRecordingDeps {
  readonly callbacks: Callbacks
}

const path = '/Accounts/:account/Calls/:sid/Recordings'

/** `Calls/{sid}/Recordings`: start, pause, resume, stop, list, fetch, remove. */
export const callRecordingRoutes = (on: On, deps: CompatCallRecordingDeps): void => {
  const { recordings, history } = deps
  on('POST', path, starting, async ({ projectId, id, body, base }) => {
    const control = await controlOf(deps, projectId, id('sid'))
    const wanted = { ...wantedOf(body), source: 'StartCallRecordingApi' } as const
    const recording = await whileInProgress(beginRecording(control, wanted, deps.callbacks))
    return recordingResponse(recordings, await findRecording(recordings, projectId, recording.id), base)
  })
  on(
    'GET',
    path,
    {
      id: 'listCompatCallRecordings',
      summary: 'Lists the recordings of a call',
      scope: 'records',
      query: recordingQuery,
      answer: pageSchema('recordings', recordingShape),
    },
    async (request) => {
      const { id } = await findCall(history, request.projectId, request.id('sid'))
      return recordingPage(recordings, request, id)
    },
  )
  oneRecording(on, deps)
}

const oneRecording = (on: On, { recordings }: CompatCallRecordingDeps): void => {
  on(
    'GET',
    `${path}/:part`,
    {
      id: 'fetchCompatCallRecording',
      summary: 'Fetches a recording of a call',
      scope: 'records',
      answer: recordingShape,
    },
    async ({ projectId, id, base }) =>
      recordingResponse(recordings, await findRecording(recordings, projectId, id('part'), id('sid')), base),
  )
  on('POST', `${path}/:part`, changing, async ({ projectId, id, body, base }) => {
    const row = await findRecording(recordings, projectId, id('part'), id('sid'))
    const underWay = recordings.underWay(row.id, projectId)
    if (!underWay) throw new TrunklineError('call_not_in_progress', 'The recording is over.')
    if (body.Status === 'paused') underWay.pause(body.PauseBehavior)
    else if (body.Status === 'in-progress') underWay.resume()
    else {
      underWay.stop()
      await underWay.done
    }
    return recordingResponse(recordings, await findRecording(recordings, projectId, row.id), base)
  })
  on(
    'DELETE',
    `${path}/:part`,
    { id: 'deleteCompatCallRecording', summary: 'Deletes a recording of a call', scope: 'records' },
    async ({ projectId, id }) => {
      await recordings.remove(await findRecording(recordings, projectId, id('part'), id('sid')))
      return undefined
    },
  )
}

const starting = {
  id: 'startCompatRecording',
  summary: 'Records a call in progress',
  scope: 'calling',
  isCreating: true,
  body: {
    RecordingChannels: { type: 'string', enum: ['mono', 'dual'], default: 'mono' },
    RecordingTrack: { type: 'string', enum: recordingTracks, default: 'both' },
    Trim: { type: 'string', enum: ['trim-silence', 'do-not-trim'], default: 'do-not-trim' },
    ...recordingStatusProperties,
  },
  answer: recordingShape,
} as const satisfies RouteSpec

const changing = {
  id: 'changeCompatRecording',
  summary: 'Pauses, resumes or stops a recording',
  scope: 'calling',
  body: {
    Status: { type: 'string', enum: ['in-progress', 'paused', 'stopped'] },
    PauseBehavior: { type: 'string', enum: ['skip', 'silence'], default: 'silence' },
  },
  required: ['Status'],
  answer: recordingShape,
} as const satisfies RouteSpec

/** Returns the recording options and callback of a form. */
const wantedOf = (form: ValidatedFields<typeof starting.body>): NonNullable<CallOrder['record']> => {
  const { RecordingStatusCallback: url, RecordingStatusCallbackMethod: method } = form
  return {
    tracks: tracksOf(form.RecordingTrack, form.RecordingChannels === 'dual'),
    trim: form.Trim === 'trim-silence',
    ...(url !== undefined && { status: { url, method, events: form.RecordingStatusCallbackEvent } }),
  }
}
