/** Types that all parts of the gateway share: ids of calls and legs, parties, addresses and handlers. */
import type { AudioCodec } from '../media/types.ts'

/** Id of a call; unique for ever. */
export type CallId = string & { readonly __brand: 'CallId' }
/** Id of a leg; unique for ever. Not SIP's Call-ID. */
export type LegId = string & { readonly __brand: 'LegId' }

/** Identity of a caller or callee, as in SIP headers. */
export interface Party {
  /** SIP URI, or `/context/name` of a subscriber. */
  readonly uri: string
  readonly user: string
  readonly name: string
  /** Number or name that carriers receive in place of {@link user}. */
  readonly sendAs?: string
  /**
   * Whether the caller withholds its identity from untrusted parties (RFC 3323 `id`, `user` or `header`);
   * default false.
   */
  readonly private?: boolean
}

/** States of a call that can be reported to a customer's server. */
export type CallProgress = 'initiated' | 'ringing' | 'answered' | 'completed'

/** URL that receives the states of a call. */
export interface StatusTarget {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly states: readonly CallProgress[]
  /** `form`: form parameters, as for XML documents; `json`: JSON events, as for scripts. */
  readonly dialect: 'form' | 'json'
}

/** Kinds of documents. */
export type DocumentKind = 'xml' | 'script' | 'flow'

/** Handler of a call, from the configuration or the directory. */
export type HandlerSpec = HandlerKind & {
  /** URL that receives the call's state changes, independent of the handler. */
  readonly status?: StatusTarget
}

type HandlerKind =
  | {
      readonly kind: DocumentKind
      readonly url: string
      readonly fallbackUrl?: string
      readonly method?: 'GET' | 'POST'
      /** Default {@link method}. */
      readonly fallbackMethod?: 'GET' | 'POST'
    }
  | { readonly kind: DocumentKind; readonly document: string; readonly name: string }
  /** Realtime applications that have subscribed to a topic. */
  | { readonly kind: 'realtime'; readonly topic: string }

/** Target of an address. */
export type Target =
  | {
      readonly kind: 'sip'
      readonly uri: string
      /**
       * Address that was resolved to this target. Absent for a dialed URI or number, which needs permission.
       */
      readonly address?: string
      /** Carrier whose rules apply; default: the carrier that has the URI's host among its targets. */
      readonly carrier?: string
      /**
       * Next hop of the INVITE in place of the request-URI: the contact of a registered endpoint behind NAT.
       */
      readonly nextHop?: string
      /**
       * Registered endpoint with this contact. Such a target belongs to no carrier, and needs no permission.
       */
      readonly endpointId?: string
      /** SRTP of a SIP gateway address; default `optional`: by the rules of its carrier. */
      readonly encryption?: 'optional' | 'required' | 'forbidden'
      /** Codecs of the offer to a SIP gateway, in order of preference; default those of its carrier. */
      readonly codecs?: readonly AudioCodec[]
    }
  /** SIP endpoint. Rings at its registered contacts. */
  | { readonly kind: 'endpoint'; readonly endpointId: string; readonly address: string }
  | { readonly kind: 'subscriber'; readonly subscriberId: string; readonly address: string }
  /**
   * Resource with a handler. The handler runs on the leg of a caller who dials the resource, or on a new leg
   * for a call that connects to it.
   */
  | {
      readonly kind: 'handler'
      readonly handler: HandlerSpec
      readonly address: string
    }

/** Resolution of addresses; part of the directory. */
export interface AddressBook {
  /**
   * Returns the target of a SIP URI, a number, or `/context/name` for a project. Ignores a `?channel=` query.
   * Returns undefined for an unknown address.
   */
  resolve(to: string, projectId: string): Target | undefined
}
