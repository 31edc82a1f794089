import type { AudioCodec } from './codec.ts'
import type { MediaPort } from './port.ts'

/** A browser's audio: the WebRTC transport, and the edge port behind it. */
export interface BrowserMedia {
  readonly port: MediaPort
  readonly codec: AudioCodec
  /** Our SDP: the offer, or the answer. Complete, with all candidates. */
  readonly sdp: string
  /** After {@link WebRtc.offer}: takes the browser's answer. Throws `bad_sdp` or `no_common_codec` (as `code`). */
  accept(answer: string): Promise<void>
  /** A new offer of the browser in the same session (ICE restart, video added): gives the answer. */
  renegotiate(offer: string): Promise<string>
  /** ICE and DTLS state; `failed` and `closed` are final. */
  onState(listener: (state: 'connecting' | 'connected' | 'disconnected' | 'failed' | 'closed') => void): void
  close(): Promise<void>
}

/** WebRTC towards plain `RTCPeerConnection`s, through mediasoup. */
export interface WebRtc {
  /** Answers an offer. Rejects with an Error whose `code` is `bad_sdp`, `no_common_codec` or `no_ports`. */
  answer(group: string, offer: string, codecs: readonly AudioCodec[]): Promise<BrowserMedia>
  /** Makes an offer with one codec. */
  offer(group: string, codec: AudioCodec): Promise<BrowserMedia>
  /** Browser transports open. */
  readonly transports: number
  close(): Promise<void>
}
