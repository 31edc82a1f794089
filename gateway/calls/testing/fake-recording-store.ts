import type { MediaPort } from '../../../media/types.ts'
import type { RecordingOrder, RecordingStore, StoredRecording } from '../audio/recording-store.ts'

/** Store without files; the fake port ends the recordings. */
export class FakeRecordingStore implements RecordingStore {
  readonly orders: RecordingOrder[] = []
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
}
