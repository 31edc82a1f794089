import { VoiceActivityDetector } from '../rtp/voice-activity.ts'
import type { RecordingEnd, RecordingResult, RecordRequest } from '../types.ts'
import { diskFiles, type FileFailure, failureOf, type RecordingFiles } from './disk.ts'
import { Ending } from './ending.ts'
import { RecordingFile } from './file.ts'
import { type Format, MOST_BYTES } from './format.ts'
import { Mp3Format } from './mp3-format.ts'
import { Tracks } from './tracks.ts'
import { Trim } from './trim.ts'
import { WavFormat } from './wav-format.ts'

/** Sensitivity at which voices are told from noise as {@link VoiceActivityDetector} says. */
const usualSensitivity = 44
/** How much louder a sound has to be for each point below that, and how much less loud for each above: at 100 by 2 dB than the noise still. */
const DB_BELOW = 0.5
const DB_ABOVE = 0.125

/** So many frames without a byte to write, and the file is touched: 30 s. */
const TOUCH_FRAMES = 1500

/**
 * Starts a recording; from then on it waits for frames. Never rejects: where the file cannot be made, or the MP3 encoder not be loaded, the
 * recording ends with that error. `files` is the file system; default the machine's.
 */
export async function startRecording(
  request: RecordRequest,
  files: RecordingFiles = diskFiles,
): Promise<Recorder> {
  const rate = request.sampleRate ?? 8000
  const channels = request.tracks === 'stereo' ? 2 : 1
  if (request.format === 'wav') return new Recorder(request, new WavFormat(rate, channels), files)
  try {
    return new Recorder(request, await Mp3Format.create(rate, channels), files)
  } catch (error) {
    const recorder = new Recorder(request, new WavFormat(rate, channels), files)
    recorder.fail({ ...failureOf(error), code: 'encoder' })
    return recorder
  }
}

/**
 * One recording under way: 20 ms of both directions go in, and a file comes out. It ends by itself as the request says, when its file cannot
 * be written, or before it gets longer than 4 GiB (`limit`). It knows no time: frames are its clock, so they have to come in pauses as well.
 *
 * A recording without any sound (stopped at once, or all of it trimmed) leaves no file.
 */
export class Recorder {
  /** Rate of the frames that it takes, in Hz. */
  readonly sampleRate: 8000 | 16_000
  /** Settles when the file is complete. Never rejects. */
  readonly done: Promise<RecordingResult>
  #format: Format
  #file: RecordingFile
  #ending: Ending
  #tracks: Tracks
  #trim: Trim | undefined
  #in: Voice
  #out: Voice
  #paused: 'skip' | 'silence' | undefined
  #bytes = 0
  #frames = 0
  #idleFrames = 0
  #end: RecordingEnd | undefined
  #settle: (result: RecordingResult | Promise<RecordingResult>) => void

  /** Use {@link startRecording}. */
  constructor(request: RecordRequest, format: Format, files: RecordingFiles) {
    const { promise, resolve } = Promise.withResolvers<RecordingResult>()
    this.sampleRate = request.sampleRate ?? 8000
    this.done = promise
    this.#settle = resolve
    this.#format = format
    this.#ending = new Ending(request)
    this.#in = new Voice(request.sensitivity)
    this.#out = new Voice(request.sensitivity)
    this.#tracks = new Tracks(request.tracks, this.sampleRate / 50)
    this.#trim = request.trim
      ? new Trim(this.sampleRate / 50, (left, right) => this.#encode(left, right))
      : undefined
    this.#file = new RecordingFile(
      request.path,
      format.bytesPerSecond,
      (failure) => this.fail(failure),
      files,
    )
    this.#write(format.begin())
  }

  /** Whether it has ended; what comes now is ignored. */
  get over(): boolean {
    return this.#end !== undefined
  }

