import type { MediaClock, MediaTimer } from '../../clock.ts'
import type { RecordingEnd, RecordingResult } from '../../types.ts'
import { diskFiles, type FileFailure, type RecordingFiles } from '../disk-files.ts'
import { RecordingFile } from '../recording-file.ts'
import { maxFileBytes } from '../recording-format.ts'
import { WebmMuxer } from './webm-muxer.ts'

/** Maximum data rate of a chunk that is written at once, in bytes per second. */
const bytesPerSecond = 2_000_000
/** Interval of checks for a cluster that lasts long enough, and for the maximum duration, in ms. */
const beatMs = 500
/** Interval of touches during pauses, in ms. */
const touchMs = 30_000
/** Bytes for the last cluster and the cues, within the maximum length of a file. */
const reserveBytes = 16_000_000

/** Options of a {@link WebmRecorder}. */
export interface WebmRecorderOptions {
  /** Path of the finished file; the unfinished one is beside it, under another name. */
  readonly path: string
  /** Channels of the Opus track; absent: none. */
  readonly channels?: 1 | 2
  /** Maximum duration without pauses, in ms; default none. No file exceeds 4 GiB. */
  readonly maxMs?: number
  readonly clock: MediaClock
  /** File system; default the machine's. */
  readonly files?: RecordingFiles
}

/** Frame of VP8 for a recording. */
export interface WebmFrame {
  readonly data: Uint8Array
  /** Size of the picture; only of key frames. */
  readonly size?: { readonly width: number; readonly height: number }
}

/**
 * Records packets of Opus and frames of VP8 into a WebM file. Times are those of the clock; the file begins
 * when the recorder is created. A pause is left out of the file, and the VP8 track continues with a key
 * frame.
 *
 * Whole clusters are written about once a second, so that a crash loses no more. See {@link WebmMuxer}.
 */
export class WebmRecorder {
  /** Resolves when the file is complete. Never rejects. */
  readonly done: Promise<RecordingResult>
  readonly #clock: MediaClock
  readonly #maxMs: number
  readonly #file: RecordingFile
  readonly #muxer: WebmMuxer
  /** Time of the clock at the start of the file, as if there had been no pause. */
  #startedAt: number
  #pausedAt: number | undefined
  /** Time of the last start. Packets of a pause may be late. */
  #from: number
  #needsKey = true
  #touchedAt: number
  #beat: MediaTimer | undefined
  #isEnded = false
  #settle: (result: Promise<RecordingResult>) => void

  constructor({ path, channels, maxMs, clock, files = diskFiles }: WebmRecorderOptions) {
    const { promise, resolve } = Promise.withResolvers<RecordingResult>()
    this.done = promise
    this.#settle = resolve
    this.#clock = clock
    this.#maxMs = maxMs ?? Number.POSITIVE_INFINITY
    this.#startedAt = clock.now()
    this.#from = this.#startedAt
    this.#touchedAt = this.#startedAt
    this.#file = new RecordingFile({
      path,
      bytesPerSecond,
      onFailure: (failure) => this.#finish(errorOf(failure)),
      files,
      timers: clock,
    })
    this.#muxer = new WebmMuxer(channels, {
      append: (bytes) => {
        this.#file.write(bytes)
        this.#file.flush()
      },
      replaceHeader: (bytes) => this.#file.replaceHeader(bytes),
    })
    this.#onBeat()
  }

  /** Whether the recording has ended; further input is ignored. */
  get hasEnded(): boolean {
    return this.#isEnded
  }

  /** Whether the VP8 track cannot continue before a key frame: at its start, and after a pause. */
  get needsKey(): boolean {
    return this.#needsKey && !this.#isEnded && this.#pausedAt === undefined
  }

  /** Adds a packet of Opus that belongs to the time `at`. */
  addAudio(at: number, packet: Uint8Array): void {
    if (this.#accepts(at)) this.#muxer.addAudio(at - this.#startedAt, packet)
  }

  /** Adds a frame of VP8 that belongs to the time `at`. */
  addVideo(at: number, { data, size }: WebmFrame): void {
    if (!this.#accepts(at) || (this.#needsKey && !size)) return
    this.#needsKey = false
    this.#muxer.addVideo(at - this.#startedAt, data, size)
  }

  /** Leaves out what follows. No effect if paused or ended. */
  pause(): void {
    if (this.#isEnded || this.#pausedAt !== undefined) return
    this.#pausedAt = this.#clock.now()
    this.#muxer.flush()
  }

  /** Continues after a pause. */
  resume(): void {
    if (this.#pausedAt === undefined) return
    this.#from = this.#clock.now()
    this.#startedAt += this.#from - this.#pausedAt
    this.#pausedAt = undefined
    this.#needsKey = true
  }

  stop(): void {
    this.#finish({ kind: 'stopped' })
  }

  /** Ends the recording because its input failed. The file keeps what came before. */
  fail(failure: FileFailure): void {
    this.#finish(errorOf(failure))
  }

  #accepts(at: number): boolean {
    return !this.#isEnded && this.#pausedAt === undefined && at >= this.#from
  }

  #onBeat(): void {
    this.#beat = this.#clock.after(beatMs, () => this.#onBeat())
    const now = this.#clock.now()
    if (this.#pausedAt !== undefined) {
      if (now - this.#touchedAt < touchMs) return
      this.#touchedAt = now
      this.#file.touch()
      return
    }
    this.#touchedAt = now
    this.#muxer.tick(now - this.#startedAt)
    const isFull = this.#muxer.bytes > maxFileBytes - reserveBytes
    if (isFull || now - this.#startedAt >= this.#maxMs) this.#finish({ kind: 'limit' })
  }

  #finish(end: RecordingEnd): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#beat?.cancel()
    this.#settle(this.#complete(end))
  }

  async #complete(end: RecordingEnd): Promise<RecordingResult> {
    const muxer = this.#muxer
    muxer.finish()
    const { bytes, failure } = await this.#file.finish(muxer, maxFileBytes)
    return {
      end: failure && end.kind !== 'error' ? errorOf(failure) : end,
      durationMs: muxer.durationOf(bytes),
      bytes,
      hasFile: bytes > 0,
    }
  }
}

const errorOf = ({ code, message }: FileFailure): RecordingEnd => ({ kind: 'error', code, message })
