/** The public face of `media/`: what the gateway uses, and nothing of how it is done. */

/** Codecs that a port can carry today; both are 8 kHz mono. */
export type AudioCodec = 'PCMU' | 'PCMA'

/** Which way audio flows, seen from us (RFC 3264). */
export type Direction = 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive'

/** Keys of one SDES negotiation (RFC 4568): 30 bytes each, master key and salt. Never to be logged. */
export interface SrtpKeys {
  readonly suite: 'AES_CM_128_HMAC_SHA1_80' | 'AES_CM_128_HMAC_SHA1_32'
  /** Ours: the one that our SDP announced. */
  readonly sendKey: Uint8Array
  /** The far end's. */
  readonly receiveKey: Uint8Array
}

/** The far end of a port, as its SDP described it. */
export interface FarEnd {
  readonly address: string
  readonly port: number
  /** Encrypts both directions; absent: plain RTP. Keys that stay the same keep their roll-over counters. */
  readonly srtp?: SrtpKeys
  /** Where RTCP goes; default port + 1, or `port` with `rtcpMux`. */
  readonly rtcpPort?: number
  readonly rtcpMux?: boolean
  readonly codec: AudioCodec
  /** Payload type that the far end expects for `codec`. */
  readonly payloadType: number
  /** Payload type that the far end expects for telephone-event/8000; absent where it takes none. */
  readonly telephoneEvent?: number
  /** Our direction. */
  readonly direction: Direction
  /** Packet duration in ms that the far end asked for; default 20, also for anything outside 10 to 120. */
  readonly ptime?: number
  /**
   * Further IP addresses from which the source may be learnt, for a far end whose SDP carries a private address although its
   * signalling comes from a public one. Default none: only `address` is learnt from.
   */
  readonly learnFrom?: readonly string[]
}

/** Payload types that we announced, by which incoming packets are understood. */
export interface NearEnd {
  readonly codecs: readonly { readonly codec: AudioCodec; readonly payloadType: number }[]
  readonly telephoneEvent?: number
}

/** What a port reports. */
export type PortEvent =
  /** A digit `0-9 * # A-D` is complete; once per key press. */
  | { readonly kind: 'digit'; readonly digit: string; readonly durationMs: number }
  /** The first accepted packet: the source is learnt (latched). */
  | { readonly kind: 'latched'; readonly address: string; readonly port: number }
  /** No packet since the start, or none since the last one. Repeats after each further period of silence; every setFar starts anew. */
  | { readonly kind: 'timeout'; readonly phase: 'start' | 'media' }

/** Counters of one port. Packets and octets are of RTP. */
export interface PortStats {
  readonly received: number
  readonly sent: number
  readonly octetsReceived: number
  readonly octetsSent: number
  /** Expected minus received (RFC 3550 A.3). */
  readonly lost: number
  /** Interarrival jitter in ms (RFC 3550 A.8). */
  readonly jitterMs: number
  /** Round trip from the far side's receiver reports, in ms; absent until one arrived. */
  readonly roundTripMs?: number
  /** Packets refused, by reason. */
  readonly refused: Readonly<Record<'source' | 'malformed' | 'payload-type' | 'ssrc' | 'srtp', number>>
}

/** Decoded sound: 8 kHz mono, 16 bit, in shared memory, so that threads play it without a copy. */
export interface Prompt {
  readonly sampleRate: 8000
  readonly samples: Int16Array<SharedArrayBuffer>
}

/** What to play on a port. */
export interface PlayRequest {
  readonly prompt: Prompt
  /** 0 means until stopped; default 1. */
  readonly loop?: number
  /** Default 0. */
  readonly volumeDb?: number
}

/** A sound that is being played. */
export interface Playback {
  /** Settles when the sound is at its end, was stopped, was replaced by another, or the port was closed. Never rejects. */
  readonly done: Promise<'finished' | 'stopped'>
  stop(): void
}

