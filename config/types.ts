import type { BrowserLimits, WebSocketLimits } from './client-types.ts'
import type { OAuthConfig } from './oauth-types.ts'
import type { PushConfig } from './push-types.ts'
import type { RecordingsConfig } from './recording-types.ts'
import type { CarrierConfig, CodecName, EndpointConfig, SipConfig } from './sip-types.ts'
import type { SoundsConfig, SpeechConfig } from './sound-types.ts'
import type { WebRtcConfig } from './webrtc-types.ts'

export type * from './client-types.ts'
export type * from './oauth-types.ts'
export type * from './push-types.ts'
export type * from './recording-types.ts'
export type * from './sip-types.ts'
export type * from './sound-types.ts'
export type * from './webrtc-types.ts'

/**
 * The configuration after loading: every default filled in, every `${ENV}` replaced. Durations are
 * milliseconds.
 */
export interface Config {
  /** Id of the first project: whatever of the file names no other belongs to it. */
  readonly project: string
  /** All of the file, the first one first. */
  readonly projects: readonly ProjectConfig[]
  /** Folder for the store, keys and certificates; relative to the file. */
  readonly dataDir: string
  readonly store: StoreConfig
  readonly log: LogConfig
  readonly sip: SipConfig
  readonly media: MediaConfig
  readonly http: HttpConfig
  readonly limits: LimitsConfig
  readonly oauth: OAuthConfig
  readonly webhooks: {
    /**
     * Secrets that sign what is sent to customers' servers, the present one first; none: one is made of the
     * gateway's own secret.
     */
    readonly signingKeys: readonly string[]
    /** Told the record of each call; default none. */
    readonly recordsUrl?: string
  }
  readonly push: PushConfig
  /** Variables that documents may read; default none. */
  readonly envs: Readonly<Record<string, string>>
  readonly domains: readonly DomainConfig[]
  readonly carriers: readonly CarrierConfig[]
  readonly endpoints: readonly EndpointConfig[]
  readonly subscribers: readonly SubscriberConfig[]
  readonly resources: readonly ResourceConfig[]
  /** Time that calls get to end by themselves after SIGTERM; default 30 s. */
  readonly drainMs: number
}

/** A project. */
export interface ProjectConfig {
  readonly id: string
  /** Letters, digits and dashes; default made of the id. */
  readonly name: string
  /** Password of Basic auth for the API, with the id as user. A secret. */
  readonly apiToken?: string
  /**
   * Secrets that sign what is sent to its customers' servers, the present one first; none: one is made of the
   * gateway's own secret.
   */
  readonly signingKeys: readonly string[]
  /** Its calls to carriers; what is not said is that of {@link CarrierCallLimits.perProject}. */
  readonly carrierCalls?: CallQuota
}

/** Where the directory is kept. */
export interface StoreConfig {
  /** A PostgreSQL database; absent: SQLite in the data folder. May hold a password. */
  readonly url?: string
  /** To PostgreSQL, at once; default 10. */
  readonly connections: number
  /** Longest wait for PostgreSQL at start; default 30 s. */
  readonly startTimeoutMs: number
}

/** How the gateway logs. */
export interface LogConfig {
  /** Default `info`. */
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent'
  /** Lines for people instead of JSON; default false. */
  readonly pretty: boolean
}

/** Audio: carrier ports, browsers, sounds and voices. */
export interface MediaConfig {
  readonly rtp: {
    /** Local addresses of carrier ports, one of each IP family at most; default 0.0.0.0 and `::`. */
    readonly bind: readonly string[]
    /**
     * Addresses in our SDP, one of each family at most; default `bind`, or the machine's own where that is
     * unspecific.
     */
    readonly announce?: readonly string[]
    /** Inclusive; default 20000–29999. */
    readonly ports: { readonly from: number; readonly to: number }
    /** Worker threads; default 1. */
    readonly threads: number
    /** Longest wait for the first packet; default 30 s. */
    readonly startTimeoutMs: number
    /** Longest silence; default 60 s. */
    readonly mediaTimeoutMs: number
  }
  readonly webrtc: WebRtcConfig
  readonly sounds: SoundsConfig
  readonly speech: SpeechConfig
  readonly recordings: RecordingsConfig
}

