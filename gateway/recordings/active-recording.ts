import type { Recording } from '../../media/types.ts'
import type { RecordingRow } from '../directory/recordings.ts'

/** A recording that is under way. What is told to one that is over does nothing. */
export class ActiveRecording {
  readonly row: RecordingRow
  /** Settles when it is over, and written down. */
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

  /** `skip` leaves the pause out, `silence` puts silence there. */
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
