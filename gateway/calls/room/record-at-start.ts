import type { SteadyClock, Timer } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { RoomSession } from '../../rooms/room-session.ts'

/** Waits before further attempts at what a room does from its start, in ms. */
export const startWaitsMs = [2000, 10_000, 60_000, 300_000] as const

/** Collaborators of {@link RecordAtStart}. */
export interface RecordAtStartDeps {
  readonly clock: Pick<SteadyClock, 'after'>
  readonly log: Log
}

/**
 * Keeps the recording that the settings of a room require. One that cannot begin, or that fails, is begun
 * again, at most four times. One that a member stops is not.
 */
export class RecordAtStart {
  readonly #session: RoomSession
  readonly #deps: RecordAtStartDeps
  #recordingId: string | undefined
  #tries = 0
  #timer: Timer | undefined

  constructor(session: RoomSession, deps: RecordAtStartDeps) {
    this.#session = session
    this.#deps = deps
    if (!session.settings.recordOnStart) return
    session.listen((event) => {
      if (event.kind === 'member.joined' && this.#tries === 0) this.#start()
      if (event.kind === 'recording.ended' && event.recording.id === this.#recordingId) {
        if (event.recording.state === 'failed') this.#failed('the recording has failed')
      }
      if (event.kind === 'room.ended') this.#timer?.cancel()
    })
  }

  #start(): void {
    this.#tries++
    try {
      this.#recordingId = this.#session.recordings.start().id
    } catch (error) {
      this.#failed(String(error))
    }
  }

  #failed(reason: string): void {
    const { clock, log } = this.#deps
    const waitMs = startWaitsMs[this.#tries - 1]
    log.warn(
      { event: 'room.recording-failed', reason, ...(waitMs !== undefined && { waitMs }) },
      waitMs === undefined ? 'room not recorded' : 'room not recorded, a further attempt follows',
    )
    if (waitMs !== undefined) this.#timer = clock.after(waitMs, () => this.#start())
  }
}
