import type { AudioCodec } from '../../../media/types.ts'
import type { HandlerSpec } from '../../model.ts'

/** Types of resources with an address, by their names in the API. */
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

/** The two versions of a call flow: the working copy, and the one deployed last. */
export type FlowVersion = 'working_copy' | 'current_deployed'

/** Subscriber: a person who signs in. Absent properties are unset. */
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
  /** Whether the subscriber may dial SIP URIs and numbers besides addresses. */
  readonly mayDialOut: boolean
  /**
   * Maximum number of simultaneous calls to carriers, and of new ones per second; absent: the limits of the
   * configuration.
   */
  readonly maxCalls?: number
  readonly callsPerSecond?: number
}

/** SIP endpoint: a phone that registers with the gateway. */
export interface EndpointDetails {
  /** Digest user name, case-sensitive; unique over all projects, which share the registrar's domains. */
  readonly username: string
  readonly callerId: string
  /** Number or name that is sent to carriers as the caller; default {@link callerId}. */
  readonly sendAs?: string
  readonly mayDialOut: boolean
  /**
   * Maximum number of simultaneous calls that the endpoint makes, and of new calls per second; absent: no
   * separate limit.
   */
  readonly maxCalls?: number
  readonly callsPerSecond?: number
  /** Codecs in order of preference; default: `defaultEndpointCodecs` of the configuration. */
  readonly codecs?: readonly AudioCodec[]
  readonly encryption: 'default' | 'required' | 'optional'
  /** Handler of the endpoint's calls; if absent, the dialled destination is called. */
  readonly handler?: HandlerSource
  /** Subscriber who owns it. */
  readonly subscriberId?: string
}

/** Stored script or XML document. */
export interface DocumentDetails {
  /** Text: JSON or YAML of a script, or XML. */
  readonly document: string
  readonly statusCallbackUrl?: string
  /** Place of the document in the configuration file, for messages; default its address. */
  readonly declaredAt?: string
}

/** Script or XML document that is fetched for every call. */
export interface WebhookDetails {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly fallbackUrl?: string
  readonly fallbackMethod?: 'GET' | 'POST'
  readonly statusCallbackUrl?: string
  readonly statusCallbackMethod?: 'GET' | 'POST'
}

/** Working copy of a call flow; its deployed versions are stored separately. */
export interface FlowDetails {
  /** The graph (handlers/flow), as JSON text; absent if {@link script} replaces it. */
  readonly flow?: string
  /** Handwritten script in place of the graph, as JSON text. */
  readonly script?: string
  /** Only for flows of the configuration file: URL that is fetched for every call. */
  readonly url?: string
  readonly fallbackUrl?: string
  readonly method?: 'GET' | 'POST'
  /** Place of the document in the configuration file, for messages; default its address. */
  readonly declaredAt?: string
  /** Increases with every change of the working copy, from 1. */
  readonly version: number
  /** Version that calls at `current_deployed` run; absent if none was deployed. */
  readonly deployedVersion?: number
}

/** A realtime application. */
export interface ApplicationDetails {
  readonly topic: string
  readonly statusCallbackUrl?: string
}

/** External SIP URI that can be called through an address of the project. */
export interface GatewayDetails {
  /** A SIP URI. */
  readonly uri: string
  readonly encryption: 'required' | 'optional' | 'forbidden'
  readonly codecs?: readonly AudioCodec[]
}

