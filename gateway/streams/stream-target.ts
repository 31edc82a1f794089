import type { StreamOptions } from '../../handlers/verbs.ts'
import { bareHost } from '../callbacks/guarded-lookup.ts'

/** Target of a stream. */
export type StreamTarget =
  | { readonly kind: 'websocket'; readonly url: URL }
  | {
      readonly kind: 'rtp'
      readonly host: string
      readonly port: number
      readonly codec: 'PCMU' | 'PCMA'
      /** Packet time in ms. */
      readonly ptime: number
    }

/** Invalid options of a stream. The message names the fault, without secrets of the URL. */
export class BadStream extends Error {
  readonly code = 'bad_stream'

  constructor(message: string) {
    super(message)
    this.name = 'BadStream'
  }
}

/** Minimum RTP port: lower ports belong to system services, to which no document may send packets. */
const minRtpPort = 1024

/** Reads the URL of a stream. Throws {@link BadStream}. */
export const readTarget = ({ url: text, codec, packetMs }: StreamOptions): StreamTarget => {
  if (/^\s*rtp:/i.test(text)) return readRtp(text.trim(), codec, packetMs)
  const url = URL.parse(text.trim())
  if (!url || (url.protocol !== 'ws:' && url.protocol !== 'wss:'))
    throw new BadStream('The URL of a stream must begin with wss:, ws: or rtp:.')
  // A WebSocket URL must not have a fragment (RFC 6455 section 3).
  url.hash = ''
  return { kind: 'websocket', url }
}

const readRtp = (text: string, codec: StreamOptions['codec'], packetMs = 20): StreamTarget => {
  // Parsed as http, whose rules for hosts and ports the parser knows.
  const url = URL.parse(text.replace(/^rtp:/i, 'http:'))
  const port = Number(url?.port)
  if (!url || url.hostname === '' || port < minRtpPort)
    throw new BadStream(`An RTP address is written as rtp://host:port, with a port from ${minRtpPort} on.`)
  const named = (url.searchParams.get('codec') ?? codec ?? 'PCMU').toUpperCase()
  if (named !== 'PCMU' && named !== 'PCMA')
    throw new BadStream('The codec of an RTP address is PCMU or PCMA.')
  const ptime = Number(url.searchParams.get('ptime') ?? packetMs)
  if (!(ptime >= 10 && ptime <= 60 && ptime % 10 === 0))
    throw new BadStream('The ptime of an RTP address is 10 to 60, in steps of 10.')
  return { kind: 'rtp', host: bareHost(url), port, codec: named, ptime }
}
