/** Minimum time between two requests for a key frame of one source, in ms. */
export const keyFrameSpacingMs = 500
