import type { Duplex } from 'node:stream'
import type { Mixer } from './mixer.ts'
import type { RoomFileEnd } from './room-file.ts'
import type { RoomVideo } from './room-video.ts'

/** Destination of a stream of a room by RTMP. */
export interface RoomStreamTarget {
  /** URL without the key, such as `rtmp://live.example.com/app`. */
  readonly tcUrl: string
  readonly app: string
  /** Secret. */
  readonly key: string
  /** Connects to the server, also with TLS. `signal` gives up. */
  connect(signal: AbortSignal): Promise<Duplex>
}

/** Mix and picture of a room. */
export interface StreamedRoom {
  readonly mixer: Pick<Mixer, 'onPacket'>
  readonly video: Pick<RoomVideo, 'watchFrames'>
}

/** Stream of a room in progress, in H.264 and AAC. */
export interface RoomStream {
  /** Settles at the end, with the reason if the room did not end it. Never rejects. */
  readonly done: Promise<RoomFileEnd>
  /** Ends the stream. Idempotent. */
  stop(): void
}
