import type { Recording } from '../../media/types.ts'
import type { RecordingRow } from '../directory/tables/recordings.ts'

/** Recording in progress. After its end, calls have no effect. */
export class ActiveRecording {
  readonly row: RecordingRow
  /** Settles when the recording has ended and its row is complete. */
  readonly done: Promise<unknown>
  readonly #recording: Pick<Recording, 'pause' | 'resume' | 'stop'>
  #paused = false

  constructor(
    row: RecordingRow,
    recording: Pick<Recording, 'pause' | 'resume' | 'stop'>,
    done: Promise<unknown>,
  ) {
    this.row = row
    this.done = done
    this.#recording = recording
  }

  get isPaused(): boolean {
    return this.#paused
  }

  /** Pauses. `skip` leaves the pause out, `silence` records silence. */
  pause(how: 'skip' | 'silence'): void {
    this.#paused = true
    this.#recording.pause(how)
  }

  resume(): void {
    this.#paused = false
    this.#recording.resume()
  }

  stop(): void {
    this.#recording.stop()
  }
}
