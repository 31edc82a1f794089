/** Browsers whose camera and screen are synthetic packets, in a real mediasoup process. */
import { createWorker, type types } from 'mediasoup'
import { Vp8Reader } from '../../../media/rooms/testing/vp8-reader.ts'
import { type Frame, Vp8Source, type Vp8SourceOptions } from '../../../media/rooms/testing/vp8-source.ts'
import { headerBytes, readRtp, rtpView, writeRtpHeader } from '../../../media/rtp/packet.ts'
import type { Direction } from '../../../media/types.ts'
import type { MLine } from '../../../media/webrtc/m-line.ts'
import { keyFrameRequests } from '../../../media/webrtc/rooms/key-frame-requests.ts'
import { Routers } from '../../../media/webrtc/routers.ts'
import { ownVideo, type VideoFormat } from '../../../media/webrtc/sdp/video-format.ts'
import { cameraSection } from '../../../media/webrtc/testing/camera-section.ts'
import type { SessionVideo } from '../../../media/webrtc/video/session-video.ts'
import { loadCodec } from '../../../media/webrtc/video-parameters.ts'
import { WebRtcSession } from '../../../media/webrtc/webrtc-session.ts'
import type { MediaWorker } from '../../../media/webrtc/worker-supervisor.ts'

/** A mediasoup process with the routers of the product. */
export class DirectWorker {
  readonly worker: types.Worker
  readonly routers: Routers

  private constructor(worker: types.Worker) {
    this.worker = worker
    this.routers = new Routers(worker)
  }

  static async start(): Promise<DirectWorker> {
    return new DirectWorker(await createWorker({ logLevel: 'error' }))
  }

  /** Number of objects in the process, without routers. */
  async objects(): Promise<number> {
    const { channelMessageHandlers } = await this.worker.dump()
    return channelMessageHandlers.channelRequestHandlers.length
  }

  /** Resolves when the process has executed all that was sent to it before. */
  async settle(): Promise<void> {
    if (!this.worker.closed) await this.worker.getResourceUsage()
  }
}

/** Returns the packet without the header extension that mediasoup adds. */
const withoutExtension = (packet: Buffer): Buffer => {
  const view = rtpView()
  if (!readRtp(packet, view)) throw new Error('an RTP packet expected')
  const plain = Buffer.concat([Buffer.alloc(headerBytes), packet.subarray(view.start, view.end)])
  writeRtpHeader(plain, 0, view)
  return plain
}

/** Options of a {@link DirectBrowser}. */
export interface DirectBrowserOptions {
  readonly format?: Partial<VideoFormat>
  readonly source?: Vp8SourceOptions
  /** Whether mediasoup spaces the requests for key frames of the camera, in real time; default false. */
  readonly hasSpacing?: boolean
}

/** A browser's session whose m-line is a direct transport. It answers requests for key frames. */
export class DirectBrowser {
  readonly name: string
  readonly session: WebRtcSession
  readonly host: DirectWorker
  readonly source: Vp8Source
  /** Streams that were received, in order. */
  readonly streams: { readonly consumer: types.Consumer; readonly reader: Vp8Reader; text: string }[] = []
  /** Maximum bit rates of the camera that were set, in order. */
  readonly limits: number[] = []
  /** Errors in the received streams. */
  readonly faults: Error[] = []
  /** Number of requests for a key frame of the camera. */
  requests = 0
  /** Whether the camera answers requests for key frames. */
  isAnswering = true
  readonly #transport: types.DirectTransport
  readonly #line: MLine
  readonly #format: VideoFormat
  readonly #hasSpacing: boolean
  #wantsKeyFrame = true

