const payloadFeedback = 206
/** Formats of payload-specific feedback: picture loss (RFC 4585), and full intra request (RFC 5104). */
const pictureLoss = 1
const fullIntra = 4
/** Offsets in a part of a compound: SSRC of the stream, and the first entry of a full intra request. */
const mediaAt = 8
const entryAt = 12
const entryBytes = 8

/** Returns the SSRCs of the requests for key frames, PLI and FIR, in a compound of RTCP. */
export const keyFrameRequests = (compound: Buffer): number[] => {
  const ssrcs: number[] = []
  let at = 0
  while (at + 4 <= compound.length) {
    const end = at + 4 + compound.readUInt16BE(at + 2) * 4
    // A truncated part ends the compound.
    if (end > compound.length) break
    const format = compound[at]! & 0x1f
    if (compound[at + 1] === payloadFeedback && format === pictureLoss && at + mediaAt + 4 <= end)
      ssrcs.push(compound.readUInt32BE(at + mediaAt))
    if (compound[at + 1] === payloadFeedback && format === fullIntra)
      for (let entry = at + entryAt; entry + entryBytes <= end; entry += entryBytes)
        ssrcs.push(compound.readUInt32BE(entry))
    at = end
  }
  return ssrcs
}
