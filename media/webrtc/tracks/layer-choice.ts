import type { VideoSource } from '../video/incoming-video.ts'

/** Width in pixels of the largest encoding, as the SDK requests its cameras. Each smaller one has half. */
const fullWidth = 1280
/** Share of the wanted width that is sufficient: scaling up by a quarter is hardly visible. */
const sufficientShare = 0.8

/**
 * Returns the encoding of simulcast for a picture of `width` pixels: the smallest one that is sufficient, 0
 * to `layers` − 1. A camera with a smaller picture has smaller encodings, and the choice is too low by one at
 * worst.
 */
export const layerFor = (width: number, layers: number): number => {
  for (let layer = 0; layer < layers - 1; layer++)
    if (fullWidth / 2 ** (layers - 1 - layer) >= width * sufficientShare) return layer
  return Math.max(0, layers - 1)
}

/** Returns the number of encodings of a stream; 1 without simulcast. */
export const layersOf = ({ producer }: Pick<VideoSource, 'producer'>): number =>
  producer.type === 'simulcast' ? (producer.rtpParameters.encodings?.length ?? 1) : 1
