import { fault } from './fields.ts'
import { isDynamic } from './numbers.ts'
import type { Format, MediaSection } from './session.ts'

/** Video codecs that go from one browser to another. Every browser has both (RFC 7742 section 5). */
export type VideoCodec = 'VP8' | 'H264'

/** The video of an m-line: its codec, and the number that it has in both directions. */
export interface VideoFormat extends Format {
  readonly name: VideoCodec
}

/** The video of our own offers. */
export const ownVideo: VideoFormat = {
  payloadType: 96,
  name: 'VP8',
  clockRate: 90_000,
  parameters: '',
  feedback: ['nack', 'nack pli', 'ccm fir', 'transport-cc'],
}

/**
 * The one format of an m-line that is taken: VP8, or else H.264, so that nearly all browsers have the same. Retransmission (RTX), error
 * correction and all other codecs are left out. Undefined where there is neither.
 */
export const videoOf = (section: MediaSection): VideoFormat | undefined => {
  const vp8 = section.formats.find((format) => named(format, 'VP8'))
  const found =
    vp8 ?? section.formats.find((format) => named(format, 'H264') && isBaseline(format.parameters))
  return found && { ...found, name: vp8 ? 'VP8' : 'H264' }
}

/** Throws `bad_sdp` where the format is another one than was agreed, or has another number (RFC 3264 section 8.3.2). */
export const checkSameVideo = (agreed: VideoFormat, now: VideoFormat): void => {
  if (agreed.name === now.name && agreed.payloadType === now.payloadType) return
  throw fault('video', `${agreed.name} with payload type ${agreed.payloadType} expected`)
}

const named = ({ name, clockRate, payloadType }: Format, codec: VideoCodec): boolean =>
  name.toUpperCase() === codec && clockRate === 90_000 && isDynamic(payloadType)

// Packetization mode 1 and the constrained baseline profile (RFC 6184 section 8.1), which RFC 7742 section 6.2 wants of all.
const isBaseline = (parameters: string): boolean =>
  /(^|;)\s*packetization-mode=1\s*(;|$)/.test(parameters) &&
  /(^|;)\s*profile-level-id=42[4-7c-f]0/i.test(parameters)
