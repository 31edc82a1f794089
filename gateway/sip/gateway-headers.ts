import { offenseHeader, reachHeader, unverifiedHeader } from '@trunkline/sip-agent'
import { type Cause, type Code, catalogue } from '../core/errors/catalogue.ts'
import { reasonHeader } from './headers.ts'
import type { Headers } from './srf.ts'

/** Value of Allow: the methods that the gateway accepts. */
export const allowedMethods = 'INVITE, ACK, CANCEL, BYE, OPTIONS, INFO, UPDATE, PRACK, REFER, NOTIFY'

/** Default time after which a caller may retry after a 503, in ms. */
const defaultRetryAfterMs = 10_000

/**
 * Codes that concern one call only. A 503 with Retry-After would make carriers stop sending other calls as
 * well (RFC 3261 section 21.5.4).
 */
const singleCallCodes: ReadonlySet<Code> = new Set<Code>([
  'far_refused',
  'unreachable',
  'document_unreachable',
  'document_invalid',
])

/** Far end of a request or a call: a carrier, or a SIP URI that a project dials without one. */
export type FarEndOfCall =
  | { readonly kind: 'carrier'; readonly name: string }
  | { readonly kind: 'project'; readonly id: string }

/** Options of {@link GatewayHeaders}. */
export interface GatewayHeadersOptions {
  /** Value of the Server and User-Agent headers; default none. */
  readonly userAgent?: string
  /**
   * The agent understands the gateway's private headers and removes them from messages. A drachtio-server
   * would send them to the network. Default false.
   */
  readonly hasPrivateHeaders?: boolean
  /** Time after which a caller may try again after a 503, read at each rejection; default 10 s. */
  readonly retryAfterMs?: () => number
}

/** Options of the headers of one rejection. */
export interface RefusalHeaderOptions {
  /** Text for a person at the peer; default: the text of the error catalogue. */
  readonly detail?: string
  /** Other calls from the same sender may be accepted, so the response has no Retry-After. */
  readonly hasRoomForOthers?: boolean
}

/** Headers that the gateway adds to its own messages, and its private ones for the embedded agent. */
export class GatewayHeaders {
  readonly #userAgent: string
  readonly #hasPrivateHeaders: boolean
  readonly #retryAfterMs: () => number

  constructor(options: GatewayHeadersOptions = {}) {
    const { userAgent = '', hasPrivateHeaders = false, retryAfterMs = () => defaultRetryAfterMs } = options
    this.#userAgent = userAgent
    this.#hasPrivateHeaders = hasPrivateHeaders
    this.#retryAfterMs = retryAfterMs
  }

  /** Headers of a response: Server. */
  get response(): Headers {
    return this.#userAgent === '' ? {} : { Server: this.#userAgent }
  }

  /** Headers of a request: User-Agent. */
  get request(): Headers {
    return this.#userAgent === '' ? {} : { 'User-Agent': this.#userAgent }
  }

  /**
   * Header that marks responses to a caller who has not yet proved its address. The agent limits what it
   * sends to such a caller.
   */
  get unverified(): Headers {
    return this.#hasPrivateHeaders ? { [unverifiedHeader]: '1' } : {}
  }

  /**
   * Returns the headers of a rejection: Reason, Server, Allow with 405, Accept with 415, and a warning with
   * 488 (RFC 3261 section 20.43). A 503 that concerns the gateway or the carrier has Retry-After.
   */
  refusal(cause: Cause, status: number, options: RefusalHeaderOptions = {}): Headers {
    const { detail = catalogue[cause.code].text, hasRoomForOthers } = options
    const isRetryable = status === 503 && !hasRoomForOthers && !singleCallCodes.has(cause.code)
    return {
      ...this.response,
      Reason: reasonHeader(cause),
      ...(isRetryable && { 'Retry-After': String(Math.ceil(this.#retryAfterMs() / 1_000)) }),
      ...(status === 405 && { Allow: allowedMethods }),
      ...(status === 415 &&
        cause.code === 'unsupported_body' && { Accept: 'application/sdp, multipart/mixed' }),
      ...(status === 488 && { Warning: warning(detail) }),
    }
  }

  /** Returns the header by which the agent learns that the sender was rejected because of its address. */
  offense(code: Code): Headers {
    // Only this code means that the sender's address itself is the reason.
    return this.#hasPrivateHeaders && code === 'source_not_allowed' ? { [offenseHeader]: '1' } : {}
  }

  /**
   * Returns the header that names the far end to the agent. The agent checks the far end's addresses before
   * it sends to them.
   */
  farEnd(farEnd: FarEndOfCall | undefined): Headers {
    if (!farEnd || !this.#hasPrivateHeaders) return {}
    return { [reachHeader]: `${farEnd.kind} ${farEnd.kind === 'carrier' ? farEnd.name : farEnd.id}` }
  }
}

/** Value of a Warning header for people (RFC 3261 section 20.43). */
export const warning = (text: string): string =>
  `399 trunkline "${text.replace(/[^\x20-\x7e]/g, '?').replace(/[\\"]/g, '\\$&')}"`
