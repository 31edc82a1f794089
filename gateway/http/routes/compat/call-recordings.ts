import { formRequest } from '../../../../handlers/common/forms.ts'
import {
  type RecordingTrack,
  recordingFields,
  recordingTracks,
  tracksOf,
} from '../../../../handlers/common/recordings.ts'
import type { CallControl, CallRecording, RecordOptions } from '../../../../handlers/verbs.ts'
import type { Callbacks } from '../../../calls/handling.ts'
import { TrunklineError } from '../../../errors.ts'
import { recordingStatusProperties } from './call-order.ts'
import { found } from './calls.ts'
import { controlOf, type LiveParts, whileUp } from './live.ts'
import { pageSchema } from './paging.ts'
import { recordingShape } from './recording-body.ts'
import {
  type CompatRecordingParts,
  listed,
  type RecordingQuery,
  recordingOf,
  recordingQuery,
  shownRow,
} from './recordings.ts'
import type { On, RouteSpec } from './routes.ts'

/** What the routes of a call's recordings need. */
export interface CallRecordingParts extends LiveParts, CompatRecordingParts {
  readonly callbacks: Callbacks
}

interface StartForm {
  readonly RecordingChannels: 'mono' | 'dual'
  readonly RecordingTrack: RecordingTrack
  readonly Trim: 'trim-silence' | 'do-not-trim'
  readonly RecordingStatusCallback?: string
  readonly RecordingStatusCallbackMethod: 'GET' | 'POST'
  readonly RecordingStatusCallbackEvent: readonly string[]
}

interface ChangeForm {
  readonly Status: 'in-progress' | 'paused' | 'stopped'
  readonly PauseBehavior: 'skip' | 'silence'
}

const path = '/Accounts/:account/Calls/:sid/Recordings'

/** `Calls/{sid}/Recordings`: start, pause, go on, stop, list, fetch, remove. */
export const callRecordingRoutes = (on: On, parts: CallRecordingParts): void => {
  const { recordings, history } = parts
  on<StartForm>('POST', path, starting, async ({ projectId, id, body, base }) => {
    const control = await controlOf(parts, projectId, id('sid'))
    const recording = await whileUp(
      control.startRecording({
        tracks: wantedOf(body),
        trim: body.Trim === 'trim-silence',
        source: 'StartCallRecordingApi',
        ...statusOf(body),
      }),
    )
    tellOf(parts.callbacks, control, recording, body)
    return shownRow(recordings, await recordingOf(recordings, projectId, recording.id), base)
  })
  on<unknown, RecordingQuery>(
    'GET',
    path,
    {
      ...{ id: 'listCompatCallRecordings', summary: 'Lists the recordings of a call', scope: 'records' },
      ...{ query: recordingQuery, answer: pageSchema('recordings', recordingShape) },
    },
    async (asked) => {
      const { id } = await found(history, asked.projectId, asked.id('sid'))
      return listed(recordings, asked, id)
    },
  )
  oneRecording(on, parts)
}

const oneRecording = (on: On, { recordings }: CallRecordingParts): void => {
  on(
    'GET',
    `${path}/:part`,
    {
      ...{ id: 'fetchCompatCallRecording', summary: 'Tells of a recording of a call', scope: 'records' },
      answer: recordingShape,
    },
    async ({ projectId, id, base }) =>
      shownRow(recordings, await recordingOf(recordings, projectId, id('part'), id('sid')), base),
  )
  on<ChangeForm>('POST', `${path}/:part`, changing, async ({ projectId, id, body, base }) => {
    const row = await recordingOf(recordings, projectId, id('part'), id('sid'))
    const underWay = recordings.underWay(row.id, projectId)
    if (!underWay) throw new TrunklineError('call_not_in_progress', 'The recording is over.')
    if (body.Status === 'paused') underWay.pause(body.PauseBehavior)
    else if (body.Status === 'in-progress') underWay.resume()
    else {
      underWay.stop()
      await underWay.done
    }
    return shownRow(recordings, await recordingOf(recordings, projectId, row.id), base)
  })
  on(
    'DELETE',
    `${path}/:part`,
    { id: 'deleteCompatCallRecording', summary: 'Removes a recording of a call', scope: 'records' },
    async ({ projectId, id }) => {
      await recordings.remove(await recordingOf(recordings, projectId, id('part'), id('sid')))
      return undefined
    },
  )
}

const starting: RouteSpec = {
  ...{ id: 'startCompatRecording', summary: 'Records a call in progress', scope: 'calling' },
  body: {
    RecordingChannels: { type: 'string', enum: ['mono', 'dual'], default: 'mono' },
    RecordingTrack: { type: 'string', enum: recordingTracks, default: 'both' },
    Trim: { type: 'string', enum: ['trim-silence', 'do-not-trim'], default: 'do-not-trim' },
    ...recordingStatusProperties,
  },
  answer: recordingShape,
}

const changing: RouteSpec = {
  ...{ id: 'changeCompatRecording', summary: 'Pauses a recording, goes on, or stops', scope: 'calling' },
  body: {
    Status: { type: 'string', enum: ['in-progress', 'paused', 'stopped'] },
    PauseBehavior: { type: 'string', enum: ['skip', 'silence'], default: 'silence' },
  },
  required: ['Status'],
  answer: recordingShape,
}

const wantedOf = ({ RecordingTrack, RecordingChannels }: StartForm) =>
  tracksOf(RecordingTrack, RecordingChannels === 'dual')

/** Whom {@link tellOf} tells. */
const statusOf = (form: StartForm): Pick<RecordOptions, 'status'> => {
  const { RecordingStatusCallback: url, RecordingStatusCallbackMethod: method } = form
  if (url === undefined) return {}
  return { status: { dialect: 'form', url, method, events: form.RecordingStatusCallbackEvent } }
}

/** Tells the form's address what becomes of a recording; nothing where it names none. */
const tellOf = (
  callbacks: Callbacks,
  { info }: CallControl,
  recording: CallRecording,
  form: StartForm,
): void => {
  const {
    RecordingStatusCallback: url,
    RecordingStatusCallbackMethod: method,
    RecordingStatusCallbackEvent: events,
  } = form
  if (url === undefined) return
  const what = {
    source: 'StartCallRecordingApi',
    channels: wantedOf(form) === 'stereo' ? 2 : 1,
  } as const
  const tell = (event: string, ...[status, about]: Told): void => {
    if (!events.includes(event)) return
    const fields = recordingFields(info, what, status, about)
    const ends = event === 'in-progress' ? {} : { ends: recording.id }
    callbacks.notify(info, { kind: 'recording', ...formRequest({ url, method }, fields), ...ends })
  }
  tell('in-progress', 'in-progress', { id: recording.id, url: recording.url })
  void recording.ended.then((result) => {
    if (result.bytes === 0) tell('absent', 'absent', result)
    else tell('completed', result.reason === 'error' ? 'failed' : 'completed', result)
  })
}

type Told = [Parameters<typeof recordingFields>[2], Parameters<typeof recordingFields>[3]]
