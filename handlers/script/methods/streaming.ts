import { asText } from '../../common/as-text.ts'
import { readStreamFormat, streamFormatPattern, streamFormats, streamTracks } from '../../common/streams.ts'
import type { CallStream, StreamEnd, StreamOptions } from '../../verbs.ts'
import type { SendEvent } from '../events.ts'
import type { Method, ScriptContext } from '../method.ts'
import { choice, number, pattern, type Schema, statusUrl, text, texts } from '../schema-builders.ts'
import { badValue, type Values } from '../values.ts'

/** Schema of the codec of a WebSocket stream. */
export const streamCodec = pattern(
  streamFormatPattern,
  `Codec of a stream: ${streamFormats}. L16 has 8000, 16000 (default), 24000 or 48000 Hz. A message has 20 ` +
    '(default) to 120 ms, in steps of 20. Default PCMU.',
  streamFormats,
)

/** Returns the options of a WebSocket stream from a step's parameters. */
export const streamOptions = (url: string, codec: string | undefined, values: Values): StreamOptions => {
  const format = readStreamFormat(codec ?? 'PCMU')
  if (!format) throw badValue('codec', `must be ${streamFormats}`)
  if (!/^wss?:$/.test(URL.parse(url)?.protocol ?? '')) throw badValue('url', 'must be a ws or wss URL')
  const name = values.text('name')
  const bearerToken = values.text('authorization_bearer_token')
  const parameters = Object.entries(values.object('custom_parameters') ?? {})
  return {
    url,
    ...format,
    ...(name && { name }),
    ...(bearerToken && { bearerToken }),
    ...(parameters.length > 0 && {
      parameters: Object.fromEntries(parameters.map(([key, value]) => [key, asText(value)])),
    }),
  }
}

/** Parameters of a stream to a WebSocket, besides its URL. */
export const streamProperties: Readonly<Record<string, Schema>> = {
  name: text('Name of the stream, sent to the server.'),
  authorization_bearer_token: text('Token that the server receives as Authorization: Bearer.'),
  custom_parameters: texts('Parameters that the server receives at the start.'),
}

const tapTracks = { speak: 'inbound', listen: 'outbound', both: 'both' } as const

/** Sends the events of a stream: its start now, and its end later. */
export const sendStreamEvents = (send: SendEvent, begun: string, stream: CallStream): void => {
  send({ state: begun })
  void stream.ended.then((end: StreamEnd) => {
    send({
      state: end.kind === 'failed' ? 'error' : 'finished',
      ...(end.kind === 'failed' && { reason: end.reason }),
    })
  })
}

const stream = async (values: Values, script: ScriptContext): Promise<undefined> => {
  const controlId = values.text('control_id')
  script.streams.check(controlId)
  const url = values.needed('url')
  const track = values.choice<keyof typeof streamTracks>('track') ?? 'inbound_track'
  const options = streamOptions(url, values.text('codec'), values)
  const statusUrl = values.url('status_url')
  const method = values.choice<'GET' | 'POST'>('status_url_method')
  const started = await script.call.startStream({ ...options, tracks: streamTracks[track] })
  const id = script.streams.add(started, controlId)
  const common = { control_id: id, url, name: options.name }
  const send = script.events.sender(statusUrl, 'calling.call.stream', common, method)
  sendStreamEvents(send, 'streaming', started)
  script.variables.assign({ stream_result: 'success', stream_control_id: id })
}

/** Returns the options of a tap. */
const tapOptions = (uri: string, codec: 'PCMU' | 'PCMA', packetMs: number): StreamOptions => {
  const url = URL.parse(uri)
  if (!url || !['rtp:', 'ws:', 'wss:'].includes(url.protocol))
    throw badValue('uri', 'must be an rtp, ws or wss URL')
  const limits = url.protocol === 'rtp:' ? { min: 10, max: 60, step: 10 } : { min: 20, max: 120, step: 20 }
  if (packetMs < limits.min || packetMs > limits.max || packetMs % limits.step !== 0)
    throw badValue('rtp_ptime', `must be ${limits.min} to ${limits.max} in steps of ${limits.step} here`)
  if (url.protocol !== 'rtp:') return { url: url.href, codec, packetMs }
  url.searchParams.set('codec', codec)
  url.searchParams.set('ptime', String(packetMs))
  return { url: url.href }
}

