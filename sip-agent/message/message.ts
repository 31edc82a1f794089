import type { Headers } from './headers.ts'
import type { NameAddr } from './name-addr.ts'
import type { Via } from './via.ts'

interface Common {
  readonly headers: Headers
  readonly body: Buffer
}

/** A request of which only start line and header lines were split. */
export interface RawRequest extends Common {
  readonly kind: 'request'
  readonly method: string
  /** The request-uri as written. */
  readonly uri: string
}

/** A response of which only start line and header lines were split. */
export interface RawResponse extends Common {
  readonly kind: 'response'
  readonly status: number
  readonly reason: string
}

/** A message before its headers are checked. */
export type RawMessage = RawRequest | RawResponse

/** The headers without which nothing can be done, parsed. */
export interface Essentials {
  readonly via: Via
  /** How many Via values there are. */
  readonly vias: number
  readonly from: NameAddr
  readonly to: NameAddr
  readonly fromTag: string
  readonly toTag: string
  readonly callId: string
  readonly seq: number
  /** The method in CSeq. */
  readonly seqMethod: string
}

/** A request whose structure was checked. */
export type SipRequest = RawRequest & Essentials

/** A response whose structure was checked. */
export type SipResponse = RawResponse & Essentials

/** A message whose structure was checked. */
export type SipMessage = SipRequest | SipResponse
