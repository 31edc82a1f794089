import { type MediaChange, receives, sends } from './peer.ts'
import type { CallOptions } from './types.ts'

/** Sizes of a camera, the smallest first: a quarter, a half and all of its width. Bit rates in bit/s. */
const encodings: readonly RTCRtpEncodingParameters[] = [
  { rid: 'q', scaleResolutionDownBy: 4, maxBitrate: 150_000 },
  { rid: 'h', scaleResolutionDownBy: 2, maxBitrate: 450_000 },
  { rid: 'f', scaleResolutionDownBy: 1, maxBitrate: 1_000_000 },
]

/**
 * Returns the sections for a camera in several sizes: one that sends, and one for the video of others. The
 * gateway sends nothing over a section with several sizes. Other changes stay as they are.
 */
export const inSizes = (change: MediaChange): readonly MediaChange[] => {
  if (change.kind !== 'video' || !sends(change.direction)) return [change]
  const camera: MediaChange = { ...change, direction: 'sendonly', encodings: [...encodings] }
  return receives(change.direction)
    ? [camera, { kind: 'video', direction: 'recvonly', track: null }]
    : [camera]
}

/** Returns the options with a camera of 1280 × 720 pixels, unless the page has constraints of its own. */
export const withLargeCamera = (options: CallOptions): CallOptions =>
  options.video === true ? { ...options, video: { width: { ideal: 1280 }, height: { ideal: 720 } } } : options
