import type { Clock } from '../core/clock.ts'
import { TrunklineError } from '../core/errors/catalogue.ts'
import { LatestRecords } from './latest-records.ts'
import type { RoomEvent, RoomMediaStream, RoomStream } from './room-types.ts'

/** Maximum number of streams in progress. */
const maxInProgress = 3

/** Collaborators of {@link SessionStreams}. */
export interface SessionStreamsDeps {
  /** Starts a stream of the media to a URL. Throws an error with a code of the catalogue. */
  readonly stream: (url: string) => RoomMediaStream
  readonly clock: Pick<Clock, 'now'>
  readonly emit: (...events: readonly RoomEvent[]) => void
}

/** One stream with its media. */
interface KnownStream {
  readonly media: RoomMediaStream
  readonly startedAt: number
  endedAt: number | undefined
  failure: string | undefined
}

/** Streams of a room session to servers, which end with it at the latest. */
export class SessionStreams {
  readonly #deps: SessionStreamsDeps
  readonly #known = new LatestRecords<KnownStream>(({ endedAt }) => endedAt !== undefined)

  constructor(deps: SessionStreamsDeps) {
    this.#deps = deps
  }

  /** Streams of the session, the earliest first. */
  get list(): readonly RoomStream[] {
    return this.#known.all.map((each) => this.#view(each))
  }

  /** Whether a stream is in progress. */
  get isStreaming(): boolean {
    return this.#known.inProgress.length > 0
  }

  /**
   * Starts a stream. Throws `too_many_room_streams` if three are in progress, `ffmpeg_missing`, and
   * `bad_room_stream_url`. A server that cannot be reached ends the stream later.
   */
  start(url: string): RoomStream {
    if (this.#known.inProgress.length >= maxInProgress) throw new TrunklineError('too_many_room_streams')
    const media = this.#deps.stream(url)
    const startedAt = this.#deps.clock.now()
    const stream: KnownStream = { media, startedAt, endedAt: undefined, failure: undefined }
    this.#known.add(media.id, stream)
    const isFirst = this.#known.inProgress.length === 1
    this.#deps.emit({ kind: 'stream.started', stream: this.#view(stream) }, ...(isFirst ? [roomUpdated] : []))
    void media.done.then(({ failure }) => this.#ended(stream, failure))
    return this.#view(stream)
  }

  /** Ends a stream. Throws `unknown_room_stream` unless it is in progress. */
  stop(id: string): RoomStream {
    const stream = this.#known.get(id)
    if (!stream || stream.endedAt !== undefined) throw new TrunklineError('unknown_room_stream')
    stream.media.stop()
    this.#ended(stream)
    return this.#view(stream)
  }

  /** Ends all streams. */
  close(): void {
    for (const { media } of this.#known.inProgress) this.stop(media.id)
  }

  #ended(stream: KnownStream, failure?: string): void {
    if (stream.endedAt !== undefined) return
    stream.endedAt = this.#deps.clock.now()
    stream.failure = failure
    const isLast = !this.isStreaming
    this.#deps.emit({ kind: 'stream.ended', stream: this.#view(stream) }, ...(isLast ? [roomUpdated] : []))
  }

  #view({ media, startedAt, endedAt, failure }: KnownStream): RoomStream {
    return {
      id: media.id,
      url: media.url,
      state: endedAt === undefined ? 'streaming' : 'completed',
      startedAt,
      durationMs: (endedAt ?? this.#deps.clock.now()) - startedAt,
      ...(endedAt !== undefined && { endedAt }),
      ...(failure !== undefined && { failure }),
    }
  }
}

const roomUpdated: RoomEvent = { kind: 'room.updated', updated: ['streaming'] }
