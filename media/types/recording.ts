import type { MediaPort } from './port.ts'

/** What to record, and when to end. */
export interface RecordRequest {
  /** Where the finished file will lie. It is written under another name beside it, and renamed when it is complete. */
  readonly path: string
  readonly format: 'wav' | 'mp3'
  /** `in` is what the far end says, `out` what it hears; `both` mixes them, `stereo` has `in` on the left and `out` on the right. */
  readonly tracks: 'in' | 'out' | 'both' | 'stereo'
  /** Rate of the file; default 8000. An MP3 has 24 kbit/s per channel at 8000, 32 at 16000. */
  readonly sampleRate?: 8000 | 16000
  /** A tone before the beginning, heard by the far end and not recorded; default false. */
  readonly beep?: boolean
  /**
   * Ends the recording after so much silence of the far end; absent: never. Silence is what is not louder than the noise of the room by
   * 9 dB; in the beginning, what is below −45 dB of full scale. See `sensitivity`.
   */
  readonly endSilenceMs?: number
  /** Ends it when nothing is said for so long from the beginning; absent: as `endSilenceMs`. */
  readonly initialSilenceMs?: number
  /**
   * How soon a sound counts as said, 0 to 100: by how many dB it has to be louder than the noise of the room, which is 9 at 44, half a
   * decibel more for each point below (31 at 0), and an eighth less for each above (2 at 100). The other levels move as far. Default 44.
   */
  readonly sensitivity?: number
  /** Longest recording, with the silence of pauses that is put there; absent: as long as the port is open. Whatever it says, no file gets longer than 4 GiB. */
  readonly maxMs?: number
  /** Digits that end it; default none. */
  readonly terminators?: string
  /** Cuts silence off the beginning and the end, all but 200 ms; default false. */
  readonly trim?: boolean
}

/** Why a recording ended. */
export type RecordingEnd =
  /** {@link Recording.stop}, or the port was closed that is recorded. */
  | { readonly kind: 'stopped' }
  | { readonly kind: 'silence' }
  /** Nothing was said from the beginning. */
  | { readonly kind: 'no-input' }
  | { readonly kind: 'limit' }
  | { readonly kind: 'terminator'; readonly digit: string }
  /**
   * The file could not be written; the part that was written is kept where there is any. `code` is that of the system (`ENOSPC` for a full
   * disk, `EACCES`, `ENOENT` for a missing folder, …), `too_slow` when the disk is 5 s behind, or `encoder`.
   */
  | { readonly kind: 'error'; readonly message: string; readonly code: string }

/** A recording that is over. */
export interface RecordingResult {
  readonly end: RecordingEnd
  /** Of what the file holds. */
  readonly durationMs: number
  readonly bytes: number
  /** False: there is no file, as nothing could be written, or nothing was recorded (stopped at once, or all of it trimmed). */
  readonly kept: boolean
}

/** A recording under way. */
export interface Recording {
  /** Settles when the file is complete. Never rejects: what went wrong is its end. */
  readonly done: Promise<RecordingResult>
  /** `skip` leaves the pause out of the file, `silence` puts silence there. Harmless when it is paused, or over. */
  pause(how: 'skip' | 'silence'): void
  resume(): void
  stop(): void
  /**
   * Records that port from now on, in the same file: `in` and `out` are its. A beep that plays ends where it does. The port has to be open,
   * and in the same thread (as those of one group are): else nothing changes. Harmless when it is recorded already, and when it is over.
   */
  moveTo(port: MediaPort): void
}