/** One leg's end of the audio: a socket towards its far side, and a place where sound is joined, played and heard. */
export interface MediaPort {
  readonly id: string
  /** Ports of one group can be joined; a call is a group. */
  readonly group: string
  /** What the SDP announces. */
  readonly address: string
  readonly port: number
  readonly rtcpPort: number
  /** SSRC of everything this port sends, from the first packet to the last. */
  readonly ssrc: number
  /**
   * Tells or changes the far end. Each call permits one learning of the source. Addresses are IP literals: throws an Error whose
   * `code` is `bad_far` for anything that cannot be sent to.
   */
  setFar(near: NearEnd, far: FarEnd): void
  /** The codec of the far end; undefined before {@link setFar}. */
  readonly codec: AudioCodec | undefined
  /** Replaces what is being played. A playing sound goes before the joined port's audio. */
  play(request: PlayRequest): Playback
  /**
   * Sends RFC 4733 events; `0-9 * # A-D`, `w` 0.5 s, `W` 1 s. Resolves when all are sent; false where the far end
   * takes none or the direction forbids it. Rejects with `code` `bad_digits` for any other character.
   */
  sendDigits(digits: string): Promise<boolean>
  /** The one listener; a leg owns its port. */
  onEvent(listener: (event: PortEvent) => void): void
  stats(): Promise<PortStats>
  /** Idempotent; parts the port from its partner first. The last statistics come back. */
  close(): Promise<PortStats>
}

/** What a new carrier port needs. */
export interface PortOptions {
  readonly group: string
  /**
   * `carrier`: bound to the configured address and port range, strict source learning, time-outs.
   * `loopback`: on 127.0.0.1 with any port, towards mediasoup; no time-outs.
   */
  readonly kind: 'carrier' | 'loopback'
  /** Longest wait for the first packet after {@link MediaPort.setFar}, in ms; default the edge's. */
  readonly startTimeoutMs?: number
  /** Longest silence between packets, in ms; paused while the direction is not `sendrecv`: somebody holds. */
  readonly mediaTimeoutMs?: number
}

/** Owner of every RTP socket: worker threads, each with its share of the port range. */
export interface Edge {
  /** Rejects with an Error whose `code` is `no_ports` when the range is used up. */
  open(options: PortOptions): Promise<MediaPort>
  /** Cross-connects two ports of one group; parts each from its former partner. */
  join(a: MediaPort, b: MediaPort): void
  /** Ends a join; harmless when there is none. */
  part(port: MediaPort): void
  /** Carrier ports open, and how many the range holds. `quarantined` ones are closed but not free yet. */
  usage(): { readonly used: number; readonly total: number; readonly quarantined: number }
  /** Ports open, of every kind. */
  readonly portCount: number
  /**
   * The one listener for the death of a worker thread. Its ports are gone: they report nothing more, and what is pending on them
   * settles. The next port that needs the thread starts a new one.
   */
  onFailure(listener: (failure: EdgeFailure) => void): void
  close(): Promise<void>
}

/** A worker thread died. */
export interface EdgeFailure {
  readonly error: Error
  /** Ids of the ports that died with it. */
  readonly ports: readonly string[]
}

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

/** A sound to prepare. Audio is given as the bytes that were fetched. */
export type SoundSource =
  | { readonly kind: 'wav'; readonly bytes: Uint8Array }
  | { readonly kind: 'speech'; readonly text: string; readonly voice?: string; readonly language?: string }
  | { readonly kind: 'silence'; readonly ms: number }
  /** One period of a country's ringing tone (play it in a loop), or `ms` of it. */
  | { readonly kind: 'ringtone'; readonly country?: string; readonly ms?: number }

/** Turns sounds into prompts; speech is cached by voice and text. */
export interface Sounds {
  /** Rejects with an Error that says what is wrong with the sound. */
  prepare(source: SoundSource): Promise<Prompt>
  close(): Promise<void>
}
