import type { CallRecording, RecordOptions, RecordResult } from '../../../handlers/verbs.ts'
import type { Fields } from './command-fields.ts'
import { type ClientQuirks, failureCode, type Operation, type OperationCall } from './operation-types.ts'

const tracksOf = { speak: 'in', listen: 'out', both: 'both' } as const

/** The defaults of the hosted service. */
const defaults = { initialSilenceMs: 5_000, endSilenceMs: 1_000, terminators: '#*' }

/** Reads `record.audio` of a request. */
export const readRecord = (params: Fields): RecordOptions => {
  const audio = params.fields('record')?.fields('audio')
  const { initialSilenceMs, endSilenceMs, terminators } = defaults
  const initial = audio?.seconds('initial_timeout') ?? initialSilenceMs
  const end = audio?.seconds('end_silence_timeout') ?? endSilenceMs
  const direction = audio?.oneOf('direction', ['speak', 'listen', 'both'] as const) ?? 'speak'
  const sensitivity = audio?.number('input_sensitivity', 0, 100)
  const raw = audio?.raw('terminators')
  return {
    format: audio?.oneOf('format', ['wav', 'mp3'] as const) ?? 'wav',
    tracks: audio?.flag('stereo') ? 'stereo' : tracksOf[direction],
    beep: audio?.flag('beep') ?? false,
    // An empty text means no terminators.
    terminators: raw === '' ? '' : (audio?.text('terminators') ?? terminators),
    initialSilenceMs: initial === 0 ? Number.POSITIVE_INFINITY : initial,
    ...(end > 0 && { endSilenceMs: end }),
    ...(sensitivity !== undefined && { sensitivity }),
  }
}

/**
 * `calling.record`: states recording, paused, finished and no_input, which also stands for one that could not
 * be made.
 */
export class RecordOperation implements Operation {
  readonly kind = 'record'
  readonly #call: OperationCall
  readonly #id: string
  readonly #options: RecordOptions
  /** Request field `record`, unchanged for the events. */
  readonly #record: unknown
  readonly #quirks: ClientQuirks
  readonly #abort = new AbortController()
  #recording: Promise<CallRecording> | undefined

  constructor(
    call: OperationCall,
    id: string,
    options: RecordOptions,
    record: unknown,
    quirks: ClientQuirks,
  ) {
    this.#call = call
    this.#id = id
    this.#options = options
    this.#record = record
    this.#quirks = quirks
  }

  async run(): Promise<void> {
    const status = this.#call.recordingStatus?.({ control_id: this.#id, record: this.#record })
    this.#recording = this.#call.control.startRecording({
      ...this.#options,
      signal: this.#abort.signal,
      ...(status && { statusTarget: status }),
    })
    try {
      const recording = await this.#recording
      this.#send('recording', { url: recording.url })
      this.#ended(await recording.ended)
    } catch (error) {
      this.#send('no_input', { error: failureCode(error) })
    }
  }

  stop(): void {
    this.#abort.abort()
    this.#with((recording) => recording.stop())
  }

  pause(behaviour: 'skip' | 'silence'): void {
    this.#with((recording) => {
      recording.pause(behaviour)
      this.#send('paused', { url: recording.url })
    })
  }

  resume(): void {
    this.#with((recording) => {
      recording.resume()
      this.#send('recording', { url: recording.url })
    })
  }

  #with(what: (recording: CallRecording) => void): void {
    this.#recording?.then(what, () => {})
  }

  #ended({ id, reason, url, durationMs, bytes }: RecordResult): void {
    const failed = reason === 'no-input' || reason === 'error'
    const state = failed && !this.#quirks.reportsSuccessOnly ? 'no_input' : 'finished'
    const error = failed && { error: reason }
    this.#send(state, { url, duration: durationMs / 1000, size: bytes, ...error }, id)
  }

  #send(state: string, more: Readonly<Record<string, unknown>>, ends?: string): void {
    const params = { control_id: this.#id, state, ...more, record: this.#record }
    this.#call.sendEvent('calling.call.record', params, ends)
  }
}