/** The HTTP and WebSocket listeners. */
export interface HttpConfig {
  /** Plain HTTP and WS; default 127.0.0.1:8080. `false` turns it off. */
  readonly plain: { readonly address: string; readonly port: number } | false
  /** HTTPS and WSS; default 0.0.0.0:8443. `false` turns it off. */
  readonly tls:
    | {
        readonly address: string
        readonly port: number
        /** PEM files; without them a certificate for `hosts` is made and kept in the data folder. */
        readonly certificate?: string
        readonly key?: string
        /**
         * Default the host of `publicHost` and its `fabric.` one, as the published browser SDK asks both;
         * else localhost.
         */
        readonly hosts: readonly string[]
      }
    | false
  /**
   * Prometheus, health and readiness. `null` (default): health and readiness on both listeners, Prometheus on
   * the plain one alone where that listens on loopback, else nowhere; else all of them on a plain listener of
   * their own.
   */
  readonly metrics: { readonly address: string; readonly port: number } | null
  /**
   * Password of Basic auth for the API, with the project's id as user; absent: all access is rejected. A
   * secret.
   */
  readonly apiToken?: string
  /** Bearer token of the operator, for the reload over HTTP; absent: there is no such path. A secret. */
  readonly operatorToken?: string
  /** Host (and port) that clients use, written into tokens as `ch`. */
  readonly publicHost?: string
  /**
   * Origins allowed to open a WebSocket or call the API from a page; default all. Only named ones may sign in
   * with a password.
   */
  readonly origins: readonly string[]
  /** Networks (CIDR) of proxies whose X-Forwarded headers are believed; default none. */
  readonly trustedProxies: readonly string[]
  /** Maximum number of connections of one listener, without WebSockets; default 1,024. */
  readonly maxConnections: number
  /** Maximum number of idle connections of one network address on one listener; default 64. */
  readonly maxConnectionsPerAddress: number
  /** Longest time for the head of a request to arrive, in milliseconds; default 10 s. */
  readonly headersTimeoutMs: number
}

/** What bounds calls and documents. */
export interface LimitsConfig {
  /** Calls at once, over everything; default 1,000. */
  readonly calls: number
  /** Addresses that a call may lead through, each connecting to the next one; default 10. */
  readonly addressDepth: number
  /** Calls to addresses at once that one call may bring about, and 20 times as many in all; default 50. */
  readonly addressCalls: number
  readonly strangers: StrangerLimitsConfig
  /** Longest call; default 4 hours. */
  readonly callDurationMs: number
  /** Ring time where nothing else says; default 60 s. */
  readonly ringMs: number
  /** How long a document's server may take; default 5 s. */
  readonly documentTimeoutMs: number
  /** How long calls and their records are kept; default 400 days. */
  readonly recordsKeptMs: number
  /** How long messages of conversations are kept; default 400 days. */
  readonly messagesKeptMs: number
  /** Networks (CIDR) that customers' URLs may reach although they are private; default none. */
  readonly documentNetworks: readonly string[]
  readonly project: ProjectLimits
  readonly api: ApiLimits
  readonly carrierCalls: CarrierCallLimits
  readonly webSockets: WebSocketLimits
  readonly browsers: BrowserLimits
}

/** A quota of calls to carriers; what is absent has no limit of its own. */
export interface CallQuota {
  /** Calls at once. */
  readonly maxCalls?: number
  /** New calls a second. */
  readonly callsPerSecond?: number
}

/** Calls to carriers, besides the limits of each carrier. */
export interface CarrierCallLimits {
  /** Of one project; default no limit of its own. */
  readonly perProject: CallQuota
  /** Begun by one subscriber; default 10 at once, 2 a second. */
  readonly perSubscriber: CallQuota
  /** Begun by guests of one project, all together; default 20 at once, 2 a second. */
  readonly guests: CallQuota
}

