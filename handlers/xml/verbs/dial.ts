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
import type { Callable, Noun } from '../nouns/noun.ts'
import { bareDestination, client, number, sip, verto } from '../nouns/people.ts'
import { queue } from '../nouns/queue.ts'
import type { Run, Stage, VerbKind } from '../verb.ts'
import { asked } from '../verb.ts'
import { joining } from './dial-conference.ts'

/** Most nouns of one `Dial`. */
const maxNouns = 10

/** The nouns that are called together. */
const callableNouns: readonly Noun[] = [number, sip, client, verto, queue]

/** `Dial` calls its nouns together and joins the first who answers; or takes the caller to a conference. */
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
  inside: [...callableNouns, conference],
  read: (reader) => {
    const options = readOptions(reader)
    const action = reader.action()
    const caller = readCaller(reader)
    const recording = readDialRecording(reader)
    const nouns = reader.nestedOf(callableNouns)
    const [meeting, ...more] = reader.nestedOf([conference])
    if (meeting) {
      if (nouns.length + more.length > 0)
        reader.warning(codes.schema, 'Conference stands alone in Dial; nobody else is called.')
      return joining(readConference(meeting.reader), { ...options, action })
    }
    const callables = readCallables(reader, nouns)
    const isSip = nouns.some(({ kind }) => kind === sip)
    return connecting({ options, action, caller, recording, callables, isSip })
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
    const message = `No ringing tone is known for ${JSON.stringify(country)}; the usual one is played.`
    reader.warning(codes.schema, message, 'ringTone')
  }
  return tone
}

const readCallables = (
  reader: ElementReader,
  nouns: readonly { kind: Noun; reader: ElementReader }[],
): readonly Callable[] => {
  const bare = reader.content() === '' ? undefined : bareDestination(reader)
  const found = [...nouns.map(({ kind, reader: child }) => kind.read(child)), bare].filter(
    (one) => one !== undefined,
  )
  if (reader.content() === '' && reader.elements().length === 0)
    reader.warning(codes.schema, 'Dial says nobody to call; it fails.')
  if (found.length > maxNouns)
    reader.warning(codes.schema, `Dial calls at most ${maxNouns} at once; the others are not called.`)
  return found.slice(0, maxNouns)
}

/** A `Dial` that has been read. */
interface Dialling {
  readonly options: Omit<ConnectOptions, 'steps'> & { readonly answerOnBridge: boolean }
  readonly action: Target | undefined
  readonly caller: Pick<Destination, 'from' | 'fromName'>
  readonly recording: DialRecordingOptions | undefined
  readonly callables: readonly Callable[]
  /** One of its nouns is `Sip`; the action hears of SIP then. */
  readonly isSip: boolean
}

const connecting =
  (dialling: Dialling): Run =>
  async (stage) => {
    const { options, action, recording: wanted } = dialling
    const recording = new DialRecording(stage, wanted)
    const bridgeFirst = options.answerOnBridge && !stage.call.answered
    await recording.reached('ringing', bridgeFirst)
    // Its end, below, tells what went wrong.
    const onConnected = () => void recording.reached('answer', bridgeFirst).catch(() => {})
    const result = await connectTo(stage, dialling, { ...options, onConnected })
    const recorded = await recording.end()
    if (result === 'caller-gone') return asked(action, { DialCallStatus: 'canceled' })
    stage.dialled(result?.kind === 'connected')
    return asked(action, resultFields(result, recorded, dialling.isSip))
  }

/** `caller-gone`: the caller hung up while it rang. Undefined: it could not be tried. */
const connectTo = async (
  stage: Stage,
  { callables, caller }: Dialling,
  options: Omit<ConnectOptions, 'steps'>,
): Promise<ConnectResult | 'caller-gone' | undefined> => {
  const callees = callables.map((callable) => callable(stage)).filter((one) => one !== undefined)
  if (callees.length === 0) return undefined
  const steps = [callees.map((callee) => ({ ...callee, ...caller }))]
  try {
    return await stage.attempt(stage.call.connect({ steps, ...options }))
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

/** What the action is told. */
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
