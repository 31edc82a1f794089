import { readStreamFormat, streamFormats } from '../../../handlers/common/streams.ts'
import type { CallStream, StreamOptions } from '../../../handlers/verbs.ts'
import type { Fields } from './command-fields.ts'
import { failureCode, type OperationCall } from './operation-types.ts'
import { VerbOperation } from './verb-operation.ts'

const tracksOf = { inbound_track: 'inbound', outbound_track: 'outbound', both_tracks: 'both' } as const

/** Reads `calling.stream`: a WebSocket that receives the call's audio. */
export const readStream = (params: Fields): StreamOptions => {
  const track = params.oneOf('track', ['inbound_track', 'outbound_track', 'both_tracks'] as const)
  const codec = params.text('codec')
  const format = readStreamFormat(codec ?? 'PCMU')
  if (!format) throw params.wrong('codec', streamFormats)
  const name = params.text('name')
  const custom = params.fields('custom_parameters')?.all ?? {}
  const parameters = Object.fromEntries(Object.entries(custom).map(([key, value]) => [key, String(value)]))
  const token = params.text('authorization_bearer_token')
  return {
    url: params.needed('url'),
    tracks: tracksOf[track ?? 'inbound_track'],
    ...(name && { name }),
    ...(codec !== undefined && format),
    ...(Object.keys(parameters).length > 0 && { parameters }),
    ...(token && { bearerToken: token }),
  }
}

/** Names in the events of a stream: `calling.tap` reports tapping, `calling.stream` streaming. */
export interface StreamEventOptions {
  readonly kind: 'stream' | 'tap'
  /** Request fields that each event repeats. */
  readonly given: Readonly<Record<string, unknown>>
}

const began = { stream: 'streaming', tap: 'tapping' } as const

/** Stream of the call's audio to a customer's server. */
export class StreamOperation extends VerbOperation<CallStream> {
  readonly kind: StreamEventOptions['kind']
  readonly #options: StreamOptions
  readonly #given: StreamEventOptions['given']

  constructor(call: OperationCall, id: string, options: StreamOptions, { kind, given }: StreamEventOptions) {
    super(call, id)
    this.#options = options
    this.kind = kind
    this.#given = given
  }

  async run(): Promise<void> {
    this.running = this.call.control.startStream(this.#options)
    try {
      const stream = await this.running
      this.#send(began[this.kind])
      if (this.abort.signal.aborted) stream.stop()
      const end = await stream.ended
      this.#send('finished', end.kind === 'failed' ? end.reason : undefined)
    } catch (error) {
      this.#send('finished', failureCode(error))
    }
  }

  override stop(): void {
    super.stop()
    this.withRunning((stream) => stream.stop())
  }

  #send(state: string, error?: string): void {
    this.sendEvent(this.kind, { state, ...this.#given, ...(error && { error }) })
  }
}
