import { isDynamic } from './payload-types.ts'
import { fault } from './sdp-fault.ts'
import type { Format, MediaSection } from './session-description.ts'

/** Video codecs that are forwarded between browsers. Every browser has both (RFC 7742 section 5). */
export type VideoCodec = 'VP8' | 'H264'

/** Video of an m-line: its codec, with the same payload type in both directions. */
export interface VideoFormat extends Format {
  readonly name: VideoCodec
}

/** Video format of local offers. */
export const ownVideo: VideoFormat = {
  payloadType: 96,
  name: 'VP8',
  clockRate: 90_000,
  parameters: '',
  feedback: ['nack', 'nack pli', 'ccm fir', 'transport-cc'],
}

/**
 * Selects the format of an m-line: VP8, or else H.264. So nearly all browsers get the same format.
 * Retransmission (RTX), error correction and other codecs are not used. Undefined without either.
 */
export const videoOf = (section: MediaSection): VideoFormat | undefined => {
  const vp8 = section.formats.find((format) => named(format, 'VP8'))
  const found =
    vp8 ?? section.formats.find((format) => named(format, 'H264') && isBaseline(format.parameters))
  return found && { ...found, name: vp8 ? 'VP8' : 'H264' }
}

/**
 * Throws `bad_sdp` if the format or its payload type differs from what was agreed (RFC 3264 section 8.3.2).
 */
export const checkSameVideo = (agreed: VideoFormat, now: VideoFormat): void => {
  if (agreed.name === now.name && agreed.payloadType === now.payloadType) return
  throw fault('video', `${agreed.name} with payload type ${agreed.payloadType} expected`)
}

const named = ({ name, clockRate, payloadType }: Format, codec: VideoCodec): boolean =>
  name.toUpperCase() === codec && clockRate === 90_000 && isDynamic(payloadType)

// Packetization mode 1 and the constrained baseline profile (RFC 6184 section 8.1), which RFC 7742 section
// 6.2 requires of all.
const isBaseline = (parameters: string): boolean =>
  /(^|;)\s*packetization-mode=1\s*(;|$)/.test(parameters) &&
  /(^|;)\s*profile-level-id=42[4-7c-f]0/i.test(parameters)
