import type { Timers } from '../clock.ts'
import { type Ffmpeg, type FfmpegProcess, words } from './ffmpeg.ts'
import { type FileFacts, inputArgs } from './file-facts.ts'
import { IvfReader } from './ivf-reader.ts'
import { OggOpusReader } from './ogg-opus-reader.ts'

/** Duration of an Opus packet, in ms. */
const packetMs = 20
/** Minimum time between two starts of a process, in ms. */
const startGapMs = 200
/** Distance of a still picture from the end of the file, in ms. There is no picture at the end itself. */
const stillMarginMs = 100
/** Maximum wait for the end of a killed process, in ms. */
const maxEndMs = 3000

/** A file that is played. */
export interface PlayedFile {
  /** Descriptor of the file, which its owner closes after the player. */
  readonly file: number
  readonly facts: FileFacts
}

/** Receiver of what a {@link FilePlayer} plays, in real time. */
export interface FilePlayerListener {
  /** Receives a frame of VP8. `atMs`: time since `onPlace`, in ms. */
  onFrame(atMs: number, data: Buffer): void
  /** Receives a packet of Opus of 20 ms. `atMs` as for frames. */
  onPacket(atMs: number, data: Uint8Array): void
  /** Called before the first frames and packets of a new place in the file. */
  onPlace(): void
  /** Called once at the end: of the file, or with the reason of a failure. Not called after `close`. */
  onEnd(error?: Error): void
}

/**
 * Plays a file: decodes it in real time, and encodes its pictures in VP8 and its sound in Opus. Each new
 * place in the file needs a new process. It starts when the former one has ended, and 200 ms after the start
 * of that one at the earliest. Of several requests before, the last one counts. While the player is paused,
 * one key frame shows the place.
 */
export class FilePlayer {
  readonly #ffmpeg: Pick<Ffmpeg, 'run'>
  readonly #timers: Timers
  readonly #file: number
  readonly #facts: FileFacts
  readonly #listener: FilePlayerListener
  #process: FfmpegProcess | undefined
  /** Settles when no process is left. */
  #ended: Promise<unknown> = Promise.resolve()
  /** Whether a process is due for the present place. */
  #isDue = false
  /** Reasons to wait with a start: a process that has not ended, and a start just before. */
  #holds = 0
  #fromMs = 0
  /** Time that was played from there. */
  #playedMs = 0
  #isPaused = true
  #isClosed = false

  constructor(
    ffmpeg: Pick<Ffmpeg, 'run'>,
    timers: Timers,
    { file, facts }: PlayedFile,
    listener: FilePlayerListener,
  ) {
    this.#ffmpeg = ffmpeg
    this.#timers = timers
    this.#file = file
    this.#facts = facts
    this.#listener = listener
  }

  /** Place in the file, in ms. */
  get positionMs(): number {
    return this.#fromMs + this.#playedMs
  }

  /** Whether it stays at its place; true at first. */
  get isPaused(): boolean {
    return this.#isPaused
  }

  /** Plays from a place on, in ms; default the present one. */
  play(fromMs = this.positionMs): void {
    this.#isPaused = false
    this.#start(fromMs)
  }

