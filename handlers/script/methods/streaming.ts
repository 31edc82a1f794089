import { readStreamFormat, streamFormatPattern, streamFormats, streamTracks } from '../../common/streams.ts'
import type { CallStream, StreamEnd, StreamOptions } from '../../verbs.ts'
import type { SendEvent } from '../events.ts'
import type { Method, ScriptContext } from '../method.ts'
import { choice, number, pattern, type Schema, statusUrl, text, texts } from '../schema-builders.ts'
import { badValue, type Values } from '../values.ts'
import { asText } from '../variables.ts'

/** The codec of a WebSocket's audio. */
export const streamCodec = pattern(
  streamFormatPattern,
  `Codec of a stream: ${streamFormats}: 8000, 16000 (default), 24000 or 48000 Hz of L16, 20 (default) to 120 ms in steps of 20. Default PCMU.`,
  streamFormats,
)

/** What is told to the server of a WebSocket, from a step's parameters. */
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
  name: text('Told to the server.'),
  authorization_bearer_token: text('Sent to the server as Authorization: Bearer.'),
  custom_parameters: texts('Told to the server at the start.'),
}

const tapTracks = { speak: 'inbound', listen: 'outbound', both: 'both' } as const

/** Tells how a stream goes: that it has begun, and at once or later that it is over. */
export const sendStreamEvents = (tell: SendEvent, begun: string, stream: CallStream): void => {
  tell({ state: begun })
  void stream.ended.then((end: StreamEnd) => {
    tell({
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
  const told = { url: values.url('status_url'), method: values.choice<'GET' | 'POST'>('status_url_method') }
  const started = await script.call.startStream({ ...options, tracks: streamTracks[track] })
  const id = script.streams.add(started, controlId)
  const tell = script.events.sender(told, 'calling.call.stream', { control_id: id, url, name: options.name })
  sendStreamEvents(tell, 'streaming', started)
  script.variables.assign({ stream_result: 'success', stream_control_id: id })
}

/** Where a tap goes, and how. */
const tapOptions = (uri: string, codec: 'PCMU' | 'PCMA', packetMs: number): StreamOptions => {
  const url = URL.parse(uri)
  if (!url || !['rtp:', 'ws:', 'wss:'].includes(url.protocol))
    throw badValue('uri', 'must be an rtp, ws or wss URL')
  const [least, most, step] = url.protocol === 'rtp:' ? [10, 60, 10] : [20, 120, 20]
  if (packetMs < least || packetMs > most || packetMs % step !== 0)
    throw badValue('rtp_ptime', `must be ${least} to ${most} in steps of ${step} here`)
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
  const told = { url: values.url('status_url') }
  const ptime = values.number('rtp_ptime') ?? 20
  const options = tapOptions(uri, codec, ptime)
  const started = await script.call.startStream({ ...options, tracks: tapTracks[direction] })
  const id = script.taps.add(started, controlId)
  const params = { direction, codec, rate: 8000, ptime }
  const tell = script.events.sender(told, 'calling.call.tap', {
    control_id: id,
    tap: { type: 'audio', params: { direction } },
    device: { type: typeOf(uri), params: { uri, ...params } },
  })
  sendStreamEvents(tell, 'tapping', started)
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

const controlId = text('Which one; default the last.')

/** Gives the caller's audio to somebody outside. */
export const streaming: Readonly<Record<string, Method>> = {
  tap: {
    description: "Gives the call's audio to an RTP address or a WebSocket, and goes on with the next step.",
    properties: {
      uri: pattern('^(rtp|wss?)://', 'rtp://host:port, ws:// or wss://.', 'an rtp, ws or wss URL'),
      control_id: text('Name by which stop_tap finds it; default a new one.'),
      direction: choice('What the caller says (speak), hears (listen), or both; default speak.', [
        'speak',
        'listen',
        'both',
      ]),
      codec: choice('PCMU or PCMA; default PCMU.', ['PCMU', 'PCMA']),
      rtp_ptime: number(
        'Milliseconds of a packet: 10 to 60 in steps of 10, or of a message to a WebSocket, 20 to 120 in steps of 20; default 20.',
        [10, 120],
      ),
      status_url: statusUrl('calling.call.tap'),
    },
    required: ['uri'],
    failed: { tap_result: 'failed' },
    run: tap,
  },
  stop_tap: {
    description: 'Ends what tap began.',
    properties: { control_id: controlId },
    failed: { stop_tap_result: 'failed' },
    run: async (values, { taps, variables }) => {
      taps.stop(values.text('control_id'))
      variables.assign({ stop_tap_result: 'success' })
      return undefined
    },
  },
  stream: {
    description: "Gives the call's audio to a WebSocket, and goes on with the next step.",
    properties: {
      url: pattern('^wss?://', 'wss:// or ws://.', 'a ws or wss URL'),
      control_id: text('Name by which stop_stream finds it; default a new one.'),
      track: choice('Whose audio: the caller’s, what the caller hears, or both; default inbound_track.', [
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
    description: 'Ends what stream began.',
    properties: { control_id: controlId },
    failed: { stop_stream_result: 'failed' },
    run: async (values, { streams, variables }) => {
      streams.stop(values.text('control_id'))
      variables.assign({ stop_stream_result: 'success' })
      return undefined
    },
  },
}
