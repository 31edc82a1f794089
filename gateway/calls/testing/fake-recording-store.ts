import type { MediaPort, RoomRecording, RoomRecordRequest } from '../../../media/types.ts'
import type {
  MemberPlace,
  RecordingManifest,
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
  /** Manifests of members' files, in the order of saving. */
  readonly manifests: RecordingManifest[] = []
  /** Number of recordings of rooms that were refused. */
  refusals = 0
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
    record: (request: RoomRecordRequest, members?: MemberPlace) => RoomRecording,
    order: RoomRecordingOrder,
  ): StoredRoomRecording {
    if (this.refusal) {
      this.refusals++
      throw this.refusal
    }
    this.roomOrders.push(order)
    const id = `room-r-${this.roomOrders.length}`
    const members = {
      pathOf: (name: string) => `/recordings/${id}.members/${name}`,
      save: (manifest: RecordingManifest) => void this.manifests.push(structuredClone(manifest)),
    }
    const recording = record({ path: `/recordings/${id}.webm` }, order.hasMembers ? members : undefined)
    return {
      id,
      done: recording.done,
      pause: () => recording.pause(),
      resume: () => recording.resume(),
      stop: () => recording.stop(),
    }
  }
}
