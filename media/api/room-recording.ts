import type { Recording } from './recording.ts'
import type { RoomVideo } from './room-video.ts'

/** Options of a recording of a room. */
export interface RoomRecordRequest {
  /**
   * Path of the finished file, a WebM. The file is written beside it under another name and renamed when
   * complete.
   */
  readonly path: string
  /** Maximum duration in ms, without pauses; default none. No file exceeds 4 GiB. */
  readonly maxMs?: number
}

/**
 * Recording of a room in progress: the mix in Opus, and the picture in VP8 as its viewers receive it. The
 * file has audio alone until the room has video. It is written in parts of at most a second, so that a crash
 * loses no more.
 */
export interface RoomRecording extends Pick<Recording, 'done' | 'resume' | 'stop'> {
  /** Records the picture of the room from now on. Only the first call has an effect. */
  setVideo(video: Pick<RoomVideo, 'watchFrames'>): void
  /** Leaves what follows out of the file. No effect if paused or ended. */
  pause(): void
}
