import type { types } from 'mediasoup'
import { codecFacts } from '../codecs/facts.ts'
import { ownFormat } from './sdp/negotiate.ts'
import type { VideoFormat } from './sdp/video.ts'
import { routerCodec } from './video/parameters.ts'

/**
 * The routers of one worker, made when first asked for. What a router sends has the router's numbers, and what a browser receives has to
 * have those of its own offer (RFC 3264 section 6.1): a browser with other numbers needs another router. There are as many as there are
 * dynamic payload types that pages have used, 61 for each codec at the most, and they stay as long as the worker.
 */
export class Routers {
  readonly #worker: Pick<types.Worker, 'createRouter'>
  readonly #made = new Map<string, Promise<types.Router>>()

  constructor(worker: Pick<types.Worker, 'createRouter'>) {
    this.#worker = worker
  }

  /** The router for audio in which Opus has this payload type; default that of nearly all browsers. */
  audio(opus: number = ownFormat('opus').payloadType): Promise<types.Router> {
    return this.#of(`audio ${opus}`, audioCodecs(opus))
  }

  /** The router for video of this codec and payload type. */
  video(format: VideoFormat): Promise<types.Router> {
    return this.#of(`${format.name} ${format.payloadType}`, [routerCodec(format)])
  }

  #of(key: string, mediaCodecs: types.RouterRtpCodecCapability[]): Promise<types.Router> {
    const known = this.#made.get(key)
    if (known) return known
    const made = this.#worker.createRouter({ mediaCodecs })
    this.#made.set(key, made)
    made.catch(() => this.#made.delete(key))
    return made
  }
}

const audioCodecs = (opus: number): types.RouterRtpCodecCapability[] => [
  { kind: 'audio', mimeType: 'audio/opus', clockRate: 48_000, channels: 2, preferredPayloadType: opus },
  ...(['PCMU', 'PCMA', 'G722'] as const).map((codec) => ({
    ...{ kind: 'audio' as const, mimeType: `audio/${codec}`, clockRate: codecFacts[codec].clockRate },
    preferredPayloadType: ownFormat(codec).payloadType,
  })),
]
