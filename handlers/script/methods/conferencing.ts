import { beeps, conferenceEvent, conferenceFields, maxNameLength } from '../../common/conferences.ts'
import { formRequest } from '../../common/forms.ts'
import type {
  ConferenceEvent,
  ConferenceOptions,
  ConferenceParticipant,
  ConferenceResult,
} from '../../verbs.ts'
import { CallEnded } from '../../verbs.ts'
import { codes } from '../codes.ts'
import type { Method, Outcome, ScriptContext } from '../method.ts'
import { anyObject, anything, boolean, choice, number, pattern, text, url } from '../schema-builders.ts'
import { badValue, Values } from '../values.ts'
import { conferenceRecordingEvents, recordingProperties } from './conference-recording.ts'
import { streaming } from './streaming.ts'

const events = ['start', 'end', 'join', 'leave', 'mute', 'hold', 'modify', 'speaker', 'announcement']
const methodChoice = choice('GET or POST; default POST.', ['GET', 'POST'])

/** Returns the listener that sends conference events to `status_callback`, as JSON or forms. */
const conferenceListener = (values: Values, script: ScriptContext): ConferenceOptions['onEvent'] => {
  const url = values.url('status_callback')
  if (url === undefined) return undefined
  const wanted = (values.text('status_callback_event') ?? events.join(' ')).split(/[\s,]+/)
  const type = values.choice<'cxml' | 'laml' | 'relay'>('status_callback_event_type') ?? 'relay'
  const method = values.choice<'GET' | 'POST'>('status_callback_method') ?? 'POST'
  const send = script.events.sender(url, 'calling.conference', {}, method)
  return (event) => {
    if (!wanted.includes(conferenceEvent(event).word)) return
    if (type === 'relay') return send(jsonOf(event))
    const { call, context } = script
    const form = conferenceFields(event, call.info, context.now())
    context.notify({ kind: 'conference', ...formRequest({ url, method }, form) })
  }
}

const jsonOf = (event: ConferenceEvent): Readonly<Record<string, unknown>> => ({
  status: conferenceEvent(event).name,
  conference_id: event.conferenceId,
  name: event.name,
  size: event.size,
  muted: event.isMuted,
  hold: event.isHeld,
  sequence: event.sequence,
  ...(event.callId !== undefined && { participant_call_id: event.callId }),
})

/** Returns the listener that starts a participant's stream after it has joined. */
const streamOf = (
  values: Values,
  script: ScriptContext,
): ((participant: ConferenceParticipant) => void) | undefined => {
  const parameters = values.object('stream')
  const method = streaming.stream
  if (!parameters || !method) return undefined
  return () => {
    void method.run(new Values(parameters, method, values.path), script).catch((error: unknown) => {
      if (!script.call.signal.aborted) script.warn(codes.methodFailed, (error as Error).message, values.path)
    })
  }
}

const conferenceOptions = (values: Values, script: ScriptContext): ConferenceOptions => {
  const name = values.needed('name')
  if (name.length > maxNameLength) throw badValue('name', `must have at most ${maxNameLength} characters`)
  const waitUrl = values.url('wait_url')
  const coach = values.text('coach')
  const maxParticipants = values.number('max_participants')
  const onEvent = conferenceListener(values, script)
  const onJoined = streamOf(values, script)
  return {
    name,
    isMuted: values.boolean('muted') ?? false,
    beepOn: readBeepOn(values),
    startOnEnter: values.boolean('start_on_enter') ?? true,
    endOnExit: values.boolean('end_on_exit') ?? false,
    ...(maxParticipants !== undefined && { maxParticipants }),
    ...(waitUrl !== undefined && { wait: script.waiting(waitUrl) }),
    ...(coach !== undefined && { coach }),
    record: values.choice('record') === 'record-from-start',
    trim: values.choice('trim') !== 'do-not-trim',
    ...(onJoined && { onJoined }),
    ...(onEvent && { onEvent }),
    ...conferenceRecordingEvents(values, script),
  }
}

const readBeepOn = (values: Values): ConferenceOptions['beepOn'] => {
  const word = values.text('beep') ?? 'true'
  if (!Object.hasOwn(beeps, word)) throw badValue('beep', `must be one of ${Object.keys(beeps).join(', ')}`)
  return beeps[word as keyof typeof beeps]
}

const resultOf = ({ kind }: ConferenceResult): string => (kind === 'full' ? 'failed' : 'completed')

const joinConference = async (values: Values, script: ScriptContext): Promise<Outcome> => {
  const result = await script.call.joinConference(conferenceOptions(values, script))
  const word = resultOf(result)
  script.variables.assign({ join_conference_result: word, return_value: word })
  if (script.call.signal.aborted) throw new CallEnded()
  return script.branch(values.branches('result'), 'join_conference_result')
}

/** Methods for conferences. */
export const conferencing: Readonly<Record<string, Method>> = {
  join_conference: {
    description: 'Adds the caller to an audio conference until the caller leaves it or it ends.',
    properties: {
      name: text('Name of the conference, 1 to 128 characters.'),
      muted: boolean('Joins muted; default false.'),
      beep: {
        title: 'true, false, onEnter or onExit',
        description: 'Whether the participants hear a beep when the caller joins and leaves; default true.',
        anyOf: [{ type: 'boolean' }, choice('', Object.keys(beeps))],
      },
      start_on_enter: boolean(
        'Whether the conference can start with this caller as one of two participants; default true.',
      ),
      end_on_exit: boolean('Ends the conference for all when this caller leaves; default false.'),
      wait_url: url('Script that repeats until the conference starts; default hold music.'),
      max_participants: number(
        "Maximum number of participants; default 100. The first participant's value counts.",
        [2, 100_000],
      ),
      record: choice('do-not-record or record-from-start; default do-not-record.', [
        'do-not-record',
        'record-from-start',
      ]),
      trim: choice(
        'Trims silence from both ends of the recording: trim-silence or do-not-trim; default trim-silence.',
        ['trim-silence', 'do-not-trim'],
      ),
      coach: text('Call id of the only participant who hears the caller.'),
      status_callback: url("URL that receives the conference's events; the first participant's URL counts."),
      status_callback_event: pattern(
        `^((${events.join('|')})[ ,]*)+$`,
        `Events to report: ${events.join(' ')}; default all.`,
        'names of events',
      ),
      status_callback_event_type: choice(
        'relay: JSON; cxml and laml: a form as from XML documents. Default relay.',
        ['relay', 'cxml', 'laml'],
      ),
      status_callback_method: methodChoice,
      ...recordingProperties,
      stream: anyObject(
        'Parameters of the method stream, for a stream that starts when the caller has joined.',
      ),
      result: anything(
        'Steps after the conference, by the value of join_conference_result or by conditions.',
      ),
    },
    required: ['name'],
    withoutEffect: ['region'],
    nested: { result: 'branches' },
    failed: { join_conference_result: 'failed', return_value: 'failed' },
    run: joinConference,
  },
}
