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

/** Options of a {@link TrackRecording}. */
export interface TrackRequest {
  /** Returns the path of the finished file in this format, see {@link RoomRecordRequest.path}. */
  readonly pathOf: (format: TrackRecording['format']) => string
}

/**
 * Recording of one track of a member in progress: its camera, its screen or its sound, without that of the
 * others. Its file begins when the recording starts. It is written in parts of at most a second.
 */
export interface TrackRecording extends Pick<RoomRecording, 'done' | 'pause' | 'resume' | 'stop'> {
  /** `webm`: VP8 or Opus, as it came. `wav`: the decoded sound of a party without Opus, with 16 kHz. */
  readonly format: 'webm' | 'wav'
  /** Sets whether a plain picture, or silence, takes the place of the track; default false. */
  setMuted(isMuted: boolean): void
}
