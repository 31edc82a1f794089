import type { CallRecording, RecordOptions, RecordResult } from '../../../handlers/verbs.ts'
import type { Fields } from './command-fields.ts'
import { type ClientQuirks, failureCode, type OperationCall } from './operation-types.ts'
import { VerbOperation } from './verb-operation.ts'

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
 * `calling.record`: states recording, paused, finished and no_input. The state no_input also reports a
 * recording that has failed.
 */
export class RecordOperation extends VerbOperation<CallRecording> {
  readonly kind = 'record'
  readonly #options: RecordOptions
  /** Request field `record`, unchanged for the events. */
  readonly #record: unknown
  readonly #quirks: ClientQuirks

  constructor(
    call: OperationCall,
    id: string,
    options: RecordOptions,
    record: unknown,
    quirks: ClientQuirks,
  ) {
    super(call, id)
    this.#options = options
    this.#record = record
    this.#quirks = quirks
  }

  async run(): Promise<void> {
    const status = this.call.recordingStatus?.({ control_id: this.id, record: this.#record })
    this.running = this.call.control.startRecording({
      ...this.#options,
      signal: this.abort.signal,
      ...(status && { statusTarget: status }),
    })
    try {
      const recording = await this.running
      this.#send('recording', { url: recording.url })
      this.#ended(await recording.ended)
    } catch (error) {
      this.#send('no_input', { error: failureCode(error) })
    }
  }

  override stop(): void {
    super.stop()
    this.withRunning((recording) => recording.stop())
  }

  pause(behaviour: 'skip' | 'silence'): void {
    this.withRunning((recording) => {
      recording.pause(behaviour)
      this.#send('paused', { url: recording.url })
    })
  }

  resume(): void {
    this.withRunning((recording) => {
      recording.resume()
      this.#send('recording', { url: recording.url })
    })
  }

  #ended({ id, reason, url, durationMs, bytes }: RecordResult): void {
    const hasFailed = reason === 'no-input' || reason === 'error'
    const state = hasFailed && !this.#quirks.reportsSuccessOnly ? 'no_input' : 'finished'
    const error = hasFailed && { error: reason }
    this.#send(state, { url, duration: durationMs / 1000, size: bytes, ...error }, id)
  }

  #send(state: string, more: Readonly<Record<string, unknown>>, ends?: string): void {
    this.sendEvent('record', { state, ...more, record: this.#record }, ends)
  }
}
