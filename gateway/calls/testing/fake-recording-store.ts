import type { MediaPort, RoomRecording, RoomRecordRequest } from '../../../media/types.ts'
import type {
  RecordingOrder,
  RecordingStore,
  RoomRecordingOrder,
  RoomRecordingStore,
  StoredRecording,
  StoredRoomRecording,
} from '../audio/recording-store.ts'

/** Store without files; the fake port ends the recordings. */
export class FakeRecordingStore implements RecordingStore, RoomRecordingStore {
  readonly orders: RecordingOrder[] = []
  readonly roomOrders: RoomRecordingOrder[] = []
  /** Thrown by the next {@link start}. */
  refusal: Error | undefined

  start(port: Pick<MediaPort, 'record'>, order: RecordingOrder): StoredRecording {
    if (this.refusal) throw this.refusal
    this.orders.push(order)
    const id = `r-${this.orders.length}`
    const recording = port.record({ ...order.request, path: `/recordings/${id}` })
    return {
      id,
      url: `https://gw.example/${id}`,
      done: recording.done,
      ...(order.storage && { stored: recording.done.then(() => order.storage?.url) }),
      pause: (how) => recording.pause(how),
      resume: () => recording.resume(),
      stop: () => recording.stop(),
      moveTo: (to) => recording.moveTo(to),
    }
  }

  startRoom(
    record: (request: RoomRecordRequest) => RoomRecording,
    order: RoomRecordingOrder,
  ): StoredRoomRecording {
    if (this.refusal) throw this.refusal
    this.roomOrders.push(order)
    const id = `room-r-${this.roomOrders.length}`
    const { done, pause, resume, stop } = record({ path: `/recordings/${id}.webm` })
    return { id, done, pause, resume, stop }
  }
}
