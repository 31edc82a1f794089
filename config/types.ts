import type { FileHandler } from './file-config.ts'
import type { carrier } from './schema/carrier-schema.ts'
import type { configSchema } from './schema/config-schema.ts'
import type { LoadedValue } from './schema/values.ts'

export type { CodecName } from './schema/codec-schema.ts'

/** Values of the file, as `fromSchema` returns them. */
type Loaded = LoadedValue<typeof configSchema>

/** Keys of {@link Config} that the loader computes from several keys of the file, or from other files. */
type MadeKey =
  | 'projects'
  | 'agents'
  | 'http'
  | 'domains'
  | 'carriers'
  | 'endpoints'
  | 'subscribers'
  | 'resources'

/**
 * Configuration after loading: defaults are present, variables are replaced, paths are absolute and durations
 * are milliseconds. The schema documents the keys.
 */
export interface Config extends Omit<Loaded, MadeKey> {
  /** All projects of the file, beginning with the first project. */
  readonly projects: readonly ProjectConfig[]
  readonly agents: AgentsConfig
  readonly http: HttpConfig
  readonly domains: readonly DomainConfig[]
  readonly carriers: readonly CarrierConfig[]
  readonly endpoints: readonly EndpointConfig[]
  readonly subscribers: readonly SubscriberConfig[]
  readonly resources: readonly ResourceConfig[]
}

/** Project, with its name and signing keys. The gateway generates a signing key for an empty list. */
export type ProjectConfig = Loaded['projects'][number] &
  Required<Pick<Loaded['projects'][number], 'name' | 'signingKeys'>>

/** Database of the directory. */
export type StoreConfig = Config['store']

/** Log lines. */
export type LogConfig = Config['log']

/** Audio: RTP towards carriers, WebRTC, sounds, speech and recordings. */
export type MediaConfig = Config['media']

/** WebRTC towards browsers. */
export type WebRtcConfig = MediaConfig['webrtc']

/** TURN and STUN servers (RFC 8656, RFC 8489) for browsers. */
export type TurnConfig = NonNullable<WebRtcConfig['turn']>

/** Audio that documents play. */
export type SoundsConfig = MediaConfig['sounds']

/** Speech synthesis and recognition. */
export type SpeechConfig = MediaConfig['speech']

/** Text-to-speech engine over HTTP. */
export type SpeechEngineConfig = SpeechConfig['engines'][number]

/** Voice agents. `default` is present if there are engines. */
export type AgentsConfig = Omit<Loaded['agents'], 'engines' | 'recognisers' | 'models' | 'voices'> & {
  readonly engines: Readonly<Record<string, AgentEngineConfig>>
  readonly recognisers: Readonly<Record<string, AgentRecogniserConfig>>
  readonly models: Readonly<Record<string, AgentModelConfig>>
  readonly voices: Readonly<Record<string, AgentVoiceConfig>>
}

/** Entry of one kind, or of several, whose keys `N` are present. */
type OfKind<E extends { readonly kind: string }, K extends E['kind'], N extends keyof E = never> = Omit<
  E,
  N | 'kind'
> &
  Required<Pick<E, N>> & { readonly kind: K }

type LoadedEngine = Loaded['agents']['engines'][string]

/** Engine of voice agents, by its kind. `url` is that of the hosted service by default. */
export type AgentEngineConfig =
  | OfKind<LoadedEngine, 'openai-realtime' | 'gemini-live' | 'deepgram-agent', 'url' | 'model'>
  | OfKind<LoadedEngine, 'openai-live', 'url' | 'models'>
  | OfKind<LoadedEngine, 'elevenlabs-agent', 'url' | 'agentId'>
  | OfKind<LoadedEngine, 'ultravox', 'url'>
  | OfKind<LoadedEngine, 'pipeline', 'recognisers' | 'models' | 'voices'>

/** Recogniser of pipelines. */
export type AgentRecogniserConfig = OfKind<
  Loaded['agents']['recognisers'][string],
  Loaded['agents']['recognisers'][string]['kind'],
  'url'
>

/** Language model. */
export type AgentModelConfig = OfKind<Loaded['agents']['models'][string], 'openai', 'url'>

type LoadedVoice = Loaded['agents']['voices'][string]

/** Voice of pipelines, by its kind. */
export type AgentVoiceConfig =
  | OfKind<LoadedVoice, 'built-in'>
  | OfKind<LoadedVoice, 'openai', 'url' | 'model' | 'voice'>
  | OfKind<LoadedVoice, 'elevenlabs', 'url' | 'voice'>
  | OfKind<LoadedVoice, 'deepgram', 'url'>
  | OfKind<LoadedVoice, 'cartesia', 'url' | 'model' | 'voice'>
  | OfKind<LoadedVoice, 'media', 'voice'>

