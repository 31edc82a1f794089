import { randomUUID } from 'node:crypto'
import type { RoomFile } from '../../../media/types.ts'
import { cleanUrl } from '../../callbacks/redirects.ts'
import type { Clock, Timer } from '../../core/clock.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import type { PlaybackRequest, RoomMediaPlayback } from '../../rooms/room-types.ts'
import type { SeatedFile } from '../audio/room-files.ts'

/** Room that a {@link FilePlayback} plays into. */
export interface PlaybackRoom {
  /** Adds the pictures and the sound of a file. `volume` in dB. */
  addFile(id: string, file: RoomFile, volume: number): void
  /** Removes a file. No effect if the id is unknown. */
  removeFile(id: string, file: RoomFile): void
}

/** Collaborators of a {@link FilePlayback}. */
export interface FilePlaybackDeps {
  readonly seated: SeatedFile
  readonly room: PlaybackRoom
  readonly clock: Pick<Clock, 'after'>
  /** Called once the file has pictures to show. */
  readonly onPicture: () => void
}

/** End of a {@link FilePlayback}. */
export interface PlaybackEnd {
  /** Reason of a failure for customers, in fixed sentences. */
  readonly failure?: string
  /** Reason of the gateway's own parts, for its log alone; absent if `failure` has it. */
  readonly detail?: string
}

/** Time after which a paused playback ends, in ms: its file keeps others waiting. */
const maxPauseMs = 30 * 60_000

/**
 * Playback of a customer's file into one room. It fetches the file first; requests may come meanwhile. A
 * pause of 30 minutes ends it.
 */
export class FilePlayback implements RoomMediaPlayback {
  readonly id = randomUUID()
  readonly url: string
  readonly done: Promise<PlaybackEnd>
  readonly #deps: FilePlaybackDeps
  readonly #settle: (end: PlaybackEnd) => void
  readonly #fetching = new AbortController()
  #file: RoomFile | undefined
  /** Place to begin at; after the end, the last place. */
  #placeMs: number
  #volume: number
  #isPaused = false
  #pause: Timer | undefined
  #isEnded = false

  constructor({ url, volume, fromMs }: PlaybackRequest, deps: FilePlaybackDeps) {
    const { promise, resolve } = Promise.withResolvers<PlaybackEnd>()
    this.done = promise
    this.#settle = resolve
    this.url = cleanUrl(url)
    this.#volume = volume
    this.#placeMs = fromMs
    this.#deps = deps
    this.#open(url).catch((error: Error) => this.#end(endOf(error)))
  }

  get positionMs(): number {
    return this.#file?.positionMs ?? this.#placeMs
  }

  pause(): void {
    if (this.#isEnded) return
    this.#isPaused = true
    this.#pause ??= this.#deps.clock.after(maxPauseMs, () => this.#end({ failure: pausedTooLong }))
    this.#file?.pause()
  }

  resume(): void {
    this.#isPaused = false
    this.#pause?.cancel()
    this.#pause = undefined
    this.#file?.play()
  }

  seek(toMs: number): void {
    this.#placeMs = Math.min(toMs, this.#file?.durationMs ?? toMs)
    this.#file?.seek(this.#placeMs)
  }

  setVolume(volume: number): void {
    this.#volume = volume
    this.#file?.port?.setVolumes({ inDb: volume, outDb: 0 })
  }

  stop(): void {
    this.#end({})
  }

  async #open(url: string): Promise<void> {
    const { seated, room, onPicture } = this.#deps
    const file = await seated.open(url, this.#fetching.signal)
    // Ended while it was opened.
    if (this.#isEnded) return seated.close()
    this.#file = file
    file.onEnd(({ failure }) =>
      this.#end(failure === undefined ? {} : { failure: unplayable('it ended early'), detail: failure }),
    )
    room.addFile(this.id, file, this.#volume)
    if (this.#isPaused) file.seek(this.#placeMs)
    else file.play(this.#placeMs)
    if (file.hasVideo) onPicture()
  }

  #end(end: PlaybackEnd): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#pause?.cancel()
    this.#placeMs = this.positionMs
    this.#fetching.abort()
    const { seated, room } = this.#deps
    if (this.#file) room.removeFile(this.id, this.#file)
    this.#file = undefined
    // Nothing is left to report an error of closing to.
    void seated.close().catch(() => undefined)
    this.#settle(end)
  }
}

const pausedTooLong = 'The playback was paused for 30 minutes.'

const unplayable = (reason: string): string => `The file cannot be played: ${reason}.`

/** Returns the end for an error of the opening. Errors of ffmpeg and the system name files of the machine. */
const endOf = (error: Error): PlaybackEnd => {
  if (error instanceof TrunklineError)
    return { failure: `The file cannot be fetched. ${error.detail ?? error.message}` }
  const isEmpty = 'code' in error && error.code === 'empty_file'
  const failure = unplayable(isEmpty ? 'it has neither pictures nor sound' : 'it could not be read')
  return { failure, detail: error.message }
}
