import { randomUUID } from 'node:crypto'
import type { RoomFile } from '../../../media/types.ts'
import { cleanUrl } from '../../callbacks/redirects.ts'
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
  /** Called once the file has pictures to show. */
  readonly onPicture: () => void
}

/** Playback of a customer's file into one room. It fetches the file first; requests may come meanwhile. */
export class FilePlayback implements RoomMediaPlayback {
  readonly id = randomUUID()
  readonly url: string
  readonly done: Promise<{ readonly failure?: string }>
  readonly #deps: FilePlaybackDeps
  readonly #settle: (end: { readonly failure?: string }) => void
  readonly #fetching = new AbortController()
  #file: RoomFile | undefined
  /** Place to begin at; after the end, the last place. */
  #placeMs: number
  #volume: number
  #isPaused = false
  #isEnded = false

  constructor({ url, volume, fromMs }: PlaybackRequest, deps: FilePlaybackDeps) {
    const { promise, resolve } = Promise.withResolvers<{ readonly failure?: string }>()
    this.done = promise
    this.#settle = resolve
    this.url = cleanUrl(url)
    this.#volume = volume
    this.#placeMs = fromMs
    this.#deps = deps
    this.#open(url).catch((error: Error) => this.#end(failureOf(error)))
  }

  get positionMs(): number {
    return this.#file?.positionMs ?? this.#placeMs
  }

  pause(): void {
    this.#isPaused = true
    this.#file?.pause()
  }

  resume(): void {
    this.#isPaused = false
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
    this.#end()
  }

  async #open(url: string): Promise<void> {
    const { seated, room, onPicture } = this.#deps
    const file = await seated.open(url, this.#fetching.signal)
    // Ended while it was opened.
    if (this.#isEnded) return seated.close()
    this.#file = file
    file.onEnd(({ failure }) => this.#end(failure))
    room.addFile(this.id, file, this.#volume)
    if (this.#isPaused) file.seek(this.#placeMs)
    else file.play(this.#placeMs)
    if (file.hasVideo) onPicture()
  }

  #end(failure?: string): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#placeMs = this.positionMs
    this.#fetching.abort()
    const { seated, room } = this.#deps
    if (this.#file) room.removeFile(this.id, this.#file)
    this.#file = undefined
    // Nothing is left to report an error of closing to.
    void seated.close().catch(() => undefined)
    this.#settle(failure === undefined ? {} : { failure })
  }
}

const failureOf = (error: Error): string =>
  error instanceof TrunklineError
    ? `The file cannot be fetched. ${error.detail ?? error.message}`
    : `The file cannot be played: ${error.message}.`
