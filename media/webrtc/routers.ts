import type { types } from 'mediasoup'
import { codecInfo } from '../codecs/codec-info.ts'
import { type AudioFormat, ownFormat } from './sdp/negotiate.ts'
import type { VideoFormat } from './sdp/video.ts'
import { routerCodec } from './video/parameters.ts'

/**
 * The routers of one worker, made when first asked for. What a router sends has the router's numbers, and what a browser receives has to
 * have those of its own offer (RFC 3264 section 6.1): a browser with other numbers needs another router. There are as many as there are
 * dynamic payload types that pages have used, 61 for each codec at the most, and they stay as long as the worker.
 */
export class Routers {
  readonly #worker: Pick<types.Worker, 'createRouter'>
  #withEvents = 0
  readonly #made = new Map<string, Promise<types.Router>>()

  constructor(worker: Pick<types.Worker, 'createRouter'>) {
    this.#worker = worker
  }

  /** The router for audio in which Opus has this payload type; default that of nearly all browsers. */
  audio(opus: number = ownFormat('opus').payloadType): Promise<types.Router> {
    return this.#of(`audio ${opus}`, audioCodecs(opus))
  }

  /**
   * The router for this codec with keys (telephone-event), by their numbers; undefined where pages have used too many different ones. A
   * consumer of mediasoup drops telephone-event, so that each of its formats goes under the name of a codec that is not used.
   */
  async audioWithEvents(format: AudioFormat): Promise<types.Router | undefined> {
    const codecs = codecsOf(format)
    const key = `events ${codecs.map(({ mimeType, payloadType }) => `${mimeType} ${payloadType}`).join()}`
    if (!this.#made.has(key) && this.#withEvents >= maxEventRouters) return undefined
    if (!this.#made.has(key)) this.#withEvents++
    return this.#of(
      key,
      codecs.map(({ payloadType, ...codec }) => ({
        kind: 'audio',
        ...codec,
        preferredPayloadType: payloadType,
      })),
    )
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

/** Maximum number of routers for audio with keys; calls beyond it have audio alone. */
const maxEventRouters = 64

/** Codecs that no call uses, by the clock rate of the keys that go under their names. */
const standIns = {
  8000: { mimeType: 'audio/iLBC', clockRate: 8000 },
  48000: { mimeType: 'audio/ISAC', clockRate: 32_000 },
} as const

/** The formats of the audio as mediasoup knows them, the codec first. */
export const codecsOf = ({ codec, payloadType, events }: AudioFormat): types.RtpCodecParameters[] => [
  {
    mimeType: `audio/${codec}`,
    payloadType,
    clockRate: codecInfo[codec].clockRate,
    ...(codec === 'opus' && { channels: 2 }),
  },
  ...events.map(({ payloadType: number, clockRate }) => ({ ...standIns[clockRate], payloadType: number })),
]

const audioCodecs = (opus: number): types.RouterRtpCodecCapability[] => [
  { kind: 'audio', mimeType: 'audio/opus', clockRate: 48_000, channels: 2, preferredPayloadType: opus },
  ...(['PCMU', 'PCMA', 'G722'] as const).map((codec) => ({
    kind: 'audio' as const,
    mimeType: `audio/${codec}`,
    clockRate: codecInfo[codec].clockRate,
    preferredPayloadType: ownFormat(codec).payloadType,
  })),
]
