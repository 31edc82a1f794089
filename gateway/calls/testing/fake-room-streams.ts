import type { RoomStream, RoomStreamEnd, RoomStreamTarget, StreamedRoom } from '../../../media/types.ts'
import { readRtmpUrl } from '../../callbacks/rtmp-target.ts'

/** Stream of a room that the test ends. */
export class FakeRoomStream implements RoomStream {
  readonly target: RoomStreamTarget
  readonly done: Promise<RoomStreamEnd>
  /** Ends the stream. */
  readonly end: (end: RoomStreamEnd) => void

  constructor(target: RoomStreamTarget) {
    const { promise, resolve } = Promise.withResolvers<RoomStreamEnd>()
    this.target = target
    this.done = promise
    this.end = resolve
  }

  stop(): void {
    this.end({ sentMs: 0 })
  }
}

/** Part of `WebRtc` that streams rooms, and the connections to the servers. */
export class FakeRoomStreams {
  readonly streams: FakeRoomStream[] = []

  streamRoom = (_room: StreamedRoom, target: RoomStreamTarget): FakeRoomStream => {
    const stream = new FakeRoomStream(target)
    this.streams.push(stream)
    return stream
  }

  target = (text: string) => ({
    ...readRtmpUrl(text),
    connect: () => Promise.reject(new Error('no network in this test')),
  })
}