const tap = async (values: Values, script: ScriptContext): Promise<undefined> => {
  const controlId = values.text('control_id')
  script.taps.check(controlId)
  const uri = values.needed('uri')
  const codec = values.choice<'PCMU' | 'PCMA'>('codec') ?? 'PCMU'
  const direction = values.choice<keyof typeof tapTracks>('direction') ?? 'speak'
  const statusUrl = values.url('status_url')
  const ptime = values.number('rtp_ptime') ?? 20
  const options = tapOptions(uri, codec, ptime)
  const started = await script.call.startStream({ ...options, tracks: tapTracks[direction] })
  const id = script.taps.add(started, controlId)
  const params = { direction, codec, rate: 8000, ptime }
  const send = script.events.sender(statusUrl, 'calling.call.tap', {
    control_id: id,
    tap: { type: 'audio', params: { direction } },
    device: { type: typeOf(uri), params: { uri, ...params } },
  })
  sendStreamEvents(send, 'tapping', started)
  script.variables.assign({
    tap_uri: uri,
    tap_result: 'success',
    tap_control_id: id,
    tap_ptime: ptime,
    tap_codec: codec,
    tap_rate: 8000,
  })
}

const typeOf = (uri: string): string => (uri.startsWith('rtp:') ? 'rtp' : 'ws')

const controlId = text('Name given to the start; default the most recent one.')

/** Methods that stream the call's audio to a receiver. */
export const streaming: Readonly<Record<string, Method>> = {
  tap: {
    description:
      "Streams the call's audio to an RTP address or a WebSocket, and continues with the next step.",
    properties: {
      uri: pattern('^(rtp|wss?)://', 'rtp://host:port, ws:// or wss://.', 'an rtp, ws or wss URL'),
      control_id: text('Name for stop_tap; default a new id.'),
      direction: choice('Audio from the caller (speak), to the caller (listen), or both; default speak.', [
        'speak',
        'listen',
        'both',
      ]),
      codec: choice('PCMU or PCMA; default PCMU.', ['PCMU', 'PCMA']),
      rtp_ptime: number(
        'Milliseconds of an RTP packet (10 to 60 in steps of 10) or of a WebSocket message (20 to 120 in ' +
          'steps of 20). Default 20.',
        [10, 120],
      ),
      status_url: statusUrl('calling.call.tap'),
    },
    required: ['uri'],
    failed: { tap_result: 'failed' },
    run: tap,
  },
  stop_tap: {
    description: 'Stops a stream of tap.',
    properties: { control_id: controlId },
    failed: { stop_tap_result: 'failed' },
    run: async (values, { taps, variables }) => {
      taps.stop(values.text('control_id'))
      variables.assign({ stop_tap_result: 'success' })
      return undefined
    },
  },
  stream: {
    description: "Streams the call's audio to a WebSocket, and continues with the next step.",
    properties: {
      url: pattern('^wss?://', 'wss:// or ws://.', 'a ws or wss URL'),
      control_id: text('Name for stop_stream; default a new id.'),
      track: choice('Audio from the caller, to the caller, or both; default inbound_track.', [
        ...Object.keys(streamTracks),
      ]),
      codec: streamCodec,
      ...streamProperties,
      status_url: statusUrl('calling.call.stream'),
      status_url_method: choice('GET or POST; default POST.', ['GET', 'POST']),
    },
    required: ['url'],
    failed: { stream_result: 'failed' },
    run: stream,
  },
  stop_stream: {
    description: 'Stops a stream of stream.',
    properties: { control_id: controlId },
    failed: { stop_stream_result: 'failed' },
    run: async (values, { streams, variables }) => {
      streams.stop(values.text('control_id'))
      variables.assign({ stop_stream_result: 'success' })
      return undefined
    },
  },
}
