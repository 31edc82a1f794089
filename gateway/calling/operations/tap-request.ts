import { isIPv6 } from 'node:net'
import { readStreamFormat } from '../../../handlers/common/streams.ts'
import type { StreamOptions } from '../../../handlers/verbs.ts'
import { Fields } from './command-fields.ts'

const tracksOf = { speak: 'inbound', listen: 'outbound', both: 'both' } as const

/** Reads `calling.tap`: the tapped audio, and the device that receives it. */
export const readTap = (params: Fields): StreamOptions => {
  const tap = params.fields('tap')
  tap?.oneOf('type', ['audio'])
  const direction = tap?.fields('params')?.oneOf('direction', ['speak', 'listen', 'both'] as const) ?? 'speak'
  const device = params.fields('device')
  const type = device?.oneOf('type', ['ws', 'rtp'] as const)
  if (!device || !type) throw params.wrong('device', 'an object with type ws or rtp')
  const more = device.fields('params') ?? new Fields({}, 'device.params')
  return { tracks: tracksOf[direction], ...(type === 'ws' ? readWebSocket(more) : readRtp(more)) }
}

const readWebSocket = (params: Fields): StreamOptions => {
  const codec = params.oneOf('codec', ['PCMU', 'PCMA', 'G722', 'L16'] as const)
  const rate = params.number('rate', 8000, 48_000)
  const format = readStreamFormat(`${codec ?? 'PCMU'}${rate === undefined ? '' : `@${rate}h`}`)
  if (!format) throw params.wrong('rate', `a rate of ${codec ?? 'PCMU'}`)
  return { url: params.needed('uri'), ...((codec ?? rate) !== undefined && format) }
}

const readRtp = (params: Fields): StreamOptions => {
  const addr = params.needed('addr')
  const port = params.integer('port', 1, 65_535)
  if (port === undefined) throw params.wrong('port', 'a whole number from 1 to 65535')
  const codec = params.oneOf('codec', ['PCMU', 'PCMA'] as const) ?? 'PCMU'
  return { url: `rtp://${isIPv6(addr) ? `[${addr}]` : addr}:${port}?codec=${codec}` }
}
