import type { DigestSecret } from '../../directory/types.ts'
import type { Headers, SipRequest } from '../srf.ts'

/** What is asked of a sender. */
export interface Demand {
  /** Lower case. */
  readonly realm: string
  /** By user name; undefined for somebody unknown, who is to notice no difference. */
  secretOf(username: string): DigestSecret | undefined
}

/** What a request proved. */
export type Proof =
  | { readonly kind: 'proved'; readonly username: string }
  /** `headers` are for a 401. `missing` is no offence: every first request comes without an answer. */
  | { readonly kind: 'challenge'; readonly why: 'missing' | 'stale' | 'wrong'; readonly headers: Headers }

/** Checks digest answers (RFC 8760), in constant time. */
export interface Challenges {
  check(request: SipRequest, demand: Demand): Proof
}
