import type { RoomFile } from './room-file.ts'
import type { BrowserTracks, RoomTracks, TrackLineUse } from './room-tracks.ts'
import type { BrowserSource, BrowserVideo } from './webrtc.ts'

/**
 * Picture of a room, by the ids of its sources. `speaker`: one source, forwarded undecoded. Every viewer sees
 * `main`; the viewer with the id of `main` sees `other`, or itself without `other`. Without `main`, or if it
 * sends nothing, viewers see a plain picture. `composed`: all viewers see one canvas with the layers.
 */
export type RoomPicture =
  | { readonly kind: 'speaker'; readonly main?: string; readonly other?: string }
  | { readonly kind: 'composed'; readonly layers: readonly RoomLayer[] }

/** Rectangle of a composed picture, in percent from the top left corner of the canvas. */
export interface RoomLayer {
  /** Id of the source that fills the rectangle; the rectangle is plain while the source sends nothing. */
  readonly id: string
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  /** The lowest is drawn first. */
  readonly z: number
  /** Whether the source is drawn; else the rectangle is plain, and the source is not decoded. */
  readonly isVisible: boolean
  /** Name in the middle of the rectangle while it is plain. Default none. */
  readonly name?: string
  /** Whether the name is also shown over the picture, at its lower left. Default false. */
  readonly isCaptioned?: boolean
}

/** Frame of the picture of a room, in VP8. */
export interface RoomFrame {
  /** Time that the frame belongs to, in ms since the Unix epoch. Never goes back. */
  readonly at: number
  /** Size of the picture; only of key frames. The first frame is one. */
  readonly size?: { readonly width: number; readonly height: number }
  readonly data: Uint8Array
}

/** Frames of the picture of a room, see {@link RoomVideo.watchFrames}. */
export interface RoomFrames {
  /** Requests a key frame, at most one in 500 ms. */
  requestKeyFrame(): void
  /** Ends the frames. Idempotent. */
  close(): void
}

/** Frames of one source of a room, see {@link RoomVideo.watchMember}. */
export interface MemberFrames extends RoomFrames {
  /** Sets whether the frames are those of the source; else of a plain picture. Default true. */
  setShown(isShown: boolean): void
  /** Reports the frames that wait for the clock of their sender. */
  flush(): void
}

/** Figures of the camera of a member, all its encodings together. */
export interface RoomSentVideo {
  /** bit/s. */
  readonly bitRate: number
  /** Share of lost packets in the last report, 0 to 1. */
  readonly loss: number
  /** Round trip time in ms; absent before the first report. */
  readonly roundTripMs?: number
}

/** Figures of the picture, or of the separate cameras, that a member receives. */
export interface RoomReceivedVideo extends RoomSentVideo {
  /** Number of streams: 1 for the picture. */
  readonly streams: number
  /** Layer of the picture, if it has two. */
  readonly layer?: 'low' | 'high'
  /** Whether the picture pauses because the path has no room for it beside audio. Absent for cameras. */
  readonly isPaused?: boolean
  /** Frames of the picture in the last second, as sent. Absent for cameras. */
  readonly framesPerSecond?: number
}

/** Figures of the video of a member. Each part is absent without such video. */
export interface RoomVideoFigures {
  readonly sent?: RoomSentVideo
  readonly received?: RoomReceivedVideo
}

/**
 * Video of one room: its sources and its viewers. A change of the picture needs no new offer. The SSRC of a
 * viewer's stream stays, and its sequence numbers, timestamps and VP8 picture ids are continuous. A viewer
 * changes its stream at most when it becomes `main`, or sends video for the first time.
 *
 * All resources belong to the mediasoup processes of the members. If a process dies, its
 * members have the state `crashed`, and neither send nor receive until their sessions are opened in another
 * process. The others continue.
 */
export interface RoomVideo {
  /**
   * Adds a browser, as a source and as a viewer. Its video may start and stop at any time. Adding a known id
   * replaces its session.
   */
  add(id: string, video: BrowserVideo): void
  /** Adds a shared screen as a source. It is shown whole. */
  addScreen(id: string, screen: BrowserSource): void
  /** Adds a second camera of a browser as a source. */
  addCamera(id: string, camera: BrowserSource): void
  /** Adds the pictures of a file as a source. They are shown whole. Throws a TypeError for a foreign file. */
  addFile(id: string, file: RoomFile): void
  /**
   * Removes a browser or a further source. The browser then sees what it saw before the room. No effect if
   * the id is unknown.
   */
  remove(id: string): void
  /**
   * Limits the bit rate of a browser's camera, in bit/s; default 1,000,000. The limit ends with the
   * membership. Returns false if no such camera can be limited: the id is unknown, or the camera is sent in
   * several sizes.
   */
  limitCamera(id: string, bitRate: number): boolean
  /** Returns the present figures of a member or a further source; none if the id is unknown. */
  figures(id: string): Promise<RoomVideoFigures>
  /**
   * Changes the picture. The present source stays until the first key frame of the new one, at most 1.5 s. A
   * plain picture follows until that key frame. Without a new source, the plain picture is shown at once.
   */
  show(picture: RoomPicture): void
  /**
   * Prepares for a picture with this source: within the next second, {@link show} need not wait for a key
   * frame of it. No effect if the id is unknown.
   */
  expect(id: string): void
  /**
   * Calls `onFrame` with the frames of the picture that viewers see, of `main` in the speaker picture, until
   * `close`. Without a source the frames are those of the plain picture. Decodes and encodes nothing.
   */
  watchFrames(onFrame: (frame: RoomFrame) => void): RoomFrames
  /**
   * Calls `onFrame` with the frames that one source sends, as {@link watchFrames} does. While it sends none,
   * or the id is unknown, the frames are those of the plain picture. The times are those of the capture, by
   * the reports of the sender. The first frames wait for a report, at most 8 s, and without one have the
   * times of their arrival.
   */
  watchMember(id: string, onFrame: (frame: RoomFrame) => void): MemberFrames
  /** Whether a composed picture can be shown at present. Without it, such a picture is plain. */
  readonly canCompose: boolean
  /**
   * Sets the listener of changes of {@link canCompose}, called with its new value. `reason`: cause of the
   * change, in one line.
   */
  onComposing(listener: (canCompose: boolean, reason: string) => void): void
  /**
   * Sends cameras and screens to a browser of the room on lines of their own, in place of the picture.
   * `onChange` receives all lines with a source after each change, at most every 0.1 s. Ends with the
   * membership at the latest. Throws an Error if the id is unknown.
   */
  watchTracks(
    id: string,
    tracks: BrowserTracks,
    onChange: (lines: readonly TrackLineUse[]) => void,
  ): RoomTracks
  /** Removes all members. Idempotent. */
  close(): void
}
