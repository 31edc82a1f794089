import type { AudioCodec } from './codec.ts'
import type { MediaPort } from './port.ts'

/**
 * State of a browser's media: ICE and DTLS together. `failed`, `closed` and `crashed` are final; `crashed`: the mediasoup process died,
 * and no later offer brings the media back.
 */
export type BrowserMediaState = 'connecting' | 'connected' | 'disconnected' | 'failed' | 'closed' | 'crashed'

/** A browser's video: whether there is any, either way. What is behind it is {@link WebRtc}'s own. */
export interface BrowserVideo {
  /** The browser sends video: its description says so, or a screen of it is shown in place of the camera. */
  readonly sends: boolean
  /** The browser takes video. */
  readonly receives: boolean
  /** Tells of each change of the two, by a later offer, an answer, or {@link BrowserMedia.present}. Every listener is told. */
  onChange(listener: () => void): void
}

/** A browser's audio and video: the WebRTC transports, and the edge port behind the audio. */
export interface BrowserMedia {
  readonly port: MediaPort
  readonly codec: AudioCodec
  readonly video: BrowserVideo
  /** Our SDP: the offer, or the answer. Complete, with all candidates. */
  readonly sdp: string
  /** After {@link WebRtc.offer}: takes the browser's answer. Throws `bad_sdp` or `no_common_codec` (as `code`), after which another answer may come. */
  accept(answer: string): Promise<void>
  /** A new offer of the browser in the same session (ICE restart, video added or given up): gives the answer. */
  renegotiate(offer: string): Promise<string>
  /** From now on the other party sees this screen in place of the camera; undefined, or a screen that is closed: the camera again. */
  present(screen: BrowserScreen | undefined): void
  /** Whether the browser is sent no sound; what it is joined to goes on without it. Default false. */
  setDeaf(deaf: boolean): Promise<void>
  onState(listener: (state: BrowserMediaState) => void): void
  close(): Promise<void>
}

/** A screen that a browser shares: a second session of it, of video alone. Its sound, if any, is refused. */
export interface BrowserScreen {
  /** Our answer. */
  readonly sdp: string
  renegotiate(offer: string): Promise<string>
  onState(listener: (state: BrowserMediaState) => void): void
  close(): Promise<void>
}

/** WebRTC towards plain `RTCPeerConnection`s, through mediasoup. */
export interface WebRtc {
  /**
   * Answers an offer; without `video` (default true) each video m-line of it, and of later offers, is refused with port 0. Rejects with an
   * Error whose `code` is `bad_sdp`, `no_common_codec` or `no_ports`.
   */
  answer(
    group: string,
    offer: string,
    codecs: readonly AudioCodec[],
    options?: { readonly video?: boolean },
  ): Promise<BrowserMedia>
  /** Makes an offer with one audio codec, and with video where it is wanted; default without. */
  offer(group: string, codec: AudioCodec, options?: { readonly video?: boolean }): Promise<BrowserMedia>
  /**
   * Answers the offer of a screen. Rejects as {@link answer} does; `bad_sdp` too where it has no video that is sent. The answer names audio
   * first, as the published SDK expects; others offer video alone, or audio first.
   */
  screen(group: string, offer: string): Promise<BrowserScreen>
  /**
   * Shows two browsers each other's video, that of later offers too, without any offer of ours: packets go from one to the other through
   * mediasoup alone. `close` parts them; it is idempotent. Where one is joined to several, it sees the one joined last of those still joined.
   * `onFault` is told why one of the two cannot be shown to the other, once for each joining until something changes: `no_common_codec` (as `code`) where they
   * have different codecs, `no_ports`, or what mediasoup says. The sound is not touched by it.
   */
  joinVideo(a: BrowserVideo, b: BrowserVideo, onFault?: (fault: Error) => void): { close(): void }
  /** Browser transports open. */
  readonly transports: number
  close(): Promise<void>
}
