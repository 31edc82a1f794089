import { type MediaClock, systemClock } from '../clock.ts'
import { WebmMuxer } from '../record/webm/webm-muxer.ts'
import type { Ffmpeg, FfmpegProcess } from './ffmpeg.ts'
import { FlvReader, type FlvTag } from './rtmp/flv-reader.ts'

/** Time between two parts that ffmpeg receives, in ms. */
const beatMs = 100
/** Maximum bytes that wait for ffmpeg. More means that the machine is too slow for it. */
const maxWaitingBytes = 16_000_000

/** Receiver of what a {@link LiveEncoder} makes. */
export interface LiveEncoderListener {
  /** Receives audio in AAC, video in H.264, and their descriptions. */
  onTag(tag: FlvTag): void
  /** Called once if ffmpeg ends by itself. Not called after `close`. */
  onEnd(error: Error): void
}

/** Encodes Opus and VP8, as they come, in AAC and H.264. Begins with the first key frame. */
export class LiveEncoder {
  readonly #clock: MediaClock
  readonly #process: FfmpegProcess
  readonly #listener: LiveEncoderListener
  readonly #muxer: WebmMuxer
  #startedAt: number | undefined
  #isClosed = false

  constructor(ffmpeg: Pick<Ffmpeg, 'run'>, listener: LiveEncoderListener, clock: MediaClock = systemClock) {
    this.#clock = clock
    this.#listener = listener
    this.#process = ffmpeg.run(liveArgs)
    this.#muxer = new WebmMuxer(1, {
      // The muxer begins with a header that has no video yet; the next one has it.
      append: (bytes) => {
        if (this.#startedAt !== undefined) this.#write(bytes)
      },
      replaceHeader: (bytes) => this.#write(bytes),
    })
    this.#read()
    this.#wait()
  }

  /** Adds a packet of Opus that belongs to the time `at`. */
  addAudio(at: number, packet: Uint8Array): void {
    if (this.#startedAt !== undefined && at >= this.#startedAt)
      this.#muxer.addAudio(at - this.#startedAt, packet)
  }

  /** Adds a frame of VP8 that belongs to the time `at`. `size`: of key frames. */
  addVideo(at: number, frame: Uint8Array, size?: { readonly width: number; readonly height: number }): void {
    if (!size && this.#startedAt === undefined) return
    this.#startedAt ??= at
    this.#muxer.addVideo(at - this.#startedAt, frame, size)
  }

  /** Ends the encoding. Idempotent. */
  close(): void {
    this.#isClosed = true
    this.#process.kill()
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
    this.#clock.after(beatMs, () => {
      if (this.#isClosed) return
      if (this.#startedAt !== undefined) this.#muxer.flush()
      this.#wait()
    })
  }

  #end(error: Error): void {
    if (this.#isClosed) return
    this.close()
    this.#listener.onEnd(error)
  }
}

/** Returns the words of a text. */
function words(text: string): readonly string[] {
  return text.split(' ')
}

/** The size of the picture changes with the speaker; that of the stream does not. */
const filter =
  'scale=1280:720:force_original_aspect_ratio=decrease,pad=1280:720:(ow-iw)/2:(oh-ih)/2,setsar=1,fps=30'

const liveArgs: readonly string[] = [
  ...words('-hide_banner -v error -protocol_whitelist pipe'),
  ...words('-analyzeduration 500000 -probesize 65536 -f matroska -i pipe:0'),
  '-vf',
  filter,
  ...words('-pix_fmt yuv420p -c:v libx264 -preset veryfast -tune zerolatency -profile:v main -g 60'),
  ...words('-threads 2 -b:v 2500k -maxrate 2500k -bufsize 5000k -c:a aac -ar 44100 -ac 2 -b:a 128k'),
  ...words('-flush_packets 1 -f flv -flvflags no_duration_filesize pipe:1'),
]
