import type { DeviceChange, DeviceName, VideoState } from './media-types.ts'

/** Events of a call's media for its owner. */
export interface MediaOwner {
  remoteTrack(track: MediaStreamTrack): void
  /** State of the media path changed. */
  pathChanged(): void
  videoChanged(video: VideoState): void
  deviceChanged(device: 'microphone' | 'camera' | 'speaker', change: DeviceChange): void
  deviceGone(device: 'microphone' | 'camera', name: DeviceName): void
}
