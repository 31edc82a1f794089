import type { AudioCodec } from '../../media/types.ts'
import type { HandlerSpec } from '../model.ts'

/** Kinds of things that have an address, by the names that the API has for them. */
export type ResourceType =
  | 'subscriber'
  | 'sip_endpoint'
  | 'swml_script'
  | 'swml_webhook'
  | 'cxml_script'
  | 'cxml_webhook'
  | 'call_flow'
  | 'relay_application'
  | 'sip_gateway'
  | 'room'
  | 'ai_agent'

/** The two versions of a call flow: the one that is edited, and the one that was deployed last. */
export type FlowVersion = 'working_copy' | 'current_deployed'

/** A person who signs in. Absent is what was not said. */
export interface SubscriberDetails {
  /** Lower case; unique in the project. */
  readonly email: string
  readonly firstName?: string
  readonly lastName?: string
  readonly jobTitle?: string
  readonly timeZone?: string
  readonly country?: string
  readonly region?: string
  readonly companyName?: string
  /** SIP URIs and numbers may be dialled, besides addresses. */
  readonly mayDialOut: boolean
  /** Calls to carriers at once, and new ones a second; absent: the limits of the configuration. */
  readonly maxCalls?: number
  readonly callsPerSecond?: number
}

/** A phone that registers. */
export interface EndpointDetails {
  /**
   * Digest user name, with regard to case; unique over all projects, for they share the registrar's domains.
   */
  readonly username: string
  readonly callerId: string
  /** Number or name that carriers are shown instead; default {@link callerId}. */
  readonly sendAs?: string
  readonly mayDialOut: boolean
  readonly maxCalls?: number
  readonly callsPerSecond?: number
  readonly codecs?: readonly AudioCodec[]
  readonly encryption: 'default' | 'required' | 'optional'
  /** What runs when it calls; absent: whom it dialled is called. */
  readonly handler?: HandlerSource
  /** The subscriber whom it belongs to. */
  readonly subscriberId?: string
}

/** A script or an XML document that is kept here. */
export interface DocumentDetails {
  /** Text: JSON or YAML of a script, or XML. */
  readonly document: string
  readonly statusCallbackUrl?: string
  /** Where the configuration file has it, for messages; default its address. */
  readonly declaredAt?: string
}

/** A script or an XML document that is asked for at every call. */
export interface WebhookDetails {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly fallbackUrl?: string
  readonly fallbackMethod?: 'GET' | 'POST'
  readonly statusCallbackUrl?: string
  readonly statusCallbackMethod?: 'GET' | 'POST'
}

/** A call flow: the working copy; what is deployed stands beside it as versions. */
export interface FlowDetails {
  /** The graph (handlers/flow), as JSON text; absent where {@link script} stands in its place. */
  readonly flow?: string
  /** A script written by hand in place of the graph, as JSON text. */
  readonly script?: string
  /** Only for flows of the configuration file: asked for at every call. */
  readonly url?: string
  readonly fallbackUrl?: string
  readonly method?: 'GET' | 'POST'
  /** Where the configuration file has it, for messages; default its address. */
  readonly declaredAt?: string
  /** Rises with every change of the working copy, from 1. */
  readonly version: number
  /** Version that calls at `current_deployed` run; absent: none was deployed. */
  readonly deployedVersion?: number
}

/** A realtime application. */
export interface ApplicationDetails {
  readonly topic: string
  readonly statusCallbackUrl?: string
}

/** A SIP address of somebody else, which can be called by an address of ours. */
export interface GatewayDetails {
  /** A SIP URI. */
  readonly uri: string
  readonly encryption: 'required' | 'optional' | 'forbidden'
  readonly codecs?: readonly AudioCodec[]
}

/** A room. Who calls its address with a telephone joins its conference. */
export interface RoomDetails {
  readonly maxMembers?: number
  readonly recordOnStart: boolean
  readonly layout?: string
}

/** An agent; kept, and not to be called yet. */
export interface AgentDetails {
  /** As it was given. */
  readonly settings: Readonly<Record<string, unknown>>
}

/** What each kind has of its own. Secrets are never part of it. */
export interface ResourceDetails {
  readonly subscriber: SubscriberDetails
  readonly sip_endpoint: EndpointDetails
  readonly swml_script: DocumentDetails
  readonly swml_webhook: WebhookDetails
  readonly cxml_script: DocumentDetails
  readonly cxml_webhook: WebhookDetails
  readonly call_flow: FlowDetails
  readonly relay_application: ApplicationDetails
  readonly sip_gateway: GatewayDetails
  readonly room: RoomDetails
  readonly ai_agent: AgentDetails
}

/** Something with an address. Times in milliseconds since 1970. */
export type Resource<T extends ResourceType = ResourceType> = T extends ResourceType
  ? {
      readonly id: string
      readonly projectId: string
      readonly type: T
      readonly displayName: string
      readonly address: { readonly id: string; readonly context: string; readonly name: string }
      readonly details: ResourceDetails[T]
      /** Declared in the configuration file: the API shows it, and changes nothing of it. */
      readonly managedByFile: boolean
      readonly createdAt: number
      readonly updatedAt: number
    }
  : never

/** What something with an address is made of. */
export type NewResource<T extends ResourceType = ResourceType> = T extends ResourceType
  ? {
      readonly projectId: string
      readonly type: T
      readonly displayName: string
      /** Default `private` for subscribers, else `public`. */
      readonly context?: string
      /**
       * Default one that is made of the display name (of subscribers: the e-mail's user) and free. A given
       * one that is taken is refused.
       */
      readonly name?: string
      readonly details: ResourceDetails[T]
      /** Of subscribers and SIP endpoints. */
      readonly password?: string
    }
  : never

/** What changes; what is absent stays. */
export type ResourceChange<T extends ResourceType = ResourceType> = T extends ResourceType
  ? {
      readonly displayName?: string
      readonly context?: string
      readonly name?: string
      readonly details?: Partial<ResourceDetails[T]>
      readonly password?: string
    }
  : never

/**
 * What handles calls: itself, or a resource of the same project, which is looked up at each call; nothing
 * handles them while that is not there, or the wanted version of the flow is none.
 */
export type HandlerSource =
  | HandlerSpec
  | { readonly kind: 'resource'; readonly resourceId: string; readonly version?: FlowVersion }

/** A part of a list, newest last. */
export interface ListPage {
  /** From 0. */
  readonly number: number
  readonly size: number
}

/** A page of a list. */
export interface Listed<T> {
  readonly items: readonly T[]
  /** How many there are on all pages. */
  readonly total: number
}