  /** Takes 20 ms of what the far end says, and of what it hears; undefined is silence. To be called in pauses, too. */
  frame(incoming: Int16Array | undefined, outgoing: Int16Array | undefined): void {
    if (this.#end) return
    this.#idleFrames++
    if (this.#idleFrames >= TOUCH_FRAMES) {
      this.#idleFrames = 0
      this.#file.touch()
    }
    if (this.#paused === 'skip') return
    if (this.#paused === 'silence') {
      this.#store(undefined, undefined, false)
      this.#finishAt(this.#ending.paused())
      return
    }
    const hears = this.#in.heard(incoming)
    const says = this.#out.heard(outgoing)
    this.#store(incoming, outgoing, this.#tracks.voiced(hears, says))
    this.#finishAt(this.#ending.frame(hears))
  }

  /** Takes a digit that the far end pressed. */
  digit(digit: string): void {
    this.#finishAt(this.#ending.digit(digit))
  }

  /** `skip` leaves the pause out of the file, `silence` puts silence there, which counts as length. No pause counts as silence of the far end. */
  pause(how: 'skip' | 'silence'): void {
    this.#paused ??= how
  }

  resume(): void {
    this.#paused = undefined
  }

  stop(): void {
    this.#finish({ kind: 'stopped' })
  }

  /** Ends it with an error; what was written is kept. */
  fail(failure: FileFailure): void {
    this.#finish(errorOf(failure))
  }

  #finishAt(end: RecordingEnd | undefined): void {
    if (end) this.#finish(end)
  }

  #store(incoming: Int16Array | undefined, outgoing: Int16Array | undefined, voiced: boolean): void {
    const { left, right } = this.#tracks.take(incoming, outgoing)
    if (this.#trim) this.#trim.frame(left, right, voiced)
    else this.#encode(left, right)
  }

  #encode(left: Int16Array, right: Int16Array | undefined): void {
    if (this.#end) return
    // What the encoder still holds back is less than a second.
    if (this.#bytes + this.#format.bytesPerSecond > MOST_BYTES) {
      this.#finish({ kind: 'limit' })
      return
    }
    this.#frames++
    try {
      this.#write(this.#format.encode(left, right))
    } catch (error) {
      this.fail({ ...failureOf(error), code: 'encoder' })
    }
  }

  #write(bytes: Uint8Array): void {
    if (bytes.length === 0) return
    this.#bytes += bytes.length
    this.#idleFrames = 0
    this.#file.write(bytes)
  }

  #finish(end: RecordingEnd): void {
    if (this.#end) return
    this.#end = end
    this.#settle(this.#complete(end))
  }

  async #complete(end: RecordingEnd): Promise<RecordingResult> {
    const format = this.#format
    const frames = this.#trim ? this.#trim.kept : this.#frames
    const ended = end.kind === 'error' || frames === 0 ? end : this.#flush(end)
    const most = frames === 0 ? 0 : this.#trim ? format.lengthOf(frames) : MOST_BYTES
    const { bytes, failure } = await this.#file.finish(format, most)
    format.close()
    const durationMs = bytes > 0 ? format.durationMs(bytes) : 0
    return {
      end: failure && ended.kind !== 'error' ? errorOf(failure) : ended,
      durationMs,
      bytes,
      hasFile: bytes > 0,
    }
  }

  /** Writes what the encoder holds back. */
  #flush(end: RecordingEnd): RecordingEnd {
    try {
      this.#file.write(this.#format.finish())
      return end
    } catch (error) {
      return errorOf({ ...failureOf(error), code: 'encoder' })
    }
  }
}

const errorOf = ({ code, message }: FileFailure): RecordingEnd => ({ kind: 'error', code, message })

/** Hears voices, but no clicks: a frame alone is none. */
class Voice {
  readonly #level: VoiceActivityDetector
  #before = false

  constructor(sensitivity = usualSensitivity) {
    const missing = usualSensitivity - sensitivity
    this.#level = new VoiceActivityDetector(missing * (missing > 0 ? DB_BELOW : DB_ABOVE))
  }

  heard(frame: Int16Array | undefined): boolean {
    const loud = this.#level.update(frame)
    const heard = loud && this.#before
    this.#before = loud
    return heard
  }
}
