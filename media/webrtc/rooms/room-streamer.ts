import type { Duplex } from 'node:stream'
import type { MediaClock } from '../../clock.ts'
import type { Ffmpeg } from '../../ffmpeg/ffmpeg.ts'
import { LiveEncoder } from '../../ffmpeg/live-encoder.ts'
import type { FlvTag } from '../../ffmpeg/rtmp/flv-reader.ts'
import { RtmpPublisher } from '../../ffmpeg/rtmp/rtmp-publisher.ts'
import { StreamTimeline } from '../../rooms/stream-timeline.ts'
import type { RoomFileEnd, RoomStream, RoomStreamTarget, StreamedRoom } from '../../types.ts'

/** Duration of a packet of the mix, in ms. */
const packetMs = 20
/** Maximum time until the server has accepted the stream, in ms. */
const maxStartMs = 15_000
/** Maximum bytes that wait for the server. More means that its path is too slow for the stream. */
const maxWaitingBytes = 8_000_000

/** Collaborators of a {@link RoomStreamer}. */
export interface RoomStreamerDeps {
  readonly ffmpeg: Pick<Ffmpeg, 'run'>
  readonly clock: MediaClock
}

/** Sends the picture and the mix of a room to a server by RTMP, see {@link RoomStream}. */
export class RoomStreamer implements RoomStream {
  readonly done: Promise<RoomFileEnd>
  readonly #settle: (end: RoomFileEnd) => void
  readonly #room: StreamedRoom
  readonly #target: RoomStreamTarget
  readonly #deps: RoomStreamerDeps
  readonly #connecting = new AbortController()
  /** Functions that close the parts of the stream. */
  readonly #closers: (() => void)[] = []
  #hasEnded = false

  constructor(room: StreamedRoom, target: RoomStreamTarget, deps: RoomStreamerDeps) {
    const { promise, resolve } = Promise.withResolvers<RoomFileEnd>()
    this.done = promise
    this.#settle = resolve
    this.#room = room
    this.#target = target
    this.#deps = deps
    const timer = deps.clock.after(maxStartMs, () => this.#end('The server does not accept the stream.'))
    this.#closers.push(() => timer.cancel())
    target.connect(this.#connecting.signal).then(
      (socket) => this.#connected(socket, () => timer.cancel()),
      (error: Error) => this.#end(error.message),
    )
  }

  stop(): void {
    this.#end()
  }

  #connected(socket: Duplex, onStart: () => void): void {
    socket.on('error', ({ message }: Error) => this.#end(`The connection to the server failed: ${message}.`))
    if (this.#hasEnded) {
      socket.destroy()
      return
    }
    this.#closers.push(() => socket.destroy())
    const publisher = new RtmpPublisher(this.#target, {
      send: (bytes) => {
        socket.write(bytes)
        if (socket.writableLength > maxWaitingBytes) this.#end('The server receives the stream too slowly.')
      },
      onStart: () => {
        onStart()
        this.#stream((tag) => void publisher.publish(tag))
      },
    })
    socket.on('data', (bytes: Buffer) => {
      try {
        publisher.receive(bytes)
      } catch (error) {
        this.#end((error as Error).message)
      }
    })
    socket.on('close', () => this.#end('The server has ended the connection.'))
    publisher.start()
  }

  #stream(onTag: (tag: FlvTag) => void): void {
    const { ffmpeg, clock } = this.#deps
    const onEnd = ({ message }: Error) => this.#end(`The stream cannot be encoded: ${message}.`)
    const encoder = new LiveEncoder(ffmpeg, { onTag, onEnd }, clock)
    const timeline = new StreamTimeline()
    let packets = 0
    const endAudio = this.#room.mixer.onPacket((packet, delayMs) =>
      encoder.addAudio(timeline.at(clock.now(), packets++ * packetMs) - delayMs, packet),
    )
    const frames = this.#room.video.watchFrames(({ at, data, size }) => encoder.addVideo(at, data, size))
    this.#closers.push(
      endAudio,
      () => frames.close(),
      () => encoder.close(),
    )
  }

  #end(failure?: string): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#connecting.abort()
    for (const close of this.#closers.splice(0)) close()
    this.#settle(failure === undefined ? {} : { failure })
  }
}
