import type { Target } from '../../common/forms.ts'
import { readStreamFormat, streamFormatPattern, streamFormats, streamTracks } from '../../common/streams.ts'
import type { CallStream, StreamOptions } from '../../verbs.ts'
import { sendCallback } from '../callbacks.ts'
import type { ElementReader } from '../element-reader.ts'
import { codes } from '../faults.ts'
import type { ElementKind, VerbContext } from '../verb.ts'
import { parameter, readParameters } from './parameter.ts'

/** Noun `Stream`: a WebSocket that receives the audio of the call. */
export const stream: ElementKind = {
  name: 'Stream',
  attributes: ['url', 'name', 'track', 'codec', 'authBearerToken', 'statusCallback', 'statusCallbackMethod'],
  children: [parameter],
}

/** Checked `Stream`. */
export interface ParsedStream {
  readonly options: StreamOptions
  readonly statusCallback: Target | undefined
}

/** Reads a `Stream`. Undefined after an error. */
export const readStream = (reader: ElementReader): ParsedStream | undefined => {
  const url = reader.text('url')?.trim() ?? ''
  const name = reader.text('name')
  const track = reader.choice(
    'track',
    Object.keys(streamTracks) as (keyof typeof streamTracks)[],
    'inbound_track',
  )
  const format = readStreamFormat(reader.matching('codec', streamFormatPattern, streamFormats, 'PCMU'))
  const bearerToken = reader.text('authBearerToken')
  const statusCallback = reader.target('statusCallback', 'statusCallbackMethod')
  const parameters = readParameters(reader)
  if (!['ws:', 'wss:'].includes(URL.parse(url)?.protocol ?? '')) {
    reader.error(codes.streamUrl, 'Stream needs the attribute url with a wss: or ws: URL.', 'url')
    return undefined
  }
  const options = {
    url,
    tracks: streamTracks[track],
    ...format,
    ...(name && { name }),
    ...(bearerToken && { bearerToken }),
    ...(Object.keys(parameters).length > 0 && { parameters }),
  }
  return { options, statusCallback }
}

/** Starts the stream, and sends its events to its status callback. Answers the caller first. */
export const startStream = async (
  context: VerbContext,
  noun: ParsedStream,
  options: StreamOptions,
): Promise<CallStream> => {
  await context.answer()
  const begun = await context.call.startStream(options)
  const { callId, projectId } = context.call.info
  const status = (event: string, error?: string): void => {
    if (!noun.statusCallback) return
    sendCallback(context.handler, 'stream', noun.statusCallback, {
      AccountSid: projectId,
      CallSid: callId,
      StreamSid: begun.id,
      ...(options.name && { StreamName: options.name }),
      StreamEvent: event,
      ...(error !== undefined && { StreamError: error }),
    })
  }
  status('stream-started')
  void begun.ended.then((end) => {
    if (end.kind !== 'failed') return status('stream-stopped')
    context.warn(codes.stream, `The stream failed: ${end.reason}.`)
    status('stream-error', end.reason)
  })
  return begun
}
