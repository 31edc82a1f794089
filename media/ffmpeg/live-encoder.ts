import { type MediaClock, type MediaTimer, systemClock } from '../clock.ts'
import { WebmMuxer } from '../record/webm/webm-muxer.ts'
import { stillPicture, stillSize } from '../rooms/still-picture.ts'
import { type Ffmpeg, type FfmpegProcess, words } from './ffmpeg.ts'
import { decoderArgs } from './file-facts.ts'
import { FlvReader, type FlvTag } from './rtmp/flv-reader.ts'

/** Time between two parts that ffmpeg receives, and between two repetitions of a picture, in ms. */
const beatMs = 100
/** Maximum bytes that wait for ffmpeg. More means that the machine is too slow for it. */
const maxWaitingBytes = 16_000_000
/** Time without a frame after which a plain picture follows, in ms. Browsers send one each second. */
const maxSilenceMs = 2000

/** Receiver of what a {@link LiveEncoder} makes. */
export interface LiveEncoderListener {
  /** Receives audio in AAC, video in H.264, and their descriptions. */
  onTag(tag: FlvTag): void
  /** Called with each frame that is left out because only a key frame can follow the plain picture. */
  onKeyNeeded(): void
  /** Called once if ffmpeg ends by itself. Not called after `close`. */
  onEnd(error: Error): void
}

/** Size of a picture. */
interface Size {
  readonly width: number
  readonly height: number
}

/** The newest picture. */
interface Newest {
  readonly at: number
  readonly arrivedAt: number
  readonly frame: Uint8Array
  /** Absent for a picture that builds on others. */
  readonly size: Size | undefined
}

/**
 * Encodes Opus and VP8, as they come, in AAC and H.264. Begins with the first key frame. A key frame without
 * a successor, such as a plain picture, is repeated: servers expect pictures all the time. A plain picture
 * follows 2 s after any other frame without a successor, until the next key frame.
 */
export class LiveEncoder {
  readonly #clock: MediaClock
  readonly #process: FfmpegProcess
  readonly #listener: LiveEncoderListener
  readonly #muxer: WebmMuxer
  #startedAt: number | undefined
  #newest: Newest | undefined
  /** Whether the frames are left out until a key frame. */
  #needsKey = false
  #beat: MediaTimer | undefined
  #isClosed = false

  constructor(ffmpeg: Pick<Ffmpeg, 'run'>, listener: LiveEncoderListener, clock: MediaClock = systemClock) {
    this.#clock = clock
    this.#listener = listener
    this.#process = ffmpeg.run(liveArgs)
    const output = {
      // The muxer begins with a header that has no video yet; the next one has it.
      append: (bytes: Uint8Array) => {
        if (this.#startedAt !== undefined) this.#write(bytes)
      },
      replaceHeader: (bytes: Uint8Array) => this.#write(bytes),
    }
    this.#muxer = new WebmMuxer(1, output, true)
    this.#read()
    this.#wait()
  }

  /** Adds a packet of Opus that belongs to the time `at`. */
  addAudio(at: number, packet: Uint8Array): void {
    if (this.#startedAt !== undefined && at >= this.#startedAt)
      this.#muxer.addAudio(at - this.#startedAt, packet)
  }

  /** Adds a frame of VP8 that belongs to the time `at`. `size`: of key frames. */
  addVideo(at: number, frame: Uint8Array, size?: Size): void {
    if (!size && this.#startedAt === undefined) return
    if (size) this.#needsKey = false
    if (this.#needsKey) this.#listener.onKeyNeeded()
    else this.#add(at, frame, size)
  }

  /** Ends the encoding. Idempotent. */
  close(): void {
    this.#isClosed = true
    this.#beat?.cancel()
    this.#process.kill()
  }

  #add(at: number, frame: Uint8Array, size: Size | undefined): void {
    this.#startedAt ??= at
    this.#newest = { at, arrivedAt: this.#clock.now(), frame, size }
    this.#muxer.addVideo(at - this.#startedAt, frame, size)
  }

  #write(bytes: Uint8Array): void {
    const { stdin } = this.#process
    if (this.#isClosed) return
    if (stdin.writableLength > maxWaitingBytes) this.#end(new Error('ffmpeg is too slow'))
    else stdin.write(bytes)
  }

  #read(): void {
    const tags = new FlvReader()
    this.#process.stdout.on('data', (chunk: Buffer) => {
      if (this.#isClosed) return
      try {
        for (const tag of tags.push(chunk)) this.#listener.onTag(tag)
      } catch (error) {
        this.#end(error as Error)
      }
    })
    void this.#process.ended.then(({ text }) => this.#end(new Error(text === '' ? 'ffmpeg has ended' : text)))
  }

  #wait(): void {
    this.#beat = this.#clock.after(beatMs, () => {
      this.#repeat()
      this.#muxer.flush()
      // The writing may have ended the encoding.
      if (!this.#isClosed) this.#wait()
    })
  }

  /** Repeats a key frame that nothing has followed. After 2 s, a plain picture follows any other frame. */
  #repeat(): void {
    if (!this.#newest) return
    const { at, arrivedAt, frame, size } = this.#newest
    const waitedMs = this.#clock.now() - arrivedAt
    if (size && waitedMs >= beatMs) this.#add(at + waitedMs, frame, size)
    if (size || waitedMs < maxSilenceMs) return
    this.#needsKey = true
    this.#add(at + waitedMs, stillPicture, stillSize)
  }

  #end(error: Error): void {
    if (this.#isClosed) return
    this.close()
    this.#listener.onEnd(error)
  }
}

/** The size of the picture changes with the speaker; that of the stream does not. */
const filter =
  'scale=1280:720:force_original_aspect_ratio=decrease,pad=1280:720:(ow-iw)/2:(oh-ih)/2,setsar=1,fps=30'

const liveArgs: readonly string[] = [
  ...words('-hide_banner -v error -protocol_whitelist pipe'),
  // A browser may send pictures of any size.
  ...decoderArgs,
  ...words('-analyzeduration 500000 -probesize 65536 -f matroska -i pipe:0'),
  '-vf',
  filter,
  ...words('-pix_fmt yuv420p -c:v libx264 -preset veryfast -tune zerolatency -profile:v main -g 60'),
  ...words('-threads 2 -b:v 2500k -maxrate 2500k -bufsize 5000k'),
  // Gaps of the sound are filled, and its clock follows that of the pictures.
  ...words('-af aresample=async=1000:first_pts=0 -c:a aac -ar 44100 -ac 2 -b:a 128k'),
  // Sound waits at most half a second for a camera that sends nothing.
  ...words('-max_interleave_delta 500000'),
  ...words('-flush_packets 1 -f flv -flvflags no_duration_filesize pipe:1'),
]