  /** Stays at the present place. No effect if paused. */
  pause(): void {
    if (this.#isPaused) return
    this.#isPaused = true
    this.#start(this.positionMs)
  }

  /** Goes to a place, in ms. A paused player stays paused. */
  seek(toMs: number): void {
    this.#start(toMs)
  }

  /** Ends the playing. Idempotent. Resolves when its process has ended, after 3 s at the latest. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#kill()
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const limit = this.#timers.after(maxEndMs, resolve)
    await Promise.race([this.#ended, late])
    limit.cancel()
  }

  #start(fromMs: number): void {
    if (this.#isClosed) return
    this.#kill()
    this.#fromMs = fromMs
    this.#playedMs = 0
    this.#isDue = true
    this.#run()
  }

  #kill(): void {
    this.#process?.kill()
    this.#process = undefined
  }

  #run(): void {
    if (!this.#isDue || this.#holds > 0 || this.#isClosed) return
    this.#isDue = false
    this.#listener.onPlace()
    // Sound alone has nothing to show in a pause.
    if (this.#isPaused && !this.#facts.hasVideo) return
    const process = this.#ffmpeg.run(playArgs(this.#facts, this.#fromMs, this.#isPaused), this.#file)
    this.#process = process
    this.#read(process)
    const isPaused = this.#isPaused
    this.#holds = 2
    this.#timers.after(startGapMs, () => this.#release())
    this.#ended = process.ended.then(({ code, text }) => {
      if (this.#process === process) {
        if (code !== 0) this.#end(new Error(text === '' ? 'ffmpeg was ended' : text))
        else if (!isPaused) this.#end()
      }
      this.#release()
    })
  }

  #release(): void {
    this.#holds--
    this.#run()
  }

  #read(process: FfmpegProcess): void {
    const frames = new IvfReader()
    const packets = new OggOpusReader()
    let count = 0
    const reading = (stream: 'stdout' | 'second', read: (chunk: Buffer) => void): void => {
      process[stream].on('data', (chunk: Buffer) => {
        if (this.#process !== process) return
        try {
          read(chunk)
        } catch (error) {
          this.#end(error as Error)
        }
      })
    }
    reading('stdout', (chunk) => {
      for (const { atMs, data } of frames.push(chunk)) {
        this.#played(atMs)
        this.#listener.onFrame(atMs, data)
      }
    })
    reading('second', (chunk) => {
      for (const packet of packets.push(chunk)) {
        const atMs = count++ * packetMs
        this.#played(atMs)
        this.#listener.onPacket(atMs, packet)
      }
    })
  }

  #played(atMs: number): void {
    if (!this.#isPaused) this.#playedMs = Math.max(this.#playedMs, atMs)
  }

  #end(error?: Error): void {
    void this.close()
    this.#listener.onEnd(error)
  }
}

/** Filter that fits a picture into 1280×720, with even sides. */
const scale =
  "scale=w='min(1280,iw)':h='min(720,ih)':force_original_aspect_ratio=decrease:force_divisible_by=2"

const videoArgs: readonly string[] = [
  '-vf',
  scale,
  ...words('-map 0:V:0 -fpsmax 30 -pix_fmt yuv420p'),
  ...words('-c:v libvpx -deadline realtime -cpu-used 8 -lag-in-frames 0 -threads 2'),
  ...words('-b:v 1200k -maxrate 1500k -bufsize 1500k'),
]

/** The sound begins with the pictures, and has no gaps. */
const audioArgs: readonly string[] = [
  ...words('-map 0:a:0 -af aresample=async=1:first_pts=0 -ac 1 -ar 48000'),
  ...words('-c:a libopus -b:a 64k -frame_duration 20 -page_duration 20000'),
]

/** Viewers that come later wait for the next key frame. */
const keyFrameArgs = words('-force_key_frames expr:gte(t,n_forced)')
const videoOutput = words('-flush_packets 1 -f ivf pipe:1')
const audioOutput = words('-flush_packets 1 -f ogg pipe:4')

/** Returns the arguments to play a file from a place. `isStill`: only the picture of this place. */
const playArgs = (facts: FileFacts, fromMs: number, isStill: boolean): readonly string[] => [
  ...words('-nostdin -hide_banner -v error'),
  ...words(isStill ? '' : '-re'),
  '-ss',
  ((isStill ? stillPlace(facts, fromMs) : fromMs) / 1000).toFixed(3),
  ...inputArgs,
  ...(facts.hasVideo ? videoArgs : []),
  ...(facts.hasVideo ? (isStill ? words('-frames:v 1') : keyFrameArgs) : []),
  ...(facts.hasVideo ? videoOutput : []),
  ...(facts.hasAudio && !isStill ? [...audioArgs, ...audioOutput] : []),
]

const stillPlace = ({ durationMs = Infinity }: FileFacts, atMs: number): number =>
  Math.max(0, Math.min(atMs, durationMs - stillMarginMs))
