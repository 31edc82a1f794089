import type { types } from 'mediasoup'
import { codecInfo } from '../codecs/codec-info.ts'
import { type AudioFormat, ownFormat } from './sdp/negotiate.ts'
import type { VideoFormat } from './sdp/video-format.ts'
import { loadCodec, routerCodec } from './video-parameters.ts'

/**
 * Routers of one worker, created on first use. A router sends with its own payload types, but a browser
 * requires those of its offer (RFC 3264 section 6.1). Each set of payload types therefore needs a router: at
 * most 61 per codec. Routers live as long as the worker.
 */
export class Routers {
  readonly #worker: Pick<types.Worker, 'createRouter'>
  #withEvents = 0
  readonly #made = new Map<string, Promise<types.Router>>()

  constructor(worker: Pick<types.Worker, 'createRouter'>) {
    this.#worker = worker
  }

  /** Returns the router for a payload type of Opus; default: the type that nearly all browsers use. */
  audio(opus: number = ownFormat('opus').payloadType): Promise<types.Router> {
    return this.#of(`audio ${opus}`, audioCodecs(opus))
  }

  /**
   * Returns the router for this codec with telephone-events, by their payload types; undefined if too many
   * combinations are in use. mediasoup's consumers drop telephone-event, so each telephone-event format uses
   * the name of an unused codec.
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

  /** Returns the router for video of this codec and payload type, and for packets that try a path. */
  video(format: VideoFormat): Promise<types.Router> {
    return this.#of(`${format.name} ${format.payloadType}`, [routerCodec(format), loadCodec])
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

/** Maximum number of routers for audio with telephone-events; further calls have audio only. */
const maxEventRouters = 64

/** Unused codecs whose names stand for telephone-event, by clock rate. */
const substituteCodecs = {
  8000: { mimeType: 'audio/iLBC', clockRate: 8000 },
  48000: { mimeType: 'audio/ISAC', clockRate: 32_000 },
} as const

/** Returns mediasoup's codec parameters of the audio, the codec first. */
export const codecsOf = ({ codec, payloadType, events }: AudioFormat): types.RtpCodecParameters[] => [
  {
    mimeType: `audio/${codec}`,
    payloadType,
    clockRate: codecInfo[codec].clockRate,
    ...(codec === 'opus' && { channels: 2 }),
  },
  ...events.map(({ payloadType: number, clockRate }) => ({
    ...substituteCodecs[clockRate],
    payloadType: number,
  })),
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
