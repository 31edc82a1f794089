/** The words that every part of the gateway shares: calls and legs by id, parties, addresses, and the handlers of calls. */
import type { RoomConference } from '../handlers/verbs.ts'
import type { AudioCodec } from '../media/types.ts'

/** Id of a call; unique for ever. */
export type CallId = string & { readonly __brand: 'CallId' }
/** Id of a leg; unique for ever. Not SIP's Call-ID. */
export type LegId = string & { readonly __brand: 'LegId' }

/** Who is at the other end, in the words of SIP. */
export interface Party {
  /** SIP URI, or `/context/name` of a subscriber. */
  readonly uri: string
  readonly user: string
  readonly name: string
  /** Number or name that carriers are shown in place of {@link user}. */
  readonly sendAs?: string
  /** The caller asked that strangers are not told who calls (RFC 3323 `id`, `user` or `header`); default false. */
  readonly private?: boolean
}

/** States of a call that a customer's server may be told of. */
export type CallProgress = 'initiated' | 'ringing' | 'answered' | 'completed'

/** Where the states of a call are told, in the words of which API. */
export interface StatusTarget {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly states: readonly CallProgress[]
  /** `form`: the XML family's parameters; `json`: the script family's events. */
  readonly dialect: 'form' | 'json'
}

/** Kinds of documents. */
export type DocumentKind = 'xml' | 'script' | 'flow'

/** What a call is handled with, as the configuration or the directory says. */
export type HandlerSpec = HandlerKind & {
  /** Told how the call goes, whoever drives it. */
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
  /** Realtime applications that listen on a topic. */
  | { readonly kind: 'realtime'; readonly topic: string }

/** What an address stands for. */
export type Target =
  | {
      readonly kind: 'sip'
      readonly uri: string
      /** The address of ours that stands for it; absent: the URI or a number was dialled, which not everybody may. */
      readonly address?: string
      /** Name of the carrier whose rules hold; default the one that has the URI's host among its targets. */
      readonly carrier?: string
      /** Where the INVITE goes although its request-URI says otherwise: the contact of a registered endpoint behind NAT. */
      readonly nextHop?: string
      /** The registered endpoint whose contact it is: no carrier's, and no matter of what may be dialled. */
      readonly endpointId?: string
      /** SRTP of a gateway that has an address of ours; default `optional`: as its carrier's rules say. */
      readonly encryption?: 'optional' | 'required' | 'forbidden'
      /** Offered to such a gateway, the first one first; default those of its carrier. */
      readonly codecs?: readonly AudioCodec[]
    }
  /** A SIP endpoint; rings where it is registered ({@link Endpoints}). */
  | { readonly kind: 'endpoint'; readonly endpointId: string; readonly address: string }
  | { readonly kind: 'subscriber'; readonly subscriberId: string; readonly address: string }
  /** A resource with a handler. It runs on the leg of a caller who dials it, and on a leg of its own if a call is connected to it. */
  | {
      readonly kind: 'handler'
      readonly handler: HandlerSpec
      readonly address: string
      /** Whether no caller is ever shown video there; default false. */
      readonly isAudioOnly?: boolean
    }

/** Reads addresses; part of the directory. */
export interface AddressBook {
  /**
   * The target, for a project, of a SIP URI, a number, or `/context/name` (a `?channel=` query is ignored); undefined when there is none.
   */
  resolve(to: string, projectId: string): Target | undefined
}

/** The rooms in which callers meet; part of the directory. */
export interface Rooms {
  /**
   * What the conference of a room is joined with. The room is `/public/<name>`, or that of the address `/context/name`; where a project has
   * none there, it is a conference that is the room's alone.
   */
  room(name: string, projectId: string): RoomConference
}
