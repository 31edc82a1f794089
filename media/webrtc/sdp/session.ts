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
}

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
}

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
