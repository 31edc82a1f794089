/** A video format in mediasoup's words. */
import type { types } from 'mediasoup'
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

/** What a browser sends by its m-line. */
export const producerParameters = (section: MediaSection, format: VideoFormat): types.RtpParameters => {
  const { mid, midExtension, transportExtension, ssrc } = section
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
