/** Sound and pictures of simulated browsers, in a mediasoup process of their own. */
import { createWorker, type types } from 'mediasoup'
import { loadCodecs } from '../../media/codecs/codecs.ts'
import { loadPictures } from '../../media/compose/pictures.ts'
import { Camera } from '../../media/compose/testing/camera.ts'
import { headerBytes, writeRtpHeader } from '../../media/rtp/packet.ts'
import { keyFrameRequests } from '../../media/webrtc/rooms/key-frame-requests.ts'
import { mark, markCount } from './marks.ts'
import { encodeAll, speechOf } from './mixing.ts'
import { Tones, toneCycle } from './tones.ts'

/** Payload types that simulated browsers offer. */
export const payloadTypes = { audio: 111, video: 96 } as const

/** Frames per second of the recorded camera. Its frames have marks, and repeat; the first is a key frame. */
const framesPerSecond = 30
/** Minimum time between two key frames on request, in ms. */
const minKeyMs = 300

const codecs: types.RouterRtpCodecCapability[] = [
  {
    kind: 'audio',
    mimeType: 'audio/opus',
    clockRate: 48_000,
    channels: 2,
    preferredPayloadType: payloadTypes.audio,
  },
  {
    kind: 'video',
    mimeType: 'video/VP8',
    clockRate: 90_000,
    preferredPayloadType: payloadTypes.video,
  },
]

/** Sound of the bots: speech, or tones with silence between them. */
export type BotSound = 'speech' | 'tones'

/** Returns the sender of Opus packets with their media time in ms. */
const opusSender = (producer: types.Producer): ((payload: Uint8Array, ms: number) => void) => {
  let sequence = 0
  return (payload, ms) => {
    const packet = Buffer.alloc(headerBytes + payload.length)
    writeRtpHeader(packet, 0, {
      payloadType: payloadTypes.audio,
      marker: false,
      sequence: sequence++ & 0xffff,
      timestamp: (ms * 48) >>> 0,
      ssrc: 1,
    })
    packet.set(payload, headerBytes)
    producer.send(packet)
  }
}

/** Returns the sender of speech, packet by packet. */
const speech = (payloads: readonly Uint8Array[], producer: types.Producer): (() => void) => {
  const send = opusSender(producer)
  let sent = 0
  return () => {
    send(payloads[sent % payloads.length]!, sent * 20)
    sent++
  }
}

/** Returns the packets of the frames of a recorded camera of 640×360. */
export const recording = (): readonly (readonly Buffer[])[] => {
  const addon = loadPictures()
  const camera = new Camera({ addon, width: 640, height: 360, ssrc: 2, kbps: 600 })
  const frames = Array.from({ length: markCount }, (_, at) => {
    camera.move(at)
    mark(addon, camera.picture, [640, 360], at)
    return camera.packets(at === 0)
  })
  camera.close()
  return frames
}

/** The recorded camera, sent frame by frame. Begins again when a viewer needs a key frame, as browsers do. */
class RecordedCamera {
  /** Times at which the frames were sent; NaN for those that were left out. */
  readonly sentAt: number[] = []
  readonly #frames = recording()
  readonly #producer: types.Producer
  #sent = 0
  #sequence = 0
  #keyAt = Number.NEGATIVE_INFINITY
  #needsKey = false

  constructor(producer: types.Producer) {
    this.#producer = producer
  }

  requestKey(): void {
    this.#needsKey = true
  }

  send(): void {
    const { sentAt } = this
    const now = performance.now()
    if (this.#needsKey && now - this.#keyAt > minKeyMs)
      while (sentAt.length % markCount > 0) sentAt.push(Number.NaN)
    const frame = sentAt.length % markCount
    if (frame === 0) {
      this.#keyAt = now
      this.#needsKey = false
    }
    for (const packet of this.#frames[frame]!) {
      const copy = Buffer.from(packet)
      copy.writeUInt16BE(this.#sequence++ & 0xffff, 2)
      copy.writeUInt32BE((this.#sent * (90_000 / framesPerSecond)) >>> 0, 4)
      this.#producer.send(copy)
    }
    this.#sent++
    sentAt.push(now)
  }
}

/** Runs `each` at a rate, with those that are late. Returns a function that stops it. */
export const every = (ms: number, each: () => void): (() => void) => {
  const began = performance.now()
  let count = 0
  const timer = setInterval(() => {
    const due = Math.floor((performance.now() - began) / ms)
    for (; count < due; count++) each()
  }, 4)
  return () => clearInterval(timer)
}

/** One voice and one camera, which all simulated browsers send. */
export class BotSources {
  readonly router: types.Router
  readonly direct: types.DirectTransport
  readonly audio: types.Producer
  readonly video: types.Producer
  /** Times at which the frames of the camera were sent. */
  readonly sentAt: readonly number[]
  /** Sound of the bots, if it is tones. */
  tones: Tones | undefined
  readonly #worker: types.Worker
  readonly #stops: (() => void)[] = []

  private constructor(
    worker: types.Worker,
    direct: types.DirectTransport,
    router: types.Router,
    [audio, video]: readonly [types.Producer, types.Producer],
    sentAt: readonly number[],
  ) {
    this.#worker = worker
    this.direct = direct
    this.router = router
    this.audio = audio
    this.video = video
    this.sentAt = sentAt
  }

  /** Starts both. Needs the composer's addon, which encodes the pictures. */
  static async start(sound: BotSound = 'speech'): Promise<BotSources> {
    const worker = await createWorker({ logLevel: 'none' })
    const router = await worker.createRouter({ mediaCodecs: codecs })
    const direct = await router.createDirectTransport()
    const produce = (kind: 'audio' | 'video', ssrc: number) => {
      const { mimeType, clockRate, channels } = codecs.find((codec) => codec.kind === kind)!
      const rtcpFeedback = kind === 'video' ? [{ type: 'nack', parameter: 'pli' }] : []
      const payloadType = payloadTypes[kind]
      const codec = { mimeType, clockRate, payloadType, rtcpFeedback, ...(channels && { channels }) }
      return direct.produce({ kind, rtpParameters: { codecs: [codec], encodings: [{ ssrc }] } })
    }
    const producers = [await produce('audio', 1), await produce('video', 2)] as const
    const camera = new RecordedCamera(producers[1])
    direct.on('rtcp', (packet) => {
      if (keyFrameRequests(packet).length > 0) camera.requestKey()
    })
    const sources = new BotSources(worker, direct, router, producers, camera.sentAt)
    const opus = await loadCodecs()
    if (sound === 'tones') {
      const payloads = encodeAll(opus, 'opus', 48_000, toneCycle(48_000))
      sources.tones = new Tones(payloads, opusSender(sources.audio))
    } else sources.#stops.push(every(20, speech(await speechOf(opus), sources.audio)))
    sources.#stops.push(every(1000 / framesPerSecond, () => camera.send()))
    return sources
  }

  /** Returns the capabilities of a receiver. */
  get capabilities(): types.RtpCapabilities {
    const rtcpFeedback = [{ type: 'nack' }, { type: 'nack', parameter: 'pli' }]
    return {
      codecs: codecs.map((codec) => ({
        ...codec,
        preferredPayloadType: payloadTypes[codec.kind],
        rtcpFeedback: codec.kind === 'video' ? rtcpFeedback : [],
      })),
      headerExtensions: [],
    }
  }

  close(): void {
    for (const stop of this.#stops) stop()
    this.tones?.stop()
    this.#worker.close()
  }
}
