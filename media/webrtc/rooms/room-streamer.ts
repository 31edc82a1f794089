import type { Duplex } from 'node:stream'
import type { MediaClock } from '../../clock.ts'
import type { Ffmpeg } from '../../ffmpeg/ffmpeg.ts'
import { LiveEncoder } from '../../ffmpeg/live-encoder.ts'
import { RtmpError } from '../../ffmpeg/rtmp/rtmp-errors.ts'
import { RtmpPublisher } from '../../ffmpeg/rtmp/rtmp-publisher.ts'
import type {
  RoomFrames,
  RoomStream,
  RoomStreamEnd,
  RoomStreamFault,
  RoomStreamTarget,
  StreamedRoom,
} from '../../types.ts'
import { MixFeed } from './mix-feed.ts'

/** Maximum time until the server has accepted the stream, in ms. */
const maxStartMs = 15_000
/** Maximum bytes that wait for the server: 24 s. More means that its path is too slow for the stream. */
const maxWaitingBytes = 8_000_000

/** Maximum time until the server has taken the rest of the stream and its end, in ms. */
const maxHangUpMs = 5000

/** Collaborators of a {@link RoomStreamer}. */
export interface RoomStreamerDeps {
  readonly ffmpeg: Pick<Ffmpeg, 'run'>
  readonly clock: MediaClock
}

/**
 * Sends the picture and the mix of a room to a server by RTMP, see {@link RoomStream}. ffmpeg starts once the
 * server has accepted the stream.
 */
export class RoomStreamer implements RoomStream {
  readonly done: Promise<RoomStreamEnd>
  readonly #settle: (end: RoomStreamEnd) => void
  readonly #room: StreamedRoom
  readonly #deps: RoomStreamerDeps
  readonly #publisher: RtmpPublisher
  readonly #connecting = new AbortController()
  /** Functions that close the parts of the stream. */
  readonly #closers: (() => void)[] = []
  #socket: Duplex | undefined
  /** Time at which the server accepted the stream; undefined before. */
  #acceptedAt: number | undefined
  #hasEnded = false

  constructor(room: StreamedRoom, target: RoomStreamTarget, deps: RoomStreamerDeps) {
    const { promise, resolve } = Promise.withResolvers<RoomStreamEnd>()
    this.done = promise
    this.#settle = resolve
    this.#room = room
    this.#deps = deps
    const late = deps.clock.after(maxStartMs, () => this.#lateStart())
    this.#closers.push(() => late.cancel())
    this.#publisher = new RtmpPublisher(target, {
      send: (bytes) => this.#send(bytes),
      onStart: () => {
        late.cancel()
        this.#stream()
      },
    })
    target.connect(this.#connecting.signal).then(
      (socket) => this.#connected(socket),
      (error: Error) => this.#end('unreachable', error.message),
    )
  }

  stop(): void {
    this.#end()
  }

  #connected(socket: Duplex): void {
    let reason = 'the server has ended it'
    socket.on('error', ({ code = '' }: NodeJS.ErrnoException) => {
      if (code !== '') reason = code
    })
    if (this.#hasEnded) {
      socket.destroy()
      return
    }
    this.#socket = socket
    socket.on('data', (bytes: Buffer) => this.#receive(bytes))
    socket.on('close', () => this.#lost(`The connection to the server is lost: ${reason}.`))
    this.#publisher.start()
  }

  #send(bytes: Buffer): void {
    const socket = this.#socket
    if (!socket?.writable) return
    socket.write(bytes)
    if (socket.writableLength > maxWaitingBytes) this.#end('slow', 'The server takes the stream too slowly.')
  }

  #receive(bytes: Buffer): void {
    try {
      this.#publisher.receive(bytes)
    } catch (error) {
      if (error instanceof RtmpError) this.#lost(error.message)
      else this.#lost('The gateway cannot read what the server sends.', String(error))
    }
  }

  #lost(failure: string, detail?: string): void {
    this.#end(this.#acceptedAt === undefined ? 'refused' : 'lost', failure, detail)
  }

  #lateStart(): void {
    const failure = 'The server has not accepted the stream within 15 s.'
    this.#end(this.#socket ? 'refused' : 'unreachable', failure)
  }

  #stream(): void {
    const { ffmpeg, clock } = this.#deps
    const { mixer, video } = this.#room
    this.#acceptedAt = clock.now()
    let frames: RoomFrames | undefined
    const encoder = new LiveEncoder(
      ffmpeg,
      {
        onTag: (tag) => void this.#publisher.publish(tag),
        onKeyNeeded: () => frames?.requestKeyFrame(),
        onEnd: ({ message }) => this.#end('encoder', 'The stream cannot be encoded.', message),
      },
      clock,
    )
    const mix = new MixFeed(mixer, clock, (at, packet) => encoder.addAudio(at, packet))
    frames = video.watchFrames(({ at, data, size }) => encoder.addVideo(at, data, size))
    this.#closers.push(
      () => mix.close(),
      () => frames?.close(),
      () => encoder.close(),
    )
  }

  #end(fault?: RoomStreamFault, failure?: string, detail?: string): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    const sentMs = this.#acceptedAt === undefined ? 0 : this.#deps.clock.now() - this.#acceptedAt
    this.#connecting.abort()
    for (const close of this.#closers.splice(0)) close()
    this.#hangUp(fault === undefined)
    this.#settle({
      sentMs,
      ...(fault !== undefined && { fault }),
      ...(failure !== undefined && { failure }),
      ...(detail !== undefined && { detail }),
    })
  }

  /** Closes the connection. `isOrderly`: the server gets the rest of the stream and its end. */
  #hangUp(isOrderly: boolean): void {
    const socket = this.#socket
    if (!isOrderly) socket?.destroy()
    this.#publisher.end()
    if (!socket || !isOrderly) return
    // A server may stop reading, and keep the connection alive with bytes of its own.
    const late = this.#deps.clock.after(maxHangUpMs, () => socket.destroy())
    socket.on('close', () => late.cancel())
    socket.end(() => socket.destroy())
  }
}
