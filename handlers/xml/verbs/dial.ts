import { type Fields, seconds, type Target } from '../../common/forms.ts'
import { ringtoneOf } from '../../common/sounds.ts'
import type { Callee, ConnectOptions, ConnectResult, Destination, RecordResult } from '../../verbs.ts'
import { CallEnded } from '../../verbs.ts'
import {
  DialRecording,
  type DialRecordingOptions,
  dialRecordingAttributes,
  readDialRecording,
} from '../dial-recording.ts'
import type { ElementReader } from '../element-reader.ts'
import { codes } from '../faults.ts'
import { conference, readConference } from '../nouns/conference.ts'
import { bareDestination, client, number, sip, verto } from '../nouns/destinations.ts'
import type { MakeDestination, Noun } from '../nouns/noun.ts'
import { queue } from '../nouns/queue.ts'
import type { RunVerb, VerbContext, VerbKind } from '../verb.ts'
import { continueWith } from '../verb.ts'
import { dialConference } from './dial-conference.ts'

/** Maximum number of nouns of one `Dial`. */
const maxNouns = 10

/** Nouns whose destinations ring together. */
const callableNouns: readonly Noun[] = [number, sip, client, verto, queue]

/**
 * Verb `Dial`: calls the destinations of its nouns together and bridges the first that answers. With a
 * conference, it adds the caller to that.
 */
export const dial: VerbKind = {
  name: 'Dial',
  attributes: [
    'action',
    'method',
    'timeout',
    'timeLimit',
    'callerId',
    'callerName',
    'answerOnBridge',
    'hangupOnStar',
    'ringTone',
    ...dialRecordingAttributes,
  ],
  children: [...callableNouns, conference],
  read: (reader) => {
    const options = readOptions(reader)
    const action = reader.action()
    const caller = readCaller(reader)
    const recording = readDialRecording(reader)
    const nouns = reader.nestedOf(callableNouns)
    const [meeting, ...more] = reader.nestedOf([conference])
    if (meeting) {
      if (nouns.length + more.length > 0)
        reader.warning(codes.schema, 'Conference must be alone in Dial; the other nouns are not called.')
      return dialConference(readConference(meeting.reader), { ...options, action })
    }
    const callables = readCallables(reader, nouns)
    const isSip = nouns.some(({ kind }) => kind === sip)
    return dialDestinations({ options, action, caller, recording, callables, isSip })
  },
}

const readOptions = (reader: ElementReader) => {
  const ringback = readRingTone(reader)
  return {
    timeoutMs: reader.integer('timeout', 5, 600, 30) * 1000,
    maxDurationMs: reader.integer('timeLimit', 1, 86_400, 14_400) * 1000,
    answerOnBridge: reader.boolean('answerOnBridge'),
    hangupOnStar: reader.boolean('hangupOnStar'),
    ...(ringback && { ringback: [ringback] }),
  }
}

const readCaller = (reader: ElementReader): Pick<Destination, 'from' | 'fromName'> => {
  const from = reader.text('callerId')
  const fromName = reader.shortText('callerName', 70)
  return { ...(from && { from }), ...(fromName && { fromName }) }
}

const readRingTone = (reader: ElementReader) => {
  const country = reader.text('ringTone')
  if (country === undefined) return undefined
  const tone = ringtoneOf(country)
  if (!tone) {
    const message = `There is no ringing tone for ${JSON.stringify(country)}; the default tone is played.`
    reader.warning(codes.schema, message, 'ringTone')
  }
  return tone
}

const readCallables = (
  reader: ElementReader,
  nouns: readonly { kind: Noun; reader: ElementReader }[],
): readonly MakeDestination[] => {
  const bare = reader.content() === '' ? undefined : bareDestination(reader)
  const found = [...nouns.map(({ kind, reader: child }) => kind.read(child)), bare].filter(
    (one) => one !== undefined,
  )
  if (reader.content() === '' && reader.elements().length === 0)
    reader.warning(codes.schema, 'Dial has no destination; it fails.')
  if (found.length > maxNouns)
    reader.warning(codes.schema, `Dial calls at most ${maxNouns} destinations; the others are not called.`)
  return found.slice(0, maxNouns)
}

/** Checked `Dial`. */
interface ParsedDial {
  readonly options: Omit<ConnectOptions, 'steps'> & { readonly answerOnBridge: boolean }
  readonly action: Target | undefined
  readonly caller: Pick<Destination, 'from' | 'fromName'>
  readonly recording: DialRecordingOptions | undefined
  readonly callables: readonly MakeDestination[]
  /** Whether a noun is `Sip`; the action then receives SIP fields. */
  readonly isSip: boolean
}

const dialDestinations =
  (dialling: ParsedDial): RunVerb =>
  async (context) => {
    const { options, action, recording: wanted } = dialling
    const recording = new DialRecording(context, wanted)
    const bridgeFirst = options.answerOnBridge && !context.call.isAnswered
    await recording.startAt('ringing', bridgeFirst)
    // A failure is reported below, when the recording ends.
    const onConnected = () => void recording.startAt('answer', bridgeFirst).catch(() => {})
    const result = await connectTo(context, dialling, { ...options, onConnected })
    const recorded = await recording.end()
    if (result === 'caller-gone') return continueWith(action, { DialCallStatus: 'canceled' })
    context.reportDial(result?.kind === 'connected')
    return continueWith(action, resultFields(result, recorded, dialling.isSip))
  }

/**
 * Connects the caller. Resolves with `caller-gone` if the caller hung up first; undefined if no destination
 * could be dialled.
 */
const connectTo = async (
  context: VerbContext,
  { callables, caller }: ParsedDial,
  options: Omit<ConnectOptions, 'steps'>,
): Promise<ConnectResult | 'caller-gone' | undefined> => {
  const callees = callables.map((callable) => callable(context)).filter((one) => one !== undefined)
  if (callees.length === 0) return undefined
  const steps = [callees.map((callee) => ({ ...callee, ...caller }))]
  try {
    return await context.warnIfFailed(context.call.connect({ steps, ...options }))
  } catch (error) {
    if (error instanceof CallEnded) return 'caller-gone'
    throw error
  }
}

const failures = {
  busy: 'busy',
  declined: 'busy',
  'no-answer': 'no-answer',
  canceled: 'canceled',
  unreachable: 'failed',
  error: 'failed',
} as const

/** Form fields for the action. */
const resultFields = (
  result: ConnectResult | undefined,
  recorded: RecordResult | undefined,
  isSip: boolean,
): Fields => ({
  DialCallStatus: result?.kind === 'connected' ? 'completed' : result ? failures[result.reason] : 'failed',
  ...(result?.callee && { DialCallSid: result.callee.callId }),
  ...(result?.kind === 'connected' && { DialCallDuration: seconds(result.durationMs) }),
  ...(recorded && recorded.bytes > 0 && { RecordingUrl: recorded.url }),
  ...(isSip && result && sipFields(result.callee, result)),
})

const sipFields = (callee: Callee | undefined, result: ConnectResult): Fields => {
  const status = callee?.sip?.status ?? (result.kind === 'failed' ? result.sipStatus : undefined)
  return {
    ...(callee?.sip && { DialSipCallId: callee.sip.callId }),
    ...(status !== undefined && { DialSipResponseCode: String(status) }),
    ...Object.fromEntries(
      (callee?.sip?.headers ?? []).map(({ name, value }) => [`DialSipHeader_${name}`, value]),
    ),
  }
}
