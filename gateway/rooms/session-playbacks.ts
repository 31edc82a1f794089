import type { Clock } from '../core/clock.ts'
import { TrunklineError } from '../core/errors/catalogue.ts'
import { LatestRecords } from './latest-records.ts'
import type { PlaybackRequest, RoomEvent, RoomMediaPlayback, RoomPlayback } from './room-types.ts'

/** Collaborators of {@link SessionPlaybacks}. */
export interface SessionPlaybacksDeps {
  /**
   * Starts a playback in the media. Calls `onPicture` once the file has pictures to show. Throws an error
   * with a code of the catalogue.
   */
  readonly play: (request: PlaybackRequest, onPicture: () => void) => RoomMediaPlayback
  readonly clock: Pick<Clock, 'now'>
  readonly emit: (event: RoomEvent & { readonly kind: `playback.${string}` }) => void
  /** Called when {@link SessionPlaybacks.pictureId} exists. */
  readonly onPicture: () => void
}

/** One playback with its media. */
interface KnownPlayback {
  readonly media: RoomMediaPlayback
  readonly startedAt: number
  state: RoomPlayback['state']
  volume: number
  hasPicture: boolean
  endedAt: number | undefined
  failure: string | undefined
}

/** Playbacks of files into a room session, at most one at a time. They end with the session at the latest. */
export class SessionPlaybacks {
  readonly #deps: SessionPlaybacksDeps
  readonly #known = new LatestRecords<KnownPlayback>(({ state }) => state === 'completed')

  constructor(deps: SessionPlaybacksDeps) {
    this.#deps = deps
  }

  /** Playbacks of the session, the earliest first. */
  get list(): readonly RoomPlayback[] {
    return this.#known.all.map(view)
  }

  /** Id of the playback in progress, if it has pictures. */
  get pictureId(): string | undefined {
    return this.#known.inProgress.find(({ hasPicture }) => hasPicture)?.media.id
  }

  /**
   * Starts a playback. Throws `too_many_playbacks` if one is in progress, `ffmpeg_missing`, and
   * `bad_playback_url`. A file that cannot be fetched or read ends the playback later.
   */
  start(request: PlaybackRequest): RoomPlayback {
    if (this.#known.inProgress.length > 0) throw new TrunklineError('too_many_playbacks')
    const media = this.#deps.play(request, () => {
      playback.hasPicture = true
      if (playback.state !== 'completed') this.#deps.onPicture()
    })
    const playback: KnownPlayback = {
      media,
      startedAt: this.#deps.clock.now(),
      state: 'playing',
      volume: request.volume,
      hasPicture: false,
      endedAt: undefined,
      failure: undefined,
    }
    this.#known.add(media.id, playback)
    this.#deps.emit({ kind: 'playback.started', playback: view(playback) })
    void media.done.then(({ failure }) => this.#ended(playback, failure))
    return view(playback)
  }

  /** Pauses a playback. Throws `unknown_playback` unless it is in progress, as the following methods do. */
  pause(id: string): RoomPlayback {
    const playback = this.#find(id)
    if (playback.state === 'paused') return view(playback)
    playback.media.pause()
    playback.state = 'paused'
    return this.#changed(playback)
  }

  /** Resumes a playback. */
  resume(id: string): RoomPlayback {
    const playback = this.#find(id)
    if (playback.state === 'playing') return view(playback)
    playback.media.resume()
    playback.state = 'playing'
    return this.#changed(playback)
  }

  /** Sets the volume, −50 to 50 dB. */
  setVolume(id: string, volume: number): RoomPlayback {
    const playback = this.#find(id)
    playback.media.setVolume(volume)
    playback.volume = volume
    return this.#changed(playback)
  }

  /** Goes to a place in the file, in ms. A negative place is its beginning. */
  seek(id: string, positionMs: number): RoomPlayback {
    const playback = this.#find(id)
    playback.media.seek(Math.max(0, positionMs))
    return this.#changed(playback)
  }

  /** Moves forward by a number of ms, or back if it is negative. */
  seekBy(id: string, ms: number): RoomPlayback {
    return this.seek(id, this.#find(id).media.positionMs + ms)
  }

  /** Ends a playback. */
  stop(id: string): RoomPlayback {
    const playback = this.#find(id)
    playback.media.stop()
    this.#ended(playback)
    return view(playback)
  }

  /** Ends all playbacks. */
  close(): void {
    for (const { media } of this.#known.inProgress) this.stop(media.id)
  }

  #find(id: string): KnownPlayback {
    const playback = this.#known.get(id)
    if (!playback || playback.state === 'completed') throw new TrunklineError('unknown_playback')
    return playback
  }

  #changed(playback: KnownPlayback): RoomPlayback {
    this.#deps.emit({ kind: 'playback.updated', playback: view(playback) })
    return view(playback)
  }

  #ended(playback: KnownPlayback, failure?: string): void {
    if (playback.state === 'completed') return
    playback.state = 'completed'
    playback.hasPicture = false
    playback.endedAt = this.#deps.clock.now()
    playback.failure = failure
    this.#deps.emit({ kind: 'playback.ended', playback: view(playback) })
  }
}

const view = ({ media, state, volume, startedAt, endedAt, failure }: KnownPlayback): RoomPlayback => ({
  id: media.id,
  url: media.url,
  state,
  volume,
  positionMs: media.positionMs,
  startedAt,
  ...(endedAt !== undefined && { endedAt }),
  ...(failure !== undefined && { failure }),
})
