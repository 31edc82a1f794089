import type { MediaClock, MediaTimer } from '../../clock.ts'
import type { Ffmpeg } from '../../ffmpeg/ffmpeg.ts'
import { FilePlayer, type PlayedFile } from '../../ffmpeg/file-player.ts'
import { guard } from '../../guard.ts'
import { isKeyFrame } from '../../rooms/vp8-descriptor.ts'
import type { MediaPort, RoomFile, RoomFileEnd } from '../../types.ts'
import type { SourceSound } from '../source-session.ts'
import type { VideoSource } from '../video/incoming-video.ts'
import type { FileStreams } from './file-streams.ts'

/** Time between two repetitions of the picture of a paused file, in ms. */
const repeatMs = 1000

/** Collaborators of a {@link FileSource}. */
export interface FileSourceDeps {
  readonly ffmpeg: Pick<Ffmpeg, 'run'>
  readonly clock: MediaClock
  readonly streams: FileStreams
  /** Destination of the sound; absent for a file without. */
  readonly sound?: SourceSound | undefined
}

/** Pictures and sound of a file as a source of a room, see {@link RoomFile}. Owns its streams. */
export class FileSource implements RoomFile {
  readonly hasVideo: boolean
  readonly durationMs: number | undefined
  readonly port?: MediaPort
  readonly #clock: MediaClock
  readonly #streams: FileStreams
  readonly #sound: SourceSound | undefined
  readonly #player: FilePlayer
  readonly #openedAt: number
  /** Time at which the present place in the file began, in ms from the opening. */
  #placeAt = 0
  #isFirstPacket = true
  /** Latest key frame: at most a second old, and in a pause its picture. */
  #still: Buffer | undefined
  #repeat: MediaTimer | undefined
  #end: RoomFileEnd | undefined
  #onEnd: (end: RoomFileEnd) => void = () => {}
  #isClosed = false
  #closing: Promise<void> | undefined

  constructor(played: PlayedFile, { ffmpeg, clock, streams, sound }: FileSourceDeps) {
    this.hasVideo = played.facts.hasVideo
    this.durationMs = played.facts.durationMs
    if (sound) this.port = sound.port
    this.#clock = clock
    this.#streams = streams
    this.#sound = sound
    this.#openedAt = clock.now()
    this.#player = new FilePlayer(ffmpeg, clock, played, {
      onPlace: () => this.#placed(),
      onFrame: (atMs, data) => this.#sendFrame(atMs, data),
      onPacket: (atMs, data) => this.#sendPacket(atMs, data),
      onEnd: (error) => this.#ended(error?.message),
    })
    for (const stream of [streams.pictures, streams.sound])
      stream?.onLost(() => this.#ended('the media process has ended'))
  }

  /** Stream of the pictures; undefined without. */
  get current(): VideoSource | undefined {
    return this.#streams.pictures?.source
  }

  /** Has no effect: the stream never changes. */
  watch(): () => void {
    return () => {}
  }

  get positionMs(): number {
    return this.#player.positionMs
  }

  play(fromMs?: number): void {
    this.#player.play(fromMs)
  }

  pause(): void {
    this.#player.pause()
  }

  seek(toMs: number): void {
    this.#player.seek(toMs)
  }

  onEnd(listener: (end: RoomFileEnd) => void): void {
    this.#onEnd = guard(listener)
    if (this.#end) queueMicrotask(() => this.#report())
  }

  close(): Promise<void> {
    this.#isClosed = true
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const stopped = this.#stop()
    this.#streams.pictures?.close()
    this.#streams.sound?.close()
    this.#sound?.relay.close()
    await Promise.all([stopped, this.port?.close()])
  }

  #ended(failure?: string): void {
    if (this.#isClosed || this.#end) return
    void this.#stop()
    this.#end = failure === undefined ? {} : { failure }
    this.#report()
  }

  #report(): void {
    if (this.#end && !this.#isClosed) this.#onEnd(this.#end)
  }

  /** Resolves when ffmpeg has ended. */
  #stop(): Promise<void> {
    this.#repeat?.cancel()
    return this.#player.close()
  }

  #placed(): void {
    this.#placeAt = this.#now
    this.#isFirstPacket = true
    this.#repeat?.cancel()
    // The last picture remains until the one of the new place, which may have none.
    if (this.#player.isPaused && this.hasVideo) this.#repeatLater()
  }

  get #now(): number {
    return this.#clock.now() - this.#openedAt
  }

  #sendFrame(atMs: number, data: Buffer): void {
    this.#streams.pictures?.send(data, this.#placeAt + atMs)
    if (isKeyFrame(data)) this.#still = data
    if (this.#player.isPaused) this.#repeatLater()
  }

  /** Repeats the picture of a pause for viewers that come later. */
  #repeatLater(): void {
    this.#repeat?.cancel()
    this.#repeat = this.#clock.after(repeatMs, () => {
      if (this.#still) this.#streams.pictures?.send(this.#still, this.#now)
      this.#repeatLater()
    })
  }

  #sendPacket(atMs: number, data: Uint8Array): void {
    this.#streams.sound?.send(data, this.#placeAt + atMs, this.#isFirstPacket)
    this.#isFirstPacket = false
  }
}
