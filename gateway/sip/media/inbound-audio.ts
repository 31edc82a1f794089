import { randomInt } from 'node:crypto'
import type { Edge, WebRtc } from '../../../media/types.ts'
import type { Clock } from '../../core/clock.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import type { CallId } from '../../model.ts'
import { readSdp } from '../sdp/read-sdp.ts'
import type { RemoteDescription } from '../sdp/sdp-description.ts'
import { sourceOf } from '../signalling-source.ts'
import type { SipRequest } from '../srf.ts'
import { strictRules } from './audio-far-end.ts'
import { preferring } from './codec-rules.ts'
import { LegMedia, type LegMediaOptions } from './leg-media.ts'
import type { SipMedia } from './sip-media.ts'
import { isWebRtcSdp, WebRtcMedia } from './webrtc-media.ts'

/** Offer of an INVITE; without a description the gateway makes the offer. */
export type Offer =
  | { readonly kind: 'rtp'; readonly remote: RemoteDescription | undefined }
  | { readonly kind: 'webrtc'; readonly sdp: string | undefined }

/**
 * Reads the offer of an INVITE. Only browsers speak SIP over WebSockets, and they speak WebRTC only. Throws
 * like `readSdp`.
 */
export const readOffer = (request: SipRequest, sdp: string | undefined): Offer => {
  const overWebSocket = /^wss?$/.test(sourceOf(request).transport)
  if (sdp === undefined ? overWebSocket : isWebRtcSdp(sdp)) return { kind: 'webrtc', sdp }
  return { kind: 'rtp', remote: sdp === undefined ? undefined : readSdp(sdp) }
}

/** Collaborators of {@link openAudio}. */
export interface InboundAudioDeps {
  readonly edge: Pick<Edge, 'open'>
  /** Without it WebRTC is refused. */
  readonly webrtc?: Pick<WebRtc, 'answer' | 'offer'>
  readonly clock: Clock
}

/**
 * Opens the audio of an inbound call: answers its offer, or makes one. Rejects with `no_ports`, or with the
 * fault of the offer; nothing stays open then.
 */
export const openAudio = async (
  { edge, webrtc, clock }: InboundAudioDeps,
  callId: CallId,
  offer: Offer,
  options: LegMediaOptions,
): Promise<SipMedia> => {
  if (offer.kind === 'webrtc') {
    if (!webrtc) throw new TrunklineError('no_common_codec', 'There is no WebRTC.')
    const { rules = strictRules, likely = [] } = options
    const codecs = preferring(rules.codecs, likely)
    if (offer.sdp !== undefined) return await WebRtcMedia.answering(webrtc, callId, offer.sdp, codecs, clock)
    const media = await WebRtcMedia.offering(webrtc, callId, codecs[0] ?? 'PCMU', clock)
    media.offer(undefined, 'response')
    return media
  }
  const port = await edge.open({ group: callId, kind: 'carrier' })
  try {
    const media = new LegMedia(port, String(randomInt(1, 2 ** 47)), options)
    if (offer.remote) {
      media.exchange.receiveOffer('invite')
      media.answer(offer.remote)
    } else media.offer(undefined, 'response')
    return media
  } catch (error) {
    void port.close()
    throw error
  }
}
