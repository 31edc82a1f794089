const payloadFeedback = 206
/** Formats of payload-specific feedback: picture loss (RFC 4585) and full intra request (RFC 5104). */
const keyFrameFormats = [1, 4]

/** Whether a compound of RTCP contains a request for a key frame: PLI or FIR. Ends at a malformed part. */
export const asksKeyFrame = (compound: Buffer): boolean => {
  for (let at = 0; at + 4 <= compound.length; at += 4 + compound.readUInt16BE(at + 2) * 4) {
    if (compound[at + 1] === payloadFeedback && keyFrameFormats.includes(compound[at]! & 0x1f)) return true
  }
  return false
}
