import type { AudioCodec, BrowserMedia, MediaPort, WebRtc } from '../../../media/types.ts'
import { BrowserMediaWatch, causeOfLoss } from '../../calls/leg/browser-media-watch.ts'
import type { Clock } from '../../core/clock.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import { parseSipUri } from '../../core/sip-uri.ts'
import type { Target } from '../../model.ts'
import { mediaLines } from '../sdp/media-lines.ts'
import { OfferAnswer, type OfferIn } from './offer-answer.ts'
import type { SipMedia } from './sip-media.ts'

/** Maximum time in ms for which the first sound waits until the client's media is connected. */
const maxConnectWaitMs = 5_000

/**
 * Whether a description is one of WebRTC: audio with keys agreed by DTLS (RFC 5764). An m-line with port 0
 * does not count (RFC 3264 section 6). A description with an alternative in plain RTP, or in SRTP with keys
 * in the SDP, does not count as WebRTC.
 */
export const isWebRtcSdp = (sdp: string): boolean => {
  const usable = mediaLines(sdp).filter(({ media, port }) => media === 'audio' && port > 0)
  const has = (form: RegExp) => usable.some(({ protocol }) => form.test(protocol))
  return has(/^(UDP|TCP)\/TLS\/RTP\/SAVPF?$/) && !has(/^RTP\/S?AVP$/)
}

/**
 * Whether a target is a browser, which supports no audio but WebRTC. Only browsers use SIP over WebSockets.
 */
export const isWebRtcTarget = ({ uri, nextHop }: Extract<Target, { kind: 'sip' }>): boolean => {
  const transport = parseSipUri(nextHop ?? uri)
    ?.params.get('transport')
    ?.toLowerCase()
  return transport === 'ws' || transport === 'wss'
}

/**
 * Audio of a SIP client with WebRTC, such as a browser with a SIP library. mediasoup handles ICE, DTLS and
 * SRTP.
 */
export class WebRtcMedia implements SipMedia {
  readonly exchange: OfferAnswer
  readonly isBehindNat = false
  readonly #browser: BrowserMedia
  readonly #watch: BrowserMediaWatch
  #onFault: ((error: Error) => void) | undefined
  #fault: Error | undefined
  #local = ''
  #remote = ''
  #hasSession = false
  #isClosed = false

  private constructor(browser: BrowserMedia, clock: Clock) {
    this.exchange = new OfferAnswer(Math.random)
    this.#browser = browser
    this.#watch = new BrowserMediaWatch(browser, clock, (state) => {
      const { code, detail } = causeOfLoss(state, 'media_timeout')
      this.#failed(new TrunklineError(code, `WebRTC: ${detail}.`))
    })
  }

  /**
   * Answers the first offer of a client with the first of `codecs` that it has. Rejects with `bad_sdp`,
   * `no_common_codec` or `no_ports`.
   */
  static async answering(
    webrtc: Pick<WebRtc, 'answer'>,
    group: string,
    offer: string,
    codecs: readonly AudioCodec[],
    clock: Clock,
  ): Promise<WebRtcMedia> {
    const media = new WebRtcMedia(await webrtc.answer(group, offer, codecs), clock)
    media.exchange.receiveOffer('invite')
    media.#remote = offer
    media.#hasSession = true
    media.#local = media.#browser.sdp
    return media
  }

  /** Prepares an offer, which {@link offer} returns. Rejects with `no_ports`. */
  static async offering(
    webrtc: Pick<WebRtc, 'offer'>,
    group: string,
    codec: AudioCodec,
    clock: Clock,
  ): Promise<WebRtcMedia> {
    return new WebRtcMedia(await webrtc.offer(group, codec), clock)
  }

  get port(): MediaPort {
    return this.#browser.port
  }

  get local(): string {
    return this.#local
  }

  get isWaiting(): boolean {
    return this.exchange.exchange.kind === 'local offer'
  }

  get isHeld(): boolean {
    return /^a=(sendonly|inactive)\r?$/m.test(this.#remote)
  }

  /** Does nothing: ICE determines the source of audio. */
  setSource(): void {}

  isRepeatedOffer(offer: string): boolean {
    return offer === this.#remote
  }

  async answerSdp(offer: string): Promise<string> {
    if (this.isRepeatedOffer(offer)) return this.#local
    this.#local = await this.#browser.renegotiate(offer)
    this.#remote = offer
    return this.#local
  }

  offer(_preferred: AudioCodec | undefined, where: OfferIn): string {
    this.#open(where)
    if (this.#local === '') this.#local = this.#browser.sdp
    return this.#local
  }

  offerAgain(where: OfferIn): string {
    this.#open(where)
    return this.#local
  }

  /**
   * Accepts the first answer asynchronously: its faults go to the listener. A later answer is a repetition or
   * a change of hold.
   */
  acceptSdp(answer: string): void {
    if (!isWebRtcSdp(answer)) throw new TrunklineError('bad_sdp', 'SDP: an audio m-line of WebRTC expected.')
    this.#remote = answer
    this.exchange.receiveAnswer()
    if (this.#hasSession) return
    this.#hasSession = true
    this.#browser.accept(answer).catch((error: Error) => this.#failed(error))
  }

  /** Does nothing: a client also sends packets during silence. */
  restart(): void {}

  ready = (): Promise<void> => this.#watch.untilConnected(maxConnectWaitMs)

  onFault(listener: (error: Error) => void): void {
    this.#onFault = listener
    if (this.#fault) listener(this.#fault)
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#watch.close()
    void this.#browser.close()
    void this.#browser.port.close()
  }

  #failed(error: Error): void {
    if (this.#isClosed || this.#fault) return
    this.#fault = error
    this.#onFault?.(error)
  }

  #open(where: OfferIn): void {
    if (!this.exchange.sendOffer(where)) throw new Error('an offer is open already')
  }
}
