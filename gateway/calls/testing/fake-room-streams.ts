import type { RoomFileEnd, RoomStream, RoomStreamTarget, StreamedRoom } from '../../../media/types.ts'
import { readRtmpUrl } from '../../callbacks/rtmp-target.ts'

/** Stream of a room that the test ends. */
export class FakeRoomStream implements RoomStream {
  readonly target: RoomStreamTarget
  readonly done: Promise<RoomFileEnd>
  /** Ends the stream. */
  readonly end: (end: RoomFileEnd) => void

  constructor(target: RoomStreamTarget) {
    const { promise, resolve } = Promise.withResolvers<RoomFileEnd>()
    this.target = target
    this.done = promise
    this.end = resolve
  }

  stop(): void {
    this.end({})
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
