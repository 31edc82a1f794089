import type { Target } from '../../common/forms.ts'
import { readStreamFormat, streamFormatPattern, streamFormats, streamTracks } from '../../common/streams.ts'
import type { CallStream, StreamOptions } from '../../verbs.ts'
import { tell } from '../callbacks.ts'
import type { ElementReader } from '../element-reader.ts'
import { codes } from '../faults.ts'
import type { ElementKind, Stage } from '../verb.ts'
import { parameter, readParameters } from './parameter.ts'

/** `Stream`: audio of the call for a WebSocket. */
export const stream: ElementKind = {
  name: 'Stream',
  attributes: ['url', 'name', 'track', 'codec', 'authBearerToken', 'statusCallback', 'statusCallbackMethod'],
  inside: [parameter],
}

/** A `Stream` that has been read. */
export interface StreamNoun {
  readonly options: StreamOptions
  readonly statusCallback: Target | undefined
}

/** Reads a `Stream`; undefined after an error. */
export const readStream = (reader: ElementReader): StreamNoun | undefined => {
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
    reader.error(codes.streamUrl, 'Stream needs the attribute url, which begins with wss: or ws:.', 'url')
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

/** Begins the stream and tells its callback how it goes. */
export const beginStream = async (
  stage: Stage,
  noun: StreamNoun,
  options: StreamOptions,
): Promise<CallStream> => {
  await stage.answer()
  const begun = await stage.call.startStream(options)
  const { callId, projectId } = stage.call.info
  const status = (event: string, error?: string): void => {
    if (!noun.statusCallback) return
    tell(stage.context, 'stream', noun.statusCallback, {
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
    stage.warn(codes.stream, `The stream failed: ${end.reason}.`)
    status('stream-error', end.reason)
  })
  return begun
}
