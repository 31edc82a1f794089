/** Sound and pictures of simulated browsers, in a mediasoup process of their own. */
import { createWorker, type types } from 'mediasoup'
import { loadCodecs } from '../../media/codecs/codecs.ts'
import { loadPictures } from '../../media/compose/pictures.ts'
import { Camera } from '../../media/compose/testing/camera.ts'
import { headerBytes, writeRtpHeader } from '../../media/rtp/packet.ts'
import { speechOf } from './mixing.ts'

/** Payload types that simulated browsers offer. */
export const payloadTypes = { audio: 111, video: 96 } as const

/** Frames of the recorded camera, which repeat; the first one is a key frame. */
const recordedFrames = 60
const framesPerSecond = 30

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

/** Returns the sender of speech, packet by packet. */
const speech = async (producer: types.Producer): Promise<() => void> => {
  const payloads = await speechOf(await loadCodecs())
  let sequence = 0
  return () => {
    const payload = payloads[sequence % payloads.length]!
    const packet = Buffer.alloc(headerBytes + payload.length)
    writeRtpHeader(packet, 0, {
      payloadType: payloadTypes.audio,
      marker: false,
      sequence: sequence & 0xffff,
      timestamp: (sequence * 960) >>> 0,
      ssrc: 1,
    })
    packet.set(payload, headerBytes)
    sequence++
    producer.send(packet)
  }
}

/** Returns the sender of a recorded camera of 640×360, frame by frame. */
const pictures = (producer: types.Producer): (() => void) => {
  const camera = new Camera({ addon: loadPictures(), width: 640, height: 360, ssrc: 2, kbps: 600 })
  const frames = Array.from({ length: recordedFrames }, (_, at) => {
    camera.move(at)
    return camera.packets(at === 0)
  })
  camera.close()
  let frame = 0
  let sequence = 0
  return () => {
    for (const packet of frames[frame % recordedFrames]!) {
      const copy = Buffer.from(packet)
      copy.writeUInt16BE(sequence++ & 0xffff, 2)
      copy.writeUInt32BE((frame * (90_000 / framesPerSecond)) >>> 0, 4)
      producer.send(copy)
    }
    frame++
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
  readonly #worker: types.Worker
  #stops: (() => void)[] = []

  private constructor(
    worker: types.Worker,
    direct: types.DirectTransport,
    router: types.Router,
    [audio, video]: readonly [types.Producer, types.Producer],
  ) {
    this.#worker = worker
    this.direct = direct
    this.router = router
    this.audio = audio
    this.video = video
  }

  /** Starts both. Needs the composer's addon, which encodes the pictures. */
  static async start(): Promise<BotSources> {
    const worker = await createWorker({ logLevel: 'none' })
    const router = await worker.createRouter({ mediaCodecs: codecs })
    const direct = await router.createDirectTransport()
    const produce = (kind: 'audio' | 'video', ssrc: number) => {
      const { mimeType, clockRate, channels } = codecs.find((codec) => codec.kind === kind)!
      const codec = { mimeType, clockRate, payloadType: payloadTypes[kind], ...(channels && { channels }) }
      return direct.produce({ kind, rtpParameters: { codecs: [codec], encodings: [{ ssrc }] } })
    }
    const producers = [await produce('audio', 1), await produce('video', 2)] as const
    const sources = new BotSources(worker, direct, router, producers)
    sources.#stops = [
      every(20, await speech(sources.audio)),
      every(1000 / framesPerSecond, pictures(sources.video)),
    ]
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
    this.#worker.close()
  }
}
