/** Video formats as mediasoup's parameters. */
import { getSupportedRtpCapabilities, type types } from 'mediasoup'
import {
  type MediaSection,
  midUri,
  ridUri,
  type Simulcast,
  sends,
  transportUri,
} from './sdp/session-description.ts'
import type { VideoFormat } from './sdp/video-format.ts'

// mediasoup requires the same profile everywhere; the level, the last two digits, is negotiated between the
// browsers.
const parametersOf = ({ name }: VideoFormat): Record<string, string | number> =>
  name === 'H264'
    ? { 'packetization-mode': 1, 'profile-level-id': '42e01f', 'level-asymmetry-allowed': 1 }
    : {}

const feedbackOf = ({ feedback = [] }: VideoFormat): types.RtcpFeedback[] =>
  feedback.map((line) => {
    const [type = '', parameter] = line.split(' ')
    return { type, ...(parameter !== undefined && { parameter }) }
  })

const codecOf = (format: VideoFormat) => ({
  mimeType: `video/${format.name}` as const,
  clockRate: format.clockRate,
  parameters: parametersOf(format),
})

/** Returns the codec for a router with this payload type. */
export const routerCodec = (format: VideoFormat): types.RouterRtpCodecCapability => ({
  kind: 'video',
  ...codecOf(format),
  preferredPayloadType: format.payloadType,
})

/**
 * Codec of packets that only load the path. No browser negotiates it for video, so each one drops the
 * packets.
 */
export const loadCodec = {
  kind: 'audio',
  mimeType: 'audio/PCMU',
  clockRate: 8000,
  preferredPayloadType: 0,
} as const satisfies types.RouterRtpCodecCapability

/** URI of a header extension that is never negotiated. */
const sendTimeUri = 'http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time'

/**
 * Ids of the header extensions that mediasoup writes into each video packet, negotiated or not. A browser
 * with another meaning for an id misinterprets it, for example as an unknown mid, and drops the packet.
 */
const written: ReadonlySet<number> = new Set(
  (getSupportedRtpCapabilities().headerExtensions ?? [])
    .filter(({ kind, uri }) => kind === 'video' && [midUri, transportUri, sendTimeUri].includes(uri))
    .map(({ preferredId }) => preferredId),
)

/** Ids of header extensions of an m-line. */
export type ExtensionIds = Pick<MediaSection, 'midExtension' | 'transportExtension'>

/**
 * Returns the header extensions in use for video. The mid is used only if the browser sends a stream that no
 * SSRC identifies, or simulcast. A browser that receives may read another extension of mediasoup as an
 * unknown mid.
 */
export const extensionsOf = (
  { midExtension, transportExtension, ssrc, direction }: MediaSection,
  hasSimulcast = false,
): ExtensionIds => ({
  ...(midExtension !== undefined &&
    (ssrc === undefined || hasSimulcast) &&
    sends(direction) && { midExtension }),
  ...(transportExtension !== undefined && !written.has(transportExtension) && { transportExtension }),
})

/**
 * Temporal layers of each encoding of simulcast. Browsers send VP8 in three of them, of which the first has a
 * quarter of the frames. mediasoup drops the frames of layers that it does not know.
 */
export const scalabilityMode = 'L1T3'

/**
 * Returns mediasoup's parameters of the stream that a browser sends; with simulcast, of its encodings.
 */
export const producerParameters = (
  section: MediaSection,
  format: VideoFormat,
  simulcast?: Simulcast,
): types.RtpParameters => {
  const { mid, ssrc } = section
  const { midExtension, transportExtension } = extensionsOf(section, simulcast !== undefined)
  return {
    mid,
    codecs: [{ ...codecOf(format), payloadType: format.payloadType, rtcpFeedback: feedbackOf(format) }],
    headerExtensions: [
      ...(midExtension === undefined ? [] : [{ uri: midUri, id: midExtension } as const]),
      ...(transportExtension === undefined ? [] : [{ uri: transportUri, id: transportExtension } as const]),
      ...(simulcast ? [{ uri: ridUri, id: simulcast.ridExtension } as const] : []),
    ],
    encodings: simulcast?.rids.map((rid) => ({ rid, scalabilityMode })) ?? [
      ssrc === undefined ? {} : { ssrc },
    ],
  }
}

/**
 * Returns mediasoup's capabilities of a receiving browser. Header extensions are omitted, because the
 * router's ids differ from the browser's.
 */
export const consumerCapabilities = (format: VideoFormat): types.RtpCapabilities => ({
  codecs: [
    { ...routerCodec(format), preferredPayloadType: format.payloadType, rtcpFeedback: feedbackOf(format) },
  ],
  headerExtensions: [],
})
