import type { CallControl, CallRecording, RecordOptions, RecordResult } from '../verbs.ts'
import { CallEnded, VerbFailed } from '../verbs.ts'
import { codes } from './codes.ts'
import type { Values } from './values.ts'
import { badValue } from './values.ts'

/** Variables to be set. */
type Vars = Readonly<Record<string, unknown>>

/** The recordings of one script. */
export class ScriptRecordings {
  #call: CallControl
  /** Under way, by name, in the order of their beginning. */
  #running = new Map<string, CallRecording>()

  constructor(call: CallControl) {
    this.#call = call
  }

  /** `record`. `set` is told what came of it also when the caller has hung up; then {@link CallEnded} is thrown. */
  async record(values: Values, set: (variables: Vars) => void): Promise<void> {
    const options = recordOptions(values, { direction: 'speak', terminators: '#', initial: 4, end: 5 })
    const result = await this.#call.record(options)
    set({ record_url: result.bytes > 0 ? result.url : '', record_result: wordOf(result) })
    if (result.reason === 'hangup') throw new CallEnded()
  }

  /** `record_call`. */
  async recordCall(values: Values): Promise<Vars> {
    const named = values.text('control_id')
    if (named !== undefined && this.#running.has(named))
      throw badValue('control_id', 'is that of a recording that is under way')
    const options = recordOptions(values, { direction: 'both', terminators: '', initial: 0, end: 0 })
    const recording = await this.#call.startRecording(options)
    const id = named ?? recording.id
    this.#running.set(id, recording)
    void recording.ended.then(() => this.#running.delete(id))
    return { record_call_url: recording.url, record_call_result: 'success', record_control_id: id }
  }

  /** `stop_record_call`. */
  async stopRecordCall(values: Values): Promise<Vars> {
    const id = values.text('control_id') ?? [...this.#running.keys()].at(-1) ?? ''
    const recording = this.#running.get(id)
    if (!recording) throw new VerbFailed(codes.methodFailed, 'No such recording is under way.')
    recording.stop()
    const { reason } = await recording.ended
    return { stop_record_call_result: reason === 'error' ? 'failed' : 'success' }
  }
}

const wordOf = ({ reason }: RecordResult): string =>
  reason === 'no-input' ? 'no_input' : reason === 'error' ? 'failed' : 'success'

interface Defaults {
  readonly direction: 'speak' | 'both'
  readonly terminators: string
  /** Seconds; 0: no limit. */
  readonly initial: number
  readonly end: number
}

const recordOptions = (values: Values, defaults: Defaults): RecordOptions => {
  const maxMs = values.seconds('max_length')
  return {
    format: values.text('format') === 'mp3' ? 'mp3' : 'wav',
    tracks: tracksOf(values, defaults),
    beep: values.boolean('beep') ?? false,
    terminators: values.has('terminators') ? (values.text('terminators') ?? '') : defaults.terminators,
    initialSilenceMs: patience(values, 'initial_timeout', defaults.initial),
    endSilenceMs: patience(values, 'end_silence_timeout', defaults.end),
    ...(maxMs !== undefined && { maxMs }),
  }
}

const tracksOf = (values: Values, { direction }: Defaults): RecordOptions['tracks'] => {
  const given = values.text('direction')
  if (values.boolean('stereo')) {
    if (given !== undefined && given !== 'both')
      throw badValue('stereo', 'records both sides, so direction can only be both')
    return 'stereo'
  }
  const tracks = { speak: 'in', listen: 'out', both: 'both' } as const
  return tracks[(given ?? direction) as keyof typeof tracks]
}

/** In ms; a document says 0 for no limit. */
const patience = (values: Values, name: string, fallback: number): number =>
  (values.seconds(name) ?? fallback * 1000) || Number.POSITIVE_INFINITY
