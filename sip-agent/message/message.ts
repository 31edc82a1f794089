import type { Headers } from './headers.ts'
import type { NameAddr } from './name-addr.ts'
import type { Via } from './via.ts'

interface Common {
  readonly headers: Headers
  readonly body: Buffer
}

/** Request that is only split into start line and header lines. */
export interface RawRequest extends Common {
  readonly kind: 'request'
  readonly method: string
  /** The request-URI as written. */
  readonly uri: string
}

/** Response that is only split into start line and header lines. */
export interface RawResponse extends Common {
  readonly kind: 'response'
  readonly status: number
  readonly reason: string
}

/** Message before the check of its headers. */
export type RawMessage = RawRequest | RawResponse

/** Parsed headers that every message must have. */
export interface Essentials {
  readonly via: Via
  /** Number of Via values. */
  readonly vias: number
  readonly from: NameAddr
  readonly to: NameAddr
  readonly fromTag: string
  readonly toTag: string
  readonly callId: string
  readonly seq: number
  /** Method in CSeq. */
  readonly seqMethod: string
}

/** Request with a checked structure. */
export type SipRequest = RawRequest & Essentials

/** Response with a checked structure. */
export type SipResponse = RawResponse & Essentials

/** Message with a checked structure. */
export type SipMessage = SipRequest | SipResponse
