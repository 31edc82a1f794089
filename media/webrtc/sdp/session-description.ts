import type { Direction } from '../../types.ts'

/** Secure hash functions for certificate fingerprints (RFC 8122 section 5). */
export const fingerprintHashes = ['sha-256', 'sha-384', 'sha-512'] as const

/** Certificate fingerprint: upper-case hexadecimal bytes, separated by colons. */
export interface Fingerprint {
  readonly algorithm: (typeof fingerprintHashes)[number]
  readonly value: string
}

/** Role in opening the DTLS connection (RFC 4145 section 4, RFC 5763 section 5). */
export type Setup = 'active' | 'passive' | 'actpass'

/** Payload type of an m-line. */
export interface Format {
  readonly payloadType: number
  /** Encoding name as written, for example `PCMU` or `opus`. */
  readonly name: string
  readonly clockRate: number
  /** Number of channels as written; absent for one. */
  readonly channels?: number
  /** Value of `a=fmtp` as written; empty if absent. */
  readonly parameters: string
  /** Supported values of its `a=rtcp-fb` lines; absent if none. */
  readonly feedback?: readonly Feedback[]
}

/**
 * RTCP feedback that mediasoup supports (RFC 4585, RFC 5104,
 * draft-holmer-rmcat-transport-wide-cc-extensions).
 */
export const knownFeedback = ['nack', 'nack pli', 'ccm fir', 'transport-cc'] as const

/** One kind of RTCP feedback, as written in `a=rtcp-fb`. */
export type Feedback = (typeof knownFeedback)[number]

/** ICE and DTLS parameters of one m-line. */
export interface Credentials {
  readonly ufrag: string
  readonly password: string
  readonly fingerprint: Fingerprint
  readonly setup: Setup
}

/** A usable m-line. */
export interface MediaSection {
  readonly kind: 'audio' | 'video'
  readonly mid: string
  readonly protocol: string
  /** Formats in the order of the m-line, without unknown formats. */
  readonly formats: readonly Format[]
  /** Direction, as written by the browser. */
  readonly direction: Direction
  readonly credentials: Credentials
  /** First SSRC of the m-line; absent if not announced. */
  readonly ssrc?: number
  /** Id of the header extension that carries the mid (RFC 8843 section 15); absent if not offered. */
  readonly midExtension?: number
  /**
   * Id of the header extension with transport-wide sequence numbers for `transport-cc`; absent if not
   * offered.
   */
  readonly transportExtension?: number
  /** Encodings of one source that the browser sends at once (simulcast); absent without. */
  readonly simulcast?: Simulcast
}

/** Simulcast of an m-line (RFC 8853), restricted to streams that RTP stream ids identify. */
export interface Simulcast {
  /** RTP stream ids (RFC 8852) in the order of the offer, which the SDK begins with the smallest picture. */
  readonly rids: readonly string[]
  /** Id of the header extension that carries the RTP stream id. */
  readonly ridExtension: number
}

/** URI of the header extension that carries the RTP stream id. */
export const ridUri = 'urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id'

/** URI of the header extension that carries the mid. */
export const midUri = 'urn:ietf:params:rtp-hdrext:sdes:mid'

/** URI of the header extension with transport-wide sequence numbers. */
export const transportUri = 'http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01'

/** An m-line answered with port 0: disabled by the browser, or of an unsupported type. */
export interface RefusedSection {
  readonly kind: 'refused'
  readonly media: string
  readonly mid?: string
  readonly protocol: string
  /** Formats as written; an answer must repeat one. */
  readonly formats: string
}

/** One m-line of a browser's session description. */
export type Section = MediaSection | RefusedSection

/** Validated session description of a browser. */
export interface SessionDescription {
  readonly sections: readonly Section[]
}

/** Returns the direction for an answer (RFC 3264 section 6.1). */
export const mirrored = (direction: Direction): Direction =>
  direction === 'sendonly' ? 'recvonly' : direction === 'recvonly' ? 'sendonly' : direction

/** Whether the browser sends. */
export const sends = (direction: Direction): boolean => direction === 'sendrecv' || direction === 'sendonly'

/** Whether the browser receives. */
export const receives = (direction: Direction): boolean => sends(mirrored(direction))
