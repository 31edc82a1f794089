import {
  beeps,
  type ConferenceWord,
  conferenceEvent,
  conferenceFields,
  longestName,
} from '../../common/conferences.ts'
import { seconds, type Target, timestamp } from '../../common/forms.ts'
import type { CallControl, ConferenceOptions } from '../../verbs.ts'
import { type Callback, readCallback, tell } from '../callbacks.ts'
import type { ElementReader } from '../element-reader.ts'
import { codes } from '../faults.ts'
import {
  type RecordingCallback,
  RecordingNews,
  readRecordingCallback,
  recordingCallbackAttributes,
} from '../recordings.ts'
import type { ElementKind, Stage } from '../verb.ts'
import { readWait, roundsOf, type Waiting, waitAttributes } from '../waiting.ts'

/** `Conference`: the caller takes part in it. */
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

/** A `Conference` that has been read. */
export interface ConferenceNoun {
  readonly options: ConferenceOptions
  readonly wait: Waiting | undefined
  readonly statusCallback: Callback<ConferenceWord> | undefined
  readonly recordingStatusCallback: RecordingCallback | undefined
  /** Told where the recording is. */
  readonly eventCallback: Target | undefined
}

/** Reads a `Conference`; undefined: it has no name, and the reader has been told so. */
export const readConference = (reader: ElementReader): ConferenceNoun | undefined => {
  const wait = readWait(reader)
  const statusCallback = readCallback<ConferenceWord>(
    reader,
    'statusCallback',
    ['start', 'end', 'join', 'leave', 'mute', 'hold', 'speaker'],
    ['start', 'end', 'join', 'leave'],
  )
  const recordingStatusCallback = readRecordingCallback(reader)
  const event = reader.text('eventCallbackUrl')
  const eventUrl = event ? reader.url(event, 'eventCallbackUrl') : undefined
  const options = readOptions(reader)
  if (options.name === '' || options.name.length > longestName) {
    const message = `Conference needs a name of at most ${longestName} characters; nobody takes part in it.`
    reader.warning(codes.schema, message)
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
    muted: reader.boolean('muted'),
    beep: beeps[beep],
    startOnEnter: reader.boolean('startConferenceOnEnter', true),
    endOnExit: reader.boolean('endConferenceOnExit'),
    maxParticipants: reader.integer('maxParticipants', 2, 250, 100),
    record: record === 'record-from-start',
    trim: trim === 'trim-silence',
    ...(coach && { coach }),
  }
}

/** What the conference is joined with in one run of the document. */
export const conferenceOptions = (stage: Stage, noun: ConferenceNoun): ConferenceOptions => {
  const { options, wait, statusCallback, eventCallback, recordingStatusCallback } = noun
  let conferenceSid: string | undefined
  const news = () =>
    new RecordingNews(stage, recordingStatusCallback, { source: 'Conference', channels: 1, conferenceSid })
  return {
    ...options,
    ...(wait && { wait: wait === 'silence' ? 'none' : waitFor(stage, wait) }),
    onEvent: (event) => {
      conferenceSid ??= event.conferenceId
      if (!statusCallback?.events.includes(conferenceEvent(event).word)) return
      const fields = conferenceFields(event, stage.call.info, stage.context.now())
      tell(stage.context, 'conference', statusCallback, fields)
    },
    ...(recordingStatusCallback && { recordedTo: { dialect: 'form', ...recordingStatusCallback } }),
    ...(recordingStatusCallback && {
      onRecording: (recording) => news().begun(recording),
    }),
    ...((recordingStatusCallback || eventCallback) && {
      onRecorded: (recording) => {
        news().ended(recording)
        if (!eventCallback) return
        tell(stage.context, 'conference', eventCallback, {
          ...(conferenceSid !== undefined && { ConferenceSid: conferenceSid }),
          RecordingUrl: recording.url,
          Duration: seconds(recording.durationMs),
          Timestamp: timestamp(stage.context.now()),
        })
      },
    }),
  }
}

const waitFor = (stage: Stage, wait: Target): ((waiting: CallControl) => Promise<void>) => {
  const round = roundsOf(stage, wait)
  return async (waiting) => void (await round(waiting, {}))
}
