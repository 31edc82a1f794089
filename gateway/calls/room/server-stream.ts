import { randomUUID } from 'node:crypto'
import type { RoomStream, RoomStreamEnd, RoomStreamTarget } from '../../../media/types.ts'
import { RtmpForbidden } from '../../callbacks/rtmp-target.ts'
import type { Clock, Timer } from '../../core/clock.ts'
import type { RoomMediaStream } from '../../rooms/room-types.ts'

/** Waits before further attempts, in ms. */
const waitsMs = [1000, 3000, 10_000, 30_000] as const
/** Time after which a stream has lasted so long that all attempts follow its next failure, in ms. */
const settledMs = 60_000

/** Failure of one attempt to stream a room. */
export interface StreamFailure extends RoomStreamEnd {
  /** Time until the next attempt, in ms; absent after the last one. */
  readonly waitMs?: number
}

/** Collaborators of a {@link ServerStream}. */
export interface ServerStreamDeps {
  /** Streams the room to a server: one attempt. */
  readonly start: (target: RoomStreamTarget) => RoomStream
  readonly clock: Pick<Clock, 'after'>
  /** Called with each failed attempt. */
  readonly onFailure: (failure: StreamFailure) => void
}

/**
 * Stream of a room to a server. A stream that the server does not take, or that is lost, is tried again after
 * 1, 3, 10 and 30 s. A minute of streaming brings back all attempts.
 */
export class ServerStream implements RoomMediaStream {
  readonly id = randomUUID()
  readonly url: string
  readonly done: RoomMediaStream['done']
  readonly #target: RoomStreamTarget
  readonly #deps: ServerStreamDeps
  readonly #settle: (end: Awaited<RoomMediaStream['done']>) => void
  #isForbidden = false
  #failures = 0
  #stream: RoomStream | undefined
  #timer: Timer | undefined
  #hasEnded = false

  /** `url`: that of the target without its key. */
  constructor(target: RoomStreamTarget, url: string, deps: ServerStreamDeps) {
    const { promise, resolve } = Promise.withResolvers<Awaited<RoomMediaStream['done']>>()
    this.done = promise
    this.#settle = resolve
    this.url = url
    this.#deps = deps
    this.#target = {
      ...target,
      connect: async (signal) => {
        try {
          return await target.connect(signal)
        } catch (error) {
          this.#isForbidden = error instanceof RtmpForbidden
          throw error
        }
      },
    }
    this.#attempt()
  }

  stop(): void {
    this.#end({})
  }

  #attempt(): void {
    const stream = this.#deps.start(this.#target)
    this.#stream = stream
    void stream.done.then((end) => {
      if (end.fault !== undefined) this.#failed(end)
    })
  }

  #failed(end: RoomStreamEnd): void {
    if (this.#hasEnded) return
    if (end.sentMs >= settledMs) this.#failures = 0
    const waitMs = this.#isForbidden ? undefined : waitsMs[this.#failures]
    this.#failures++
    this.#deps.onFailure({ ...end, ...(waitMs !== undefined && { waitMs }) })
    if (waitMs !== undefined) this.#timer = this.#deps.clock.after(waitMs, () => this.#attempt())
    else this.#end(end.failure === undefined ? {} : { failure: end.failure })
  }

  #end(end: Awaited<RoomMediaStream['done']>): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#timer?.cancel()
    this.#stream?.stop()
    this.#settle(end)
  }
}
