import { VoiceActivityDetector } from '../rtp/voice-activity.ts'
import type { RecordingEnd, RecordingResult, RecordRequest } from '../types.ts'
import { diskFiles, type FileFailure, failureOf, type RecordingFiles } from './disk-files.ts'
import { EndDetector } from './end-detector.ts'
import { Mp3Format } from './mp3-format.ts'
import { RecordingFile } from './recording-file.ts'
import { maxFileBytes, type RecordingFormat } from './recording-format.ts'
import { SilenceTrimmer } from './silence-trimmer.ts'
import { Tracks } from './tracks.ts'
import { WavFormat } from './wav-format.ts'

/** Sensitivity at which speech is detected with the defaults of {@link VoiceActivityDetector}. */
const defaultSensitivity = 44
/**
 * Threshold change in dB per point of sensitivity below and above the default; at 100 the threshold is still
 * 2 dB above the noise.
 */
const dbPerPointBelow = 0.5
const dbPerPointAbove = 0.125

/** Number of frames without a written byte after which the file is touched: 30 s. */
const touchFrames = 1500

/**
 * Starts a recording, which then waits for frames. Never rejects: if the file or the MP3 encoder cannot be
 * opened, the recording ends with that error. `files` is the file system; default the machine's.
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
 * One recording in progress: writes frames of 20 ms of both directions to a file. Ends as requested, when
 * the file cannot be written, or before it exceeds 4 GiB (`limit`). Frames are its only clock, so they must
 * arrive during pauses too.
 *
 * A recording without audio (stopped at once, or entirely trimmed) leaves no file.
 */
export class Recorder {
  /** Rate of the input frames, in Hz. */
  readonly sampleRate: 8000 | 16_000
  /** Resolves when the file is complete. Never rejects. */
  readonly done: Promise<RecordingResult>
  /**
   * Passes the audio that waits outside to {@link rest}. Called before a pause, and before the recording ends
   * otherwise than by its longest duration or an error.
   */
  drain: () => void = () => {}
  #format: RecordingFormat
  #file: RecordingFile
  #ending: EndDetector
  #tracks: Tracks
  #trim: SilenceTrimmer | undefined
  #in: Voice
  #out: Voice
  #paused: 'skip' | 'silence' | undefined
  /** Frames of the pause that {@link rest} has stored and counted already. */
  #filled = 0
  #bytes = 0
  #frames = 0
  #idleFrames = 0
  #end: RecordingEnd | undefined
  #settle: (result: RecordingResult | Promise<RecordingResult>) => void

