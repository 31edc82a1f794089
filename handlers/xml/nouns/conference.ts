import {
  beeps,
  type ConferenceEventGroup,
  conferenceEvent,
  conferenceFields,
  maxNameLength,
} from '../../common/conferences.ts'
import { seconds, type Target, timestamp } from '../../common/forms.ts'
import type { CallControl, ConferenceOptions } from '../../verbs.ts'
import { type Callback, readCallback, sendCallback } from '../callbacks.ts'
import type { ElementReader } from '../element-reader.ts'
import { codes } from '../faults.ts'
import {
  type RecordingCallback,
  RecordingReports,
  readRecordingCallback,
  recordingCallbackAttributes,
} from '../recordings.ts'
import type { ElementKind, VerbContext } from '../verb.ts'
import { readWait, type WaitTreatment, waitAttributes, waitRounds } from '../wait-treatment.ts'

/** Noun `Conference`: the conference that the caller joins. */
export const conference: ElementKind = {
  name: 'Conference',
  attributes: [
    'muted',
    'beep',
    'startConferenceOnEnter',
    'endConferenceOnExit',
    'maxParticipants',
    'coach',
    'record',
    'trim',
    'eventCallbackUrl',
    ...waitAttributes,
    'statusCallback',
    'statusCallbackMethod',
    'statusCallbackEvent',
    ...recordingCallbackAttributes,
  ],
}

/** Checked `Conference`. */
export interface ParsedConference {
  readonly options: ConferenceOptions
  readonly wait: WaitTreatment | undefined
  readonly statusCallback: Callback<ConferenceEventGroup> | undefined
  readonly recordingStatusCallback: RecordingCallback | undefined
  /** Receives the URL of the recording. */
  readonly eventCallback: Target | undefined
}

/** Reads a `Conference`. Undefined, after a warning, if its name is missing or too long. */
export const readConference = (reader: ElementReader): ParsedConference | undefined => {
  const wait = readWait(reader)
  const statusCallback = readCallback<ConferenceEventGroup>(
    reader,
    'statusCallback',
    ['start', 'end', 'join', 'leave', 'mute', 'hold', 'speaker'],
    ['start', 'end', 'join', 'leave'],
  )
  const recordingStatusCallback = readRecordingCallback(reader)
  const event = reader.text('eventCallbackUrl')
  const eventUrl = event ? reader.url(event, 'eventCallbackUrl') : undefined
  const options = readOptions(reader)
  if (options.name === '' || options.name.length > maxNameLength) {
    reader.warning(
      codes.schema,
      `Conference needs a name of at most ${maxNameLength} characters; the caller does not join it.`,
    )
    return undefined
  }
  const eventCallback = eventUrl === undefined ? undefined : ({ url: eventUrl, method: 'POST' } as const)
  return { options, wait, statusCallback, recordingStatusCallback, eventCallback }
}

const readOptions = (reader: ElementReader): ConferenceOptions => {
  const coach = reader.text('coach')
  const beep = reader.choice('beep', Object.keys(beeps) as (keyof typeof beeps)[], 'true')
  const trim = reader.choice('trim', ['trim-silence', 'do-not-trim'], 'trim-silence')
  const record = reader.choice('record', ['do-not-record', 'record-from-start'], 'do-not-record')
  return {
    name: reader.content(),
    isMuted: reader.boolean('muted'),
    beepOn: beeps[beep],
    startOnEnter: reader.boolean('startConferenceOnEnter', true),
    endOnExit: reader.boolean('endConferenceOnExit'),
    maxParticipants: reader.integer('maxParticipants', 2, 250, 100),
    record: record === 'record-from-start',
    trim: trim === 'trim-silence',
    ...(coach && { coach }),
  }
}

/** Returns the options with which the caller joins the conference in one run of the document. */
export const conferenceOptions = (context: VerbContext, noun: ParsedConference): ConferenceOptions => {
  const { options, wait, statusCallback, eventCallback, recordingStatusCallback } = noun
  let conferenceSid: string | undefined
  const reports = () =>
    new RecordingReports(context, recordingStatusCallback, {
      source: 'Conference',
      channels: 1,
      conferenceSid,
    })
  return {
    ...options,
    ...(wait && { wait: wait === 'silence' ? 'none' : waitFor(context, wait) }),
    onEvent: (event) => {
      conferenceSid ??= event.conferenceId
      if (!statusCallback?.events.includes(conferenceEvent(event).word)) return
      const fields = conferenceFields(event, context.call.info, context.handler.now())
      sendCallback(context.handler, 'conference', statusCallback, fields)
    },
    ...(recordingStatusCallback && {
      recordingStatusTarget: { dialect: 'form', ...recordingStatusCallback },
    }),
    ...(recordingStatusCallback && {
      onRecording: (recording) => reports().reportStart(recording),
    }),
    ...((recordingStatusCallback || eventCallback) && {
      onRecorded: (recording) => {
        reports().reportEnd(recording)
        if (!eventCallback) return
        sendCallback(context.handler, 'conference', eventCallback, {
          ...(conferenceSid !== undefined && { ConferenceSid: conferenceSid }),
          RecordingUrl: recording.url,
          Duration: seconds(recording.durationMs),
          Timestamp: timestamp(context.handler.now()),
        })
      },
    }),
  }
}

const waitFor = (context: VerbContext, wait: Target): ((waiting: CallControl) => Promise<void>) => {
  const round = waitRounds(context, wait)
  return async (waiting) => void (await round(waiting, {}))
}
