/** A video format in mediasoup's words. */
import { getSupportedRtpCapabilities, type types } from 'mediasoup'
import { type MediaSection, midUri, transportUri } from '../sdp/session.ts'
import type { VideoFormat } from '../sdp/video.ts'

// mediasoup wants the same profile everywhere; the level, the last two digits, is between the browsers.
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

/** The codec of the router that has this number for it. */
export const routerCodec = (format: VideoFormat): types.RouterRtpCodecCapability => ({
  kind: 'video',
  ...codecOf(format),
  preferredPayloadType: format.payloadType,
})

/** URI of a header extension that we never agree on. */
const sendTimeUri = 'http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time'

/**
 * Ids of the header extensions that mediasoup writes into each packet of video, agreed or not. A browser that has another meaning for one of
 * them takes, for example, the time for a mid that it does not know, and drops the packet.
 */
const written: ReadonlySet<number> = new Set(
  (getSupportedRtpCapabilities().headerExtensions ?? [])
    .filter(({ kind, uri }) => kind === 'video' && [midUri, transportUri, sendTimeUri].includes(uri))
    .map(({ preferredId }) => preferredId),
)

/** Ids of header extensions of an m-line. */
export type ExtensionIds = Pick<MediaSection, 'midExtension' | 'transportExtension'>

/** Those of the browser's header extensions for video that we use: the mid only where nothing else tells its stream from others. */
export const extensionsOf = ({ midExtension, transportExtension, ssrc }: MediaSection): ExtensionIds => ({
  ...(midExtension !== undefined && ssrc === undefined && { midExtension }),
  ...(transportExtension !== undefined && !written.has(transportExtension) && { transportExtension }),
})

/** What a browser sends by its m-line. */
export const producerParameters = (section: MediaSection, format: VideoFormat): types.RtpParameters => {
  const { mid, ssrc } = section
  const { midExtension, transportExtension } = extensionsOf(section)
  return {
    mid,
    codecs: [{ ...codecOf(format), payloadType: format.payloadType, rtcpFeedback: feedbackOf(format) }],
    headerExtensions: [
      ...(midExtension === undefined ? [] : [{ uri: midUri, id: midExtension } as const]),
      ...(transportExtension === undefined ? [] : [{ uri: transportUri, id: transportExtension } as const]),
    ],
    encodings: [ssrc === undefined ? {} : { ssrc }],
  }
}

/** What a browser takes. No header extension: their ids are the router's, and a browser's are others. */
export const consumerCapabilities = (format: VideoFormat): types.RtpCapabilities => ({
  codecs: [
    { ...routerCodec(format), preferredPayloadType: format.payloadType, rtcpFeedback: feedbackOf(format) },
  ],
  headerExtensions: [],
})