  /** Use {@link startRecording}. */
  constructor(request: RecordRequest, format: RecordingFormat, files: RecordingFiles) {
    const { promise, resolve } = Promise.withResolvers<RecordingResult>()
    this.sampleRate = request.sampleRate ?? 8000
    this.done = promise
    this.#settle = resolve
    this.#format = format
    this.#ending = new EndDetector(request)
    this.#in = new Voice(request.sensitivity)
    this.#out = new Voice(request.sensitivity)
    this.#tracks = new Tracks(request.tracks, this.sampleRate / 50)
    this.#trim = request.trim
      ? new SilenceTrimmer(this.sampleRate / 50, (left, right) => this.#encode(left, right))
      : undefined
    this.#file = new RecordingFile({
      path: request.path,
      bytesPerSecond: format.bytesPerSecond,
      onFailure: (failure) => this.fail(failure),
      files,
    })
    this.#write(format.begin())
  }

  /** Whether the recording has ended; further input is ignored. */
  get hasEnded(): boolean {
    return this.#end !== undefined
  }

  /**
   * Processes 20 ms from the far end and to the far end; undefined is silence. Must be called during pauses
   * too.
   */
  frame(incoming: Int16Array | undefined, outgoing: Int16Array | undefined): void {
    if (this.#end) return
    this.#idleFrames++
    if (this.#idleFrames >= touchFrames) {
      this.#idleFrames = 0
      this.#file.touch()
    }
    if (this.#paused === 'skip') return
    if (this.#paused === 'silence') {
      if (this.#filled > 0) {
        this.#filled--
        return
      }
      this.#store(undefined, undefined, false)
      this.#finishAt(this.#ending.paused())
      return
    }
    const hasIncomingVoice = this.#in.isPresent(incoming)
    const hasOutgoingVoice = this.#out.isPresent(outgoing)
    this.#store(incoming, outgoing, this.#tracks.voiced(hasIncomingVoice, hasOutgoingVoice))
    this.#finishAt(this.#ending.frame(hasIncomingVoice))
  }

  /**
   * Processes 20 ms that waited when the recording was about to pause or end. Ignores them beyond its longest
   * duration.
   */
  rest(incoming: Int16Array, outgoing: Int16Array): void {
    if (this.#end || this.#paused || this.#ending.isFull) return
    const hasIncomingVoice = this.#in.isPresent(incoming)
    const hasOutgoingVoice = this.#out.isPresent(outgoing)
    this.#store(incoming, outgoing, this.#tracks.voiced(hasIncomingVoice, hasOutgoingVoice))
    // A pause may be shorter than what waited, so its frames cannot count in place of these.
    this.#ending.paused()
    this.#filled++
  }

  /** Processes a digit of the far end. */
  digit(digit: string): void {
    this.#finishAt(this.#ending.digit(digit))
  }

  /**
   * Pauses. `skip` omits the pause from the file; `silence` fills it with silence, which counts as length. A
   * pause never counts as silence of the far end.
   */
  pause(how: 'skip' | 'silence'): void {
    if (this.#end || this.#paused) return
    this.#filled = 0
    this.drain()
    this.#paused = how
    if (this.#ending.isFull) this.#finish({ kind: 'limit' })
  }

  resume(): void {
    this.#paused = undefined
  }

  stop(): void {
    this.#finishAt({ kind: 'stopped' })
  }

  /** Ends the recording with an error; data already written is kept. */
  fail(failure: FileFailure): void {
    this.#finish(errorOf(failure))
  }

  #finishAt(end: RecordingEnd | undefined): void {
    if (!end || this.#end) return
    if (end.kind !== 'limit') this.drain()
    this.#finish(end)
  }

  #store(incoming: Int16Array | undefined, outgoing: Int16Array | undefined, voiced: boolean): void {
    const { left, right } = this.#tracks.take(incoming, outgoing)
    if (this.#trim) this.#trim.frame(left, right, voiced)
    else this.#encode(left, right)
  }

  #encode(left: Int16Array, right: Int16Array | undefined): void {
    if (this.#end) return
    // The encoder holds back less than a second of audio.
    if (this.#bytes + this.#format.bytesPerSecond > maxFileBytes) {
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
    const maxBytes = frames === 0 ? 0 : this.#trim ? format.lengthOf(frames) : maxFileBytes
    const { bytes, failure } = await this.#file.finish(format, maxBytes)
    format.close()
    const durationMs = bytes > 0 ? format.durationMs(bytes) : 0
    return {
      end: failure && ended.kind !== 'error' ? errorOf(failure) : ended,
      durationMs,
      bytes,
      hasFile: bytes > 0,
    }
  }

  /** Writes the encoder's remaining bytes. */
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

/** Detects voice over at least two frames, which excludes clicks. */
class Voice {
  readonly #level: VoiceActivityDetector
  /** Whether the previous frame was loud. */
  #wasLoud = false

  constructor(sensitivity = defaultSensitivity) {
    const missing = defaultSensitivity - sensitivity
    this.#level = new VoiceActivityDetector(missing * (missing > 0 ? dbPerPointBelow : dbPerPointAbove))
  }

  isPresent(frame: Int16Array | undefined): boolean {
    const isLoud = this.#level.update(frame)
    const isPresent = isLoud && this.#wasLoud
    this.#wasLoud = isLoud
    return isPresent
  }
}
