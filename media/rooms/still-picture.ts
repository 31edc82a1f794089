/**
 * Plain picture of a program without a source: a grey VP8 key frame of 640 × 360 pixels, 424 bytes. It was
 * made once with the VideoEncoder of Chromium, at 100 kbit/s in the latency mode `realtime`. The input was an
 * I420 frame with luma 64 and neutral chroma. All macroblocks are alike, so most of it is a repetition.
 */
export const stillPicture: Buffer = Buffer.from(
  `UDMAnQEqgAJoAQbHCIWFiJmEiCQCAAYWBPcGgWSfa9ub${'Jzh7'.repeat(128)}JzeA/urHAA==`,
  'base64',
)

/** Size of the {@link stillPicture}. */
export const stillSize = { width: 640, height: 360 } as const
