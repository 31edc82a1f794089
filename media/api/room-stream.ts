import type { Duplex } from 'node:stream'
import type { Mixer } from './mixer.ts'
import type { RoomVideo } from './room-video.ts'

/** Destination of a stream of a room by RTMP. */
export interface RoomStreamTarget {
  /** URL without the key, such as `rtmp://live.example.com/app`. */
  readonly tcUrl: string
  readonly app: string
  /** Secret. */
  readonly key: string
  /**
   * Connects to the server, also with TLS. `signal` gives up. Rejects with an Error whose message is for
   * customers.
   */
  connect(signal: AbortSignal): Promise<Duplex>
}

/** Mix and picture of a room. */
export interface StreamedRoom {
  readonly mixer: Pick<Mixer, 'onPacket'>
  readonly video: Pick<RoomVideo, 'watchFrames'>
}

/**
 * Cause of the end of a stream. `unreachable`: no connection. `refused`: the server did not accept it.
 * `lost`: the server ended it. `slow`: the server takes it too slowly. `encoder`: ffmpeg failed.
 */
export type RoomStreamFault = 'unreachable' | 'refused' | 'lost' | 'slow' | 'encoder'

/** End of a {@link RoomStream}. */
export interface RoomStreamEnd {
  /** Absent if the room ended the stream, as the further facts then are. */
  readonly fault?: RoomStreamFault
  /** Reason for customers, in one sentence without the key. */
  readonly failure?: string
  /** Reason of ffmpeg, for the gateway's log alone; absent if `failure` has it. */
  readonly detail?: string
  /** Time for which the server took the stream, in ms. */
  readonly sentMs: number
}

/** Stream of a room in progress, in H.264 and AAC. */
export interface RoomStream {
  /** Settles at the end. Never rejects. */
  readonly done: Promise<RoomStreamEnd>
  /** Ends the stream. Idempotent. */
  stop(): void
}