/** Detector of callers' voices that runs a model. */
export type AgentDetectorConfig = Omit<Loaded['agents']['detector'], 'kind' | 'folder'> &
  Required<Pick<Loaded['agents']['detector'], 'folder'>>

/** Recordings of calls. */
export type RecordingsConfig = MediaConfig['recordings']

/** HTTP and WebSocket listeners; `false` for a listener that is off. */
export type HttpConfig = Omit<Loaded['http'], 'plain' | 'tls'> & {
  readonly plain: Exclude<Loaded['http']['plain'], boolean> | false
  readonly tls: HttpsConfig | false
}

type Https = Exclude<Loaded['http']['tls'], boolean>

/** HTTPS listener, with the names of its self-signed certificate. */
export type HttpsConfig = Https & Required<Pick<Https, 'hosts'>>

/** Limits of calls, documents, projects and connections. */
export type LimitsConfig = Config['limits']

/** Maximum numbers of objects that one project may create by the API. */
export type ProjectLimits = LimitsConfig['project']

/** Maximum numbers of API requests per minute. */
export type ApiLimits = LimitsConfig['api']

/** Limits of calls to carriers, besides the limits of each carrier. */
export type CarrierCallLimits = Readonly<Record<keyof LimitsConfig['carrierCalls'], CallQuota>>

/** Quota of calls to carriers; an absent key sets no limit. */
export type CallQuota = LimitsConfig['carrierCalls']['perProject']

/** Limits of WebSockets before sign-in, and of each connection. */
export type WebSocketLimits = LimitsConfig['webSockets']

/** Quotas of browsers, by identity and by network address. */
export type BrowserLimits = LimitsConfig['browsers']

/** Quota of connections or calls: maximum number at a time, and maximum number per minute. */
export type BrowserShare = BrowserLimits['perAddress']

/** Sign-in by OAuth 2.0. */
export type OAuthConfig = Config['oauth']

/** Application to which subscribers sign in. */
export type OAuthClientConfig = OAuthConfig['clients'][number]

/** Notifications of calls to subscribers' devices. */
export type PushConfig = Config['push']

/** SIP towards carriers and endpoints. */
export type SipConfig = Config['sip']

/** Conditions for rejecting new calls with 503. */
export type OverloadConfig = SipConfig['overload']

/** Registrar of SIP endpoints. */
export type RegistrarConfig = SipConfig['registrar']

/** Handler of calls: a document, or realtime applications. */
export type HandlerConfig = DocumentHandlerConfig | RealtimeHandlerConfig

/** Handler with a document: exactly one of `url` and `document` is present. */
export interface DocumentHandlerConfig extends Pick<FileHandler, 'url' | 'fallbackUrl' | 'method'> {
  readonly kind: Exclude<FileHandler['kind'], 'realtime'>
  /** Text of the document. A document written in YAML has been converted to JSON; that of an agent always. */
  readonly document?: string
  /** Place of the document's declaration, for messages. */
  readonly name: string
}

/** Handler by realtime applications that subscribe to a topic. */
export interface RealtimeHandlerConfig {
  readonly kind: 'realtime'
  readonly topic: string
}

/** Entry whose handler, if any, contains the text of the document. */
type WithHandler<T> = { readonly [K in keyof T]: K extends 'handler' ? HandlerConfig : T[K] }

/** Domain application: a SIP domain that receives calls. */
export type DomainConfig = WithHandler<Loaded['domains'][number]>

/** SIP endpoint: a phone that registers. */
export type EndpointConfig = WithHandler<Loaded['endpoints'][number]> & { readonly name: string }

/** Resource: an address with a handler. */
export type ResourceConfig = WithHandler<Loaded['resources'][number]>

/** Video room: an address in which browsers and telephones meet. */
export type RoomConfig = Config['rooms'][number]

/** Subscriber: a person who signs in with a browser. */
export type SubscriberConfig = Loaded['subscribers'][number] & { readonly name: string }

type LoadedCarrier = LoadedValue<typeof carrier>

/** Carrier: a trunk of the file, or of a project that created it over the API. */
export type CarrierConfig = Omit<LoadedCarrier, 'responsePort'> &
  // Optional, because the API does not accept this key.
  Partial<Pick<LoadedCarrier, 'responsePort'>> & {
    /** Set for a carrier from the API: `sip.dialNetworks` also limits the addresses of its targets. */
    readonly guarded?: true
  }

/** Lists of permitted and rejected telephone numbers. The longest matching prefix of both decides. */
export type NumberLists = NonNullable<CarrierConfig['numbers']>

/** Identity of the caller in outbound INVITEs. */
export type CarrierIdentity = CarrierConfig['identity']