  private constructor(
    name: string,
    host: DirectWorker,
    router: types.Router,
    transport: types.DirectTransport,
    { format, source, hasSpacing = false }: DirectBrowserOptions,
  ) {
    this.name = name
    this.host = host
    this.#transport = transport
    this.#format = { ...ownVideo, ...format }
    this.#hasSpacing = hasSpacing
    this.source = new Vp8Source({ payloadType: this.#format.payloadType, ...source })
    const worker = { owners: new Set() } as unknown as MediaWorker
    this.session = new WebRtcSession({ worker, nextWorker: async () => worker, plan: () => [] })
    this.#line = { worker, router, transport: this.#asWebRtc() } as unknown as MLine
    transport.on('rtcp', (packet) => {
      if (keyFrameRequests(packet).length === 0) return
      this.requests++
      this.#wantsKeyFrame = true
    })
  }

  /** Opens a browser, by default with VP8 and payload type 96. */
  static async open(
    name: string,
    host: DirectWorker,
    options: DirectBrowserOptions = {},
  ): Promise<DirectBrowser> {
    const router = await host.routers.video({ ...ownVideo, ...options.format })
    return new DirectBrowser(name, host, router, await router.createDirectTransport(), options)
  }

  get video(): SessionVideo {
    return this.session.video
  }

  /** Text of the last frame received, which is the name of its camera; `still` for the plain picture. */
  get seen(): string {
    return this.streams.at(-1)?.text ?? ''
  }

  /** Applies a description with this direction. An SSRC different from the last one starts a new stream. */
  turn(direction: Direction, ssrc = 1): Promise<void> {
    const section = cameraSection({ direction, ssrc })
    return this.video.use({ line: this.#line, section, format: this.#format })
  }

  /** Sends a frame of the camera, a key frame if one was requested. */
  send(frame: Frame = {}): void {
    const producer = this.video.camera.current?.producer
    if (!producer || producer.closed) return
    const isKey = this.#wantsKeyFrame && this.isAnswering
    if (isKey) this.#wantsKeyFrame = false
    for (const packet of this.source.frame({ isKey, packets: 2, text: this.name, ...frame }))
      producer.send(packet)
  }

  /** Reports packets of the received stream as missing that mediasoup no longer has. */
  reportLoss(): void {
    const nack = Buffer.alloc(16)
    nack.writeUInt32BE(0x81cd_0003, 0)
    nack.writeUInt32BE(this.streams.at(-1)!.consumer.rtpParameters.encodings![0]!.ssrc!, 8)
    const { sequence } = this.streams.at(-1)!.reader.inOrder.at(-1)!
    nack.writeUInt16BE((sequence - 5000) & 0xffff, 12)
    nack.writeUInt16BE(0xffff, 14)
    this.#transport.sendRtcp(nack)
  }

  /** Ends the session and its transport. */
  async close(): Promise<void> {
    await this.session.close()
    this.#transport.close()
  }

  // Direct transports have no bit rates.
  #asWebRtc() {
    const transport = this.#transport
    return {
      get closed() {
        return transport.closed
      },
      produce: ({ keyFrameRequestDelay, ...options }: types.ProducerOptions) =>
        transport.produce(
          this.#hasSpacing && keyFrameRequestDelay !== undefined
            ? { ...options, keyFrameRequestDelay }
            : options,
        ),
      consume: (options: types.ConsumerOptions) => this.#consume(options),
      setMaxIncomingBitrate: async (rate: number) => void this.limits.push(rate),
    }
  }

  async #consume(options: types.ConsumerOptions): Promise<types.Consumer> {
    // Paused until the listener is there.
    const consumer = await this.#transport.consume({ ...options, paused: true })
    if (consumer.rtpParameters.codecs[0]!.mimeType === loadCodec.mimeType) return consumer
    const stream = { consumer, reader: new Vp8Reader(), text: '' }
    this.streams.push(stream)
    consumer.on('rtp', (packet) => {
      // mediasoup writes an error of a listener to its log.
      try {
        const { data } = stream.reader.add(withoutExtension(packet))
        stream.text = data.toString('latin1').match(/^[PQ](.*)\/\d+$/)?.[1] ?? 'still'
      } catch (error) {
        this.faults.push(error as Error)
      }
    })
    this.#reportRoundTrips(consumer)
    await consumer.resume()
    return consumer
  }

  // Direct transports send no sender reports, so that mediasoup knows no round trip times.
  #reportRoundTrips(consumer: types.Consumer): void {
    const stats = consumer.getStats.bind(consumer)
    let reports = 0
    consumer.getStats = async () => {
      const jitter = 90 * (1 + (reports++ % 2))
      return (await stats()).map((stat) => ({ ...stat, jitter, roundTripTime: 10 }))
    }
  }
}
