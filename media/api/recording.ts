import type { MediaPort } from './port.ts'

/** Options of a recording. */
export interface RecordRequest {
  /**
   * Path of the finished file. The file is written beside it under another name and renamed when complete.
   */
  readonly path: string
  readonly format: 'wav' | 'mp3'
  /**
   * `in`: the far end's audio. `out`: the audio sent to the far end. `both`: the sum. `stereo`: `in` on the
   * left channel, `out` on the right.
   */
  readonly tracks: 'in' | 'out' | 'both' | 'stereo'
  /**
   * Sampling rate of the file in Hz; default 8000. MP3 has 24 kbit/s per channel at 8000, 32 kbit/s at 16000.
   */
  readonly sampleRate?: 8000 | 16000
  /** Whether the far end hears a tone, which is not recorded, before the recording starts; default false. */
  readonly beep?: boolean
  /**
   * Silence of the far end that ends the recording, in ms; absent: never. Silence is audio less than 9 dB
   * above the background noise; at the start, audio below −45 dB of full scale. See `sensitivity`.
   */
  readonly endSilenceMs?: number
  /** Silence from the start that ends the recording, in ms; default `endSilenceMs`. */
  readonly initialSilenceMs?: number
  /**
   * Sensitivity of speech detection, 0 to 100; default 44, which means 9 dB above the background noise. Each
   * point below adds 0.5 dB (31 at 0); each point above subtracts 0.125 dB (2 at 100). The other levels move
   * by the same amount.
   */
  readonly sensitivity?: number
  /**
   * Maximum duration in ms, including the silence inserted for pauses; absent: until the port closes. No file
   * exceeds 4 GiB.
   */
  readonly maxMs?: number
  /** Digits that end the recording; default none. */
  readonly terminators?: string
  /** Whether silence at the beginning and the end is cut, except 200 ms; default false. */
  readonly trim?: boolean
}

/** Reason for the end of a recording. */
export type RecordingEnd =
  /** {@link Recording.stop} was called, or the recorded port was closed. */
  | { readonly kind: 'stopped' }
  | { readonly kind: 'silence' }
  /** No speech from the start. */
  | { readonly kind: 'no-input' }
  | { readonly kind: 'limit' }
  | { readonly kind: 'terminator'; readonly digit: string }
  /**
   * The file could not be written; the part already written is kept. `code` is the system's error code
   * (`ENOSPC`, `EACCES`, `ENOENT`, …), `too_slow` or `encoder`. `too_slow`: data of more than 5 s at the
   * maximum rate wait for the disk, or the disk has finished nothing for 10 s. In the second case there is no
   * file yet: the recovery completes it later.
   */
  | { readonly kind: 'error'; readonly message: string; readonly code: string }

/** Result of an ended recording. */
export interface RecordingResult {
  readonly end: RecordingEnd
  /** Duration of the audio in the file. */
  readonly durationMs: number
  readonly bytes: number
  /**
   * Whether a file exists. False if nothing was written or recorded (stopped at once, or entirely trimmed),
   * and for a disk that hangs.
   */
  readonly hasFile: boolean
}

/** Recording in progress. */
export interface Recording {
  /** Resolves when the file is complete. Never rejects: errors are reported in the result's `end`. */
  readonly done: Promise<RecordingResult>
  /**
   * Pauses the recording. `skip` omits the pause from the file; `silence` fills it with silence. No effect if
   * paused or ended.
   */
  pause(how: 'skip' | 'silence'): void
  resume(): void
  stop(): void
  /**
   * Continues the recording with another port's `in` and `out`, in the same file. A beep in progress ends. No
   * effect unless the port is open and in the same thread, as ports of one group are. No effect if the port
   * is already recorded or the recording has ended.
   */
  moveTo(port: MediaPort): void
}
