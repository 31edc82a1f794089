import { randomInt } from 'node:crypto'
import type { AudioCodec, Edge, WebRtc } from '../../../media/types.ts'
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
 * Reads the offer of an INVITE. An INVITE over a WebSocket comes from a browser, which supports WebRTC only.
 * Throws as `readSdp` does.
 */
export const readOffer = (request: SipRequest, sdp: string | undefined): Offer => {
  const isOverWebSocket = /^wss?$/.test(sourceOf(request).transport)
  if (sdp === undefined ? isOverWebSocket : isWebRtcSdp(sdp)) return { kind: 'webrtc', sdp }
  return { kind: 'rtp', remote: sdp === undefined ? undefined : readSdp(sdp) }
}

/** Opens the audio of SIP legs. Every method rejects with `no_ports` if no media port is free. */
export class SipAudio {
  readonly #edge: Pick<Edge, 'open'>
  readonly #clock: Clock
  readonly #webrtc: Pick<WebRtc, 'answer' | 'offer'> | undefined

  /** Without `webrtc`, WebRTC clients can neither call nor be called. */
  constructor(edge: Pick<Edge, 'open'>, clock: Clock, webrtc?: Pick<WebRtc, 'answer' | 'offer'>) {
    this.#edge = edge
    this.#clock = clock
    this.#webrtc = webrtc
  }

  /**
   * Opens the audio of an inbound call: answers the offer, or makes one if the INVITE has none. Rejects if
   * the offer is unusable; nothing stays open then.
   */
  async answer(callId: CallId, offer: Offer, options: LegMediaOptions): Promise<SipMedia> {
    if (offer.kind === 'webrtc') return await this.#answerWebRtc(callId, offer.sdp, options)
    const media = await this.openRtp(callId, options)
    try {
      if (offer.remote) {
        media.exchange.receiveOffer('invite')
        media.answer(offer.remote)
      } else media.offer(undefined, 'response')
      return media
    } catch (error) {
      void media.port.close()
      throw error
    }
  }

  /** Opens RTP; no description is made yet. */
  async openRtp(callId: CallId, options: LegMediaOptions): Promise<LegMedia> {
    const port = await catalogued(this.#edge.open({ group: callId, kind: 'carrier' }))
    try {
      return new LegMedia(port, String(randomInt(1, 2 ** 47)), options)
    } catch (error) {
      void port.close()
      throw error
    }
  }

  /** Opens WebRTC for an offer of this codec. */
  async openWebRtc(callId: CallId, codec: AudioCodec): Promise<SipMedia> {
    return await catalogued(WebRtcMedia.offering(this.#service, callId, codec, this.#clock))
  }

  async #answerWebRtc(callId: CallId, sdp: string | undefined, options: LegMediaOptions): Promise<SipMedia> {
    const { rules = strictRules, likely = [] } = options
    const codecs = preferring(rules.codecs, likely)
    if (sdp !== undefined)
      return await catalogued(WebRtcMedia.answering(this.#service, callId, sdp, codecs, this.#clock))
    const media = await this.openWebRtc(callId, codecs[0] ?? 'PCMU')
    media.offer(undefined, 'response')
    return media
  }

  get #service(): Pick<WebRtc, 'answer' | 'offer'> {
    if (!this.#webrtc) throw new TrunklineError('no_common_codec', 'There is no WebRTC.')
    return this.#webrtc
  }
}

/** Replaces the error of the package `media` for missing ports by one of the catalogue. */
const catalogued = <T>(opening: Promise<T>): Promise<T> =>
  opening.catch((error: unknown) => {
    const isPortError = error instanceof Error && 'code' in error && error.code === 'no_ports'
    throw isPortError ? new TrunklineError('no_ports', undefined, {}, error) : error
  })
