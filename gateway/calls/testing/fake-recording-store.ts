import type { MediaPort } from '../../../media/types.ts'
import type { RecordingOrder, RecordingStore, StoredRecording } from '../audio/recording-store.ts'

/** Keeps recordings nowhere; their port's fake ends them. */
export class FakeRecordingStore implements RecordingStore {
  readonly wanted: RecordingOrder[] = []
  /** Thrown by the next {@link start}. */
  refusal: Error | undefined

  start(port: Pick<MediaPort, 'record'>, wanted: RecordingOrder): StoredRecording {
    if (this.refusal) throw this.refusal
    this.wanted.push(wanted)
    const id = `r-${this.wanted.length}`
    const recording = port.record({ ...wanted.request, path: `/recordings/${id}` })
    return {
      id,
      url: `https://gw.example/${id}`,
      done: recording.done,
      ...(wanted.storage && { stored: recording.done.then(() => wanted.storage?.url) }),
      pause: (how) => recording.pause(how),
      resume: () => recording.resume(),
      stop: () => recording.stop(),
      moveTo: (to) => recording.moveTo(to),
    }
  }
}
