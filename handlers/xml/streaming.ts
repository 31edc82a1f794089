import type { StreamOptions } from '../verbs.ts'
import type { ElementReader } from './element-reader.ts'
import { codes } from './faults.ts'
import type { Verb } from './program.ts'

/** `PCMU@8000h` and the like; other codecs of the family are not there. */
const formats: Readonly<Record<string, Pick<StreamOptions, 'codec' | 'sampleRate'>>> = {
  PCMU: { codec: 'PCMU' },
  'PCMU@8000h': { codec: 'PCMU' },
  L16: { codec: 'L16', sampleRate: 16_000 },
  'L16@16000h': { codec: 'L16', sampleRate: 16_000 },
  'L16@8000h': { codec: 'L16', sampleRate: 8000 },
}
const tracks = { inbound_track: 'inbound', outbound_track: 'outbound', both_tracks: 'both' } as const

/** Reads `Start`: each `Stream` in it begins, and the next verb has its turn at once. */
export const readStart = (reader: ElementReader): readonly Verb[] => {
  reader.done()
  return streamsOf(reader).flatMap((child) => {
    const stream = readStream(child)
    return stream ? [{ path: child.element.path, kind: 'stream' as const, stream, wait: false }] : []
  })
}

/** Reads `Connect` with its `Stream`, which the caller hears too, and at whose end the next verb has its turn. */
export const readConnect = (reader: ElementReader): readonly Verb[] => {
  const action = reader.action()
  reader.done()
  const [first, ...more] = streamsOf(reader)
  for (const child of more) child.warning(codes.schema, 'Connect takes one Stream; this one has no effect.')
  const stream = first && readStream(first)
  if (!first || !stream) return []
  return [
    {
      ...{ path: first.element.path, kind: 'stream', wait: true },
      stream: { ...stream, bidirectional: true },
      ...(action && { action }),
    },
  ]
}

/** Reads `Stop`: each `Stream` in it ends the one of its name. */
export const readStop = (reader: ElementReader): readonly Verb[] => {
  reader.done()
  return streamsOf(reader).flatMap((child) => {
    const name = child.text('name')
    child.done()
    if (name) return [{ path: child.element.path, kind: 'stopStream' as const, name }]
    child.warning(codes.schema, 'Stream needs a name in Stop; it has no effect.')
    return []
  })
}

const streamsOf = (reader: ElementReader): readonly ElementReader[] =>
  reader.elements().flatMap((child) => {
    const nested = reader.nested(child)
    if (child.name === 'Stream') return [nested]
    nested.warning(
      codes.schema,
      `${child.name} is not supported in ${reader.element.name}; it has no effect.`,
    )
    return []
  })

const readStream = (reader: ElementReader): StreamOptions | undefined => {
  const url = reader.text('url')?.trim() ?? ''
  const name = reader.text('name')
  const track = reader.choice('track', Object.keys(tracks) as (keyof typeof tracks)[], 'inbound_track')
  const format = formats[reader.choice('codec', Object.keys(formats), 'PCMU')]
  const bearerToken = reader.text('authBearerToken')
  reader.done()
  const parameters = readParameters(reader)
  if (!['ws:', 'wss:'].includes(URL.parse(url)?.protocol ?? '')) {
    reader.error(codes.streamUrl, 'Stream needs the attribute url, which begins with wss: or ws:.', 'url')
    return undefined
  }
  return {
    ...{ url, tracks: tracks[track], ...format },
    ...(name && { name }),
    ...(bearerToken && { bearerToken }),
    ...(Object.keys(parameters).length > 0 && { parameters }),
  }
}

const readParameters = (reader: ElementReader): Readonly<Record<string, string>> => {
  const parameters: Record<string, string> = Object.create(null)
  for (const child of reader.elements()) {
    const nested = reader.nested(child)
    const name = child.name === 'Parameter' ? nested.text('name') : undefined
    if (name) {
      parameters[name] = nested.text('value') ?? ''
      nested.done()
    } else
      nested.warning(codes.schema, 'Stream takes Parameter elements with a name; this one has no effect.')
  }
  return { ...parameters }
}