/** Limits of callers over SIP who are in no allow list and have shown no password. */
export interface StrangerLimitsConfig {
  /** Calls at once of one address (IPv6: /64), over all domains without a limit of their own; default 10. */
  readonly maxCallsOfSource: number
  /** New calls a second of one address, over all domains without a limit of their own; default 2. */
  readonly callsPerSecondOfSource: number
  /** Calls at once over UDP whose callers have not yet proved their address; default 100. */
  readonly maxUnconfirmedCalls: number
  /** Per cent of calls, RTP ports and new calls a second that are kept for known networks; default 30. */
  readonly reservedPercent: number
}

/** Requests to the API within a minute. */
export interface ApiLimits {
  /** Of one token; default 1,200. */
  readonly perToken: number
  /** Of one network address, with whatever tokens; default 6,000. */
  readonly perAddress: number
}

/** What one project may have that the API made. */
export interface ProjectLimits {
  /** Default 200,000. */
  readonly subscribers: number
  /** Resources that are no subscribers; default 10,000. */
  readonly resources: number
  /** Default 1,000. */
  readonly domainApps: number
  /** Default 100. */
  readonly carriers: number
  /** Tokens of the API; default 100. */
  readonly tokens: number
}

/** What handles calls: a document, or realtime applications. */
export type HandlerConfig = DocumentHandlerConfig | RealtimeHandlerConfig

/** A document: exactly one of `url` and `document`. */
export interface DocumentHandlerConfig {
  readonly kind: 'xml' | 'script' | 'flow'
  readonly url?: string
  readonly fallbackUrl?: string
  readonly method?: 'GET' | 'POST'
  /**
   * The document's text; a script or a call flow may also stand as YAML in place, and is turned into JSON
   * text by the loader.
   */
  readonly document?: string
  /** Where the document was declared, for messages. */
  readonly name: string
}

/** Realtime applications that listen on a topic (their first version says context). */
export interface RealtimeHandlerConfig {
  readonly kind: 'realtime'
  readonly topic: string
}

/** A domain application: a SIP domain, who may send to it, and what handles its calls. */
export interface DomainConfig {
  /** Default the first project. */
  readonly project?: string
  /** Host part of the request-URI; compared without case. */
  readonly domain: string
  /** CIDRs that may send; absent: anyone. */
  readonly allow?: readonly string[]
  /** Absent: calls are not answered. */
  readonly handler?: HandlerConfig
  /** Calls at once; default the whole limit. */
  readonly maxCalls?: number
  /** New calls a second; default no limit of its own. */
  readonly callsPerSecond?: number
  /** New calls a second from one address; default no limit of its own. */
  readonly callsPerSecondOfSource?: number
  /** Calls at once from one address; default no limit of its own. */
  readonly maxCallsOfSource?: number
  /** Digest credentials that callers have to show; default none. */
  readonly challenge?: { readonly username: string; readonly password: string }
  /** What its callers may speak; default: what their carrier may, or PCMU and PCMA. */
  readonly codecs?: readonly CodecName[]
}

/** A person (or device) who signs in from a browser. */
export interface SubscriberConfig {
  /** Default the first project. */
  readonly project?: string
  readonly email: string
  /** Clear text in the file (use `${ENV}`); kept only as a hash. */
  readonly password: string
  /** Name in the address `/context/name`; default the part of the e-mail before `@`. */
  readonly name: string
  /** Default `public`. */
  readonly context: string
  readonly displayName?: string
  readonly firstName?: string
  readonly lastName?: string
  /** Numbers and SIP URIs may be dialled, besides addresses; default false. */
  readonly mayDialOut: boolean
  /**
   * Calls to carriers at once, and new ones a second; default those of {@link
   * CarrierCallLimits.perSubscriber}.
   */
  readonly maxCalls?: number
  readonly callsPerSecond?: number
}

/** A thing with an address whose handler runs when it is called. */
export interface ResourceConfig {
  /** Default the first project. */
  readonly project?: string
  /** `/context/name`. */
  readonly address: string
  readonly displayName?: string
  readonly handler: HandlerConfig
}

/** Where in the file something stands. */
export interface ConfigFault {
  readonly file: string
  readonly line: number
  readonly column: number
  /** Dotted key path, for instance `domains[0].allow[1]`. */
  readonly path: string
  readonly message: string
}
