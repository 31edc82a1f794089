/**
 * Whether a payload type is dynamic. With RTCP on the same port, 64 to 95 are ambiguous (RFC 5761 section 4).
 */
export const isDynamic = (payloadType: number): boolean =>
  (payloadType >= 35 && payloadType < 64) || (payloadType >= 96 && payloadType <= 127)
