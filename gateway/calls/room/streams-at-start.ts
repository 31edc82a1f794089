import type { SteadyClock, Timer } from '../../core/clock.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type { RoomSession } from '../../rooms/room-session.ts'
import { startWaitsMs } from './record-at-start.ts'

/** Collaborators of {@link StreamsAtStart}. */
export interface StreamsAtStartDeps {
  /** Reads the URLs of the streams of a room. */
  readonly urlsOf: (roomId: string) => Promise<readonly string[]>
  readonly clock: Pick<SteadyClock, 'after'>
  readonly log: Log
}

/**
 * Starts the streams that a room has with the first member of its session. One that cannot be started, such
 * as without a free place for ffmpeg, is tried again at most four times. One that was started ends by itself.
 */
export class StreamsAtStart {
  readonly #session: RoomSession
  readonly #deps: StreamsAtStartDeps
  readonly #timers = new Set<Timer>()

  constructor(session: RoomSession, deps: StreamsAtStartDeps) {
    this.#session = session
    this.#deps = deps
    const ignore = session.listen((event) => {
      if (event.kind === 'member.joined') {
        ignore()
        this.#read(0)
      }
    })
    session.listen((event) => {
      if (event.kind === 'room.ended') for (const timer of this.#timers) timer.cancel()
    })
  }

  #read(tries: number): void {
    this.#deps.urlsOf(this.#session.settings.id).then(
      (urls) => {
        for (const url of urls) this.#start(url, 0)
      },
      (error: unknown) => this.#failed(error, tries, () => this.#read(tries + 1)),
    )
  }

  #start(url: string, tries: number): void {
    if (this.#session.isEnded) return
    try {
      this.#session.streams.start(url)
    } catch (error) {
      this.#failed(error, tries, () => this.#start(url, tries + 1))
    }
  }

  #failed(error: unknown, tries: number, again: () => void): void {
    if (this.#session.isEnded) return
    const { clock, log } = this.#deps
    const waitMs = startWaitsMs[tries]
    const reason = error instanceof TrunklineError ? error.code : String(error)
    log.warn(
      { event: 'room.stream-failed', reason, waitMs },
      waitMs === undefined ? 'room not streamed' : 'room not streamed, a further attempt follows',
    )
    if (waitMs === undefined) return
    const timer = clock.after(waitMs, () => {
      this.#timers.delete(timer)
      again()
    })
    this.#timers.add(timer)
  }
}
