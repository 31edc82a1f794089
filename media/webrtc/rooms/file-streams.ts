import { randomInt, randomUUID } from 'node:crypto'
import type { types } from 'mediasoup'
import { unitsPerMs, Vp8Packetizer } from '../../compose/vp8-packetizer.ts'
import { OpusPacketizer } from '../../ffmpeg/opus-packetizer.ts'
import { codecsOf } from '../routers.ts'
import { ownVideo } from '../sdp/video-format.ts'
import type { SourceSound } from '../source-session.ts'
import type { VideoSource } from '../video/incoming-video.ts'
import type { MediaWorker } from '../worker-supervisor.ts'

/** RTP streams of a file in mediasoup, whose packets come from the gateway. */
export interface FileStreams {
  readonly pictures?: PictureStream
  readonly sound?: SoundStream
}

/** Opens the streams of a file. `sound`: absent for a file without. */
export const openFileStreams = async (
  worker: MediaWorker,
  hasVideo: boolean,
  sound: SourceSound | undefined,
): Promise<FileStreams> => {
  const pictures = hasVideo ? await PictureStream.open(worker) : undefined
  try {
    const opened = sound && (await SoundStream.open(sound))
    return { ...(pictures && { pictures }), ...(opened && { sound: opened }) }
  } catch (error) {
    pictures?.close()
    throw error
  }
}

/** Pictures of a file in VP8. */
export class PictureStream {
  readonly source: VideoSource
  readonly #transport: types.DirectTransport
  readonly #packetizer: Vp8Packetizer
  #units = 0

  private constructor(transport: types.DirectTransport, source: VideoSource, packetizer: Vp8Packetizer) {
    this.#transport = transport
    this.source = source
    this.#packetizer = packetizer
  }

  static async open(worker: MediaWorker): Promise<PictureStream> {
    const router = await worker.routers.video(ownVideo)
    const { payloadType, clockRate } = ownVideo
    const ssrc = randomInt(1, 2 ** 32 - 1)
    const cname = randomUUID()
    const packetizer = new Vp8Packetizer({
      ssrc,
      payloadType,
      cname,
      sequence: randomInt(0x10000),
      timestamp: randomInt(2 ** 32),
      pictureId: randomInt(0x8000),
    })
    const { transport, producer } = await openProducer(router, {
      kind: 'video',
      rtpParameters: {
        codecs: [{ mimeType: 'video/VP8', payloadType, clockRate }],
        encodings: [{ ssrc }],
        rtcp: { cname },
      },
    })
    return new PictureStream(transport, { producer, line: { router, worker }, format: ownVideo }, packetizer)
  }

  /** Sends a frame. `atMs`: its time in the stream; an earlier one than the last counts as the next. */
  send(frame: Buffer, atMs: number): void {
    const { producer } = this.source
    if (producer.closed) return
    this.#units = Math.max(Math.round(atMs * unitsPerMs), this.#units + 1)
    for (const packet of this.#packetizer.packetize(frame, this.#units)) producer.send(packet)
  }

  /** Calls `listener` if the stream ends by itself, or has ended before. */
  onLost(listener: () => void): void {
    onTransportClosed(this.#transport, listener)
  }

  close(): void {
    this.#transport.close()
  }
}

/** Sound of a file in Opus, on its way to a port of the edge. */
export class SoundStream {
  readonly #transport: types.DirectTransport
  readonly #producer: types.Producer
  readonly #packetizer: OpusPacketizer

  private constructor(
    transport: types.DirectTransport,
    producer: types.Producer,
    packetizer: OpusPacketizer,
  ) {
    this.#transport = transport
    this.#producer = producer
    this.#packetizer = packetizer
  }

  static async open({ relay }: SourceSound): Promise<SoundStream> {
    const packetizer = new OpusPacketizer(relay.format.payloadType)
    const { transport, producer } = await openProducer(relay.router, {
      kind: 'audio',
      rtpParameters: {
        codecs: codecsOf({ ...relay.format, events: [] }),
        encodings: [{ ssrc: packetizer.ssrc }],
        rtcp: { cname: randomUUID() },
      },
    })
    await relay.receive(producer)
    return new SoundStream(transport, producer, packetizer)
  }

  /** Sends a packet. `atMs`: its time in the stream. `isFirst`: whether it follows a pause. */
  send(packet: Uint8Array, atMs: number, isFirst: boolean): void {
    if (!this.#producer.closed) this.#producer.send(this.#packetizer.packetize(packet, atMs, isFirst))
  }

  /** Calls `listener` if the stream ends by itself, or has ended before. */
  onLost(listener: () => void): void {
    onTransportClosed(this.#transport, listener)
  }

  close(): void {
    this.#transport.close()
  }
}

/** Calls `listener` at the end of a transport, soon if it has ended before. */
export const onTransportClosed = (transport: types.DirectTransport, listener: () => void): void => {
  if (transport.closed) queueMicrotask(listener)
  else transport.observer.once('close', listener)
}

const openProducer = async (
  router: types.Router,
  options: types.ProducerOptions,
): Promise<{ readonly transport: types.DirectTransport; readonly producer: types.Producer }> => {
  const transport = await router.createDirectTransport()
  try {
    return { transport, producer: await transport.produce(options) }
  } catch (error) {
    transport.close()
    throw error
  }
}
