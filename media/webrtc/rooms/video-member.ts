import type { BrowserSource } from '../../types.ts'
import type { TrackLines } from '../tracks/track-lines.ts'
import type { IncomingStream, IncomingVideo, VideoSource } from '../video/incoming-video.ts'
import type { SessionVideo } from '../video/session-video.ts'
import { WebRtcSession } from '../webrtc-session.ts'
import type { Feed } from './feed.ts'
import type { Program } from './program.ts'
import type { ViewerLayer } from './viewer-layer.ts'

/** Default maximum bit rate of a camera in bit/s: all its viewers receive the same stream. */
const maxCameraRate = 1_000_000
/** The same for all encodings of simulcast together, in bit/s. */
const maxSimulcastRate = 1_700_000

/** Stream of a source. A file has no transport of its own. */
export type SourceStream = VideoSource & { readonly line: Partial<Pick<IncomingStream['line'], 'transport'>> }

/** Streams of a source, one at a time. */
export interface CameraStreams {
  readonly current: SourceStream | undefined
  watch(watcher: () => void): () => void
}

/** Member of a room: a browser, which sends and receives, or a further source, which sends. */
export interface Member {
  readonly id: string
  readonly camera: CameraStreams
  /** Session of a browser; undefined for a further source. */
  readonly session?: SessionVideo
  /** Whether it is a shared screen or a file, which are shown whole. */
  readonly isScreen?: boolean
  /** Stream that the member sends. */
  stream?: SourceStream | undefined
  /** Packets of the stream; undefined if the stream cannot be shown. */
  feed?: Feed | undefined
  /** Program that the member watches. */
  program?: Program | undefined
  /** Layer of the program that the member receives. */
  layer?: ViewerLayer | undefined
  /** Maximum bit rate of the camera in bit/s. */
  cameraRate: number
  /** Lines on which the member receives cameras and screens, in place of a program. */
  tracks?: TrackLines | undefined
  /** Whether the member's codec was reported. */
  isReported?: boolean
  /** Processes a change of the program. */
  updateView: () => void
  /** Ends the membership. */
  leave: () => void
}

/** Returns the camera of a further source. Throws a TypeError unless it is one of this WebRtc. */
export const cameraOf = (source: BrowserSource): IncomingVideo => {
  if (source instanceof WebRtcSession) return source.video.camera
  throw new TypeError('a source of this WebRtc expected')
}

/** Returns a member that sends nothing yet. */
export const newMember = (id: string, camera: CameraStreams): Member => ({
  id,
  camera,
  cameraRate: maxCameraRate,
  updateView: () => {},
  leave: () => {},
})

/** Whether a camera is sent in several sizes. */
export const isSimulcast = (stream: SourceStream | undefined): boolean =>
  stream?.producer.type === 'simulcast'

/** Sets the maximum bit rate of a camera; 0: none. */
export const capCamera = (stream: SourceStream | undefined, rate: number): void => {
  // A closed transport needs no limit.
  stream?.line.transport?.setMaxIncomingBitrate(rate).catch(() => undefined)
}

/** Returns the maximum bit rate of a camera in bit/s. */
export const rateOf = ({ stream, cameraRate }: Member): number =>
  isSimulcast(stream) ? maxSimulcastRate : cameraRate
