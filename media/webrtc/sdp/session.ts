import type { Direction } from '../../types.ts'

/** Hash functions that a certificate's fingerprint may be made with (RFC 8122 section 5, less those that are broken). */
export const fingerprintHashes = ['sha-256', 'sha-384', 'sha-512'] as const

/** A certificate's fingerprint: upper-case hexadecimal bytes, separated by colons. */
export interface Fingerprint {
  readonly algorithm: (typeof fingerprintHashes)[number]
  readonly value: string
}

/** Who opens the DTLS connection (RFC 4145 section 4, RFC 5763 section 5). */
export type Setup = 'active' | 'passive' | 'actpass'

/** A payload type of an m-line. */
export interface Format {
  readonly payloadType: number
  /** As written, for example `PCMU` or `opus`. */
  readonly name: string
  readonly clockRate: number
  /** As written; absent for one. */
  readonly channels?: number
  /** The `a=fmtp` parameters as written; empty when there are none. */
  readonly parameters: string
  /** What the `a=rtcp-fb` lines of it say that we know of; absent where there is nothing. */
  readonly feedback?: readonly Feedback[]
}

/** RTCP feedback that mediasoup gives and takes (RFC 4585, RFC 5104, draft-holmer-rmcat-transport-wide-cc-extensions). */
export const knownFeedback = ['nack', 'nack pli', 'ccm fir', 'transport-cc'] as const

/** One kind of RTCP feedback, as `a=rtcp-fb` writes it. */
export type Feedback = (typeof knownFeedback)[number]

/** What connects one m-line: ICE, DTLS. */
export interface Credentials {
  readonly ufrag: string
  readonly password: string
  readonly fingerprint: Fingerprint
  readonly setup: Setup
}

/** An m-line that can be used. */
export interface MediaSection {
  readonly kind: 'audio' | 'video'
  readonly mid: string
  readonly protocol: string
  /** In the order of the m-line; only those with a known meaning. */
  readonly formats: readonly Format[]
  /** The browser's direction. */
  readonly direction: Direction
  readonly credentials: Credentials
  /** First SSRC of the m-line; absent where the browser announces none. */
  readonly ssrc?: number
  /** Id of the header extension that carries the mid (RFC 8843 section 15); absent where it is not offered. */
  readonly midExtension?: number
  /** Id of the header extension that numbers the packets of a transport for `transport-cc`; absent where it is not offered. */
  readonly transportExtension?: number
}

/** URI of the header extension that carries the mid. */
export const midUri = 'urn:ietf:params:rtp-hdrext:sdes:mid'

/** URI of the header extension that numbers the packets of a transport. */
export const transportUri = 'http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01'

/** An m-line that is answered with port 0: switched off by the browser, or of a type that is not ours. */
export interface RefusedSection {
  readonly kind: 'refused'
  readonly media: string
  readonly mid?: string
  readonly protocol: string
  /** The formats as written; an answer has to repeat one. */
  readonly formats: string
}

/** One m-line of a browser's session description. */
export type Section = MediaSection | RefusedSection

/** A browser's session description, checked. */
export interface SessionDescription {
  readonly sections: readonly Section[]
}

/** The opposite direction, as an answer gives it (RFC 3264 section 6.1). */
export const mirrored = (direction: Direction): Direction =>
  direction === 'sendonly' ? 'recvonly' : direction === 'recvonly' ? 'sendonly' : direction

/** True where the browser sends. */
export const sends = (direction: Direction): boolean => direction === 'sendrecv' || direction === 'sendonly'

/** True where the browser takes what we send. */
export const receives = (direction: Direction): boolean => sends(mirrored(direction))