/** Video room. Times are ms since the epoch. Absent properties have the defaults of a room session. */
export interface RoomDetails {
  readonly description?: string
  /** Maximum number of members. */
  readonly maxMembers?: number
  readonly recordOnStart: boolean
  /** Whether recordings have files of each member; default false. */
  readonly recordMembers?: boolean
  /** URL that recordings are uploaded to, by {@link recordingStorageMethod}; default PUT. */
  readonly recordingStorageUrl?: string
  readonly recordingStorageMethod?: 'PUT' | 'POST'
  /** Name of the layout at the start of a session. */
  readonly layout?: string
  /** Earliest and latest time of joining. */
  readonly joinFrom?: number
  readonly joinUntil?: number
  /** Time at which all members are removed. */
  readonly removeAt?: number
  /** Time after which each member is removed, in seconds from its joining. */
  readonly removeAfterSeconds?: number
  /** Whether a tone is played when a member joins or leaves. */
  readonly toneOnEntryAndExit?: boolean
  /** Whether members join with their video muted. */
  readonly userJoinVideoOff?: boolean
  /** Whether raised hands come before speakers when the slots are too few. */
  readonly prioritizeHandraise?: boolean
  /** Whether names stand over the cameras of a composed picture. */
  readonly names?: boolean
  /** Data of the application for the room; JSON values. */
  readonly meta?: Readonly<Record<string, unknown>>
  /** URL that receives the events of each session, by {@link statusCallbackMethod}; default POST. */
  readonly statusCallbackUrl?: string
  readonly statusCallbackMethod?: 'GET' | 'POST'
}

/** Voice agent. */
export interface AgentDetails {
  /** The `ai` object of scripts, exactly as it was given. */
  readonly settings: Readonly<Record<string, unknown>>
  /** Place of the document in the configuration file, for messages; default its address. */
  readonly declaredAt?: string
}

/** Details of each type. Secrets are never part of them. */
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

/** Room at an address, with the resource if the project has one there. */
export interface FoundRoom {
  /** Address of the room: `/context/name`. */
  readonly address: string
  readonly resource?: Resource<'room'>
}

/** Resource with an address. Times in milliseconds since 1970. */
export type Resource<T extends ResourceType = ResourceType> = T extends ResourceType
  ? {
      readonly id: string
      readonly projectId: string
      readonly type: T
      readonly displayName: string
      readonly address: { readonly id: string; readonly context: string; readonly name: string }
      readonly details: ResourceDetails[T]
      /** Whether the configuration file declares it: the API shows it, and cannot change it. */
      readonly managedByFile: boolean
      readonly createdAt: number
      readonly updatedAt: number
    }
  : never

/** Properties of a new resource. */
export type NewResource<T extends ResourceType = ResourceType> = T extends ResourceType
  ? {
      readonly projectId: string
      readonly type: T
      readonly displayName: string
      /** Default `private` for subscribers, else `public`. */
      readonly context?: string
      /**
       * Default: an unused name derived from the display name (for subscribers, from the user part of the
       * e-mail). A given name that is already used is rejected.
       */
      readonly name?: string
      readonly details: ResourceDetails[T]
      /** Password of a subscriber or SIP endpoint; not allowed for other types. */
      readonly password?: string
    }
  : never

/**
 * Changed details; absent ones stay. A function returns them from the stored ones, in the transaction that
 * writes them: no other change is lost. It may throw, which changes nothing.
 */
export type DetailsChange<T extends ResourceType = ResourceType> =
  | Partial<ResourceDetails[T]>
  | (T extends 'ai_agent' ? (stored: AgentDetails) => Partial<AgentDetails> : never)

/** Changed properties; absent ones stay. */
export type ResourceChange<T extends ResourceType = ResourceType> = T extends ResourceType
  ? {
      readonly displayName?: string
      readonly context?: string
      readonly name?: string
      readonly details?: DetailsChange<T>
      readonly password?: string
    }
  : never

/**
 * Handler of calls: a handler itself, or a resource of the same project, which is looked up at each call.
 * Calls are not handled while the resource, or the wanted version of the flow, is missing.
 */
export type HandlerSource =
  | HandlerSpec
  | { readonly kind: 'resource'; readonly resourceId: string; readonly version?: FlowVersion }

/** Page of a list to return; the newest entry comes last. */
export interface ListPage {
  /** Number of the page, from 0. */
  readonly number: number
  readonly size: number
}

/** A page of a list. */
export interface Listed<T> {
  readonly items: readonly T[]
  /** Number of entries on all pages. */
  readonly total: number
}
