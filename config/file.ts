import type { PushConfig } from './push-types.ts'
import type { NumberLists } from './sip-types.ts'
import type { SrtpSuiteName } from './srtp-suites.ts'
import type { CallQuota, CodecName, Config, SpeechConfig, SpeechEngineConfig } from './types.ts'

/** A handler as the file has it, after the schema. */
export interface FileHandler {
  readonly kind: 'xml' | 'script' | 'flow' | 'realtime'
  readonly topic?: string
  readonly url?: string
  readonly fallbackUrl?: string
  readonly method?: 'GET' | 'POST'
  readonly document?: string | object
  readonly file?: string
}

/** A further project as the file has it. */
export interface FileProject {
  readonly id: string
  readonly name?: string
  readonly apiToken?: string
  readonly signingKeys?: readonly string[]
  readonly carrierCalls?: CallQuota
}

interface Listener {
  readonly address: string
  readonly port: number
}

/** The file after the schema: defaults are filled in, durations are still texts. */
export interface FileConfig {
  readonly project: string
  readonly projects: readonly FileProject[]
  readonly dataDir: string
  /** As in the schema, like `sip`. */
  readonly store: object
  readonly log: Config['log']
  /** As in the schema; `fromSchema` makes the configuration of it. */
  readonly sip: {
    readonly listen: Config['sip']['listen']
    readonly tls: Config['sip']['tls']
    readonly shield: {
      readonly packetsPerSecond: number
      readonly knownPacketsPerSecond: number
      readonly strangers: 'answer' | 'refuse' | 'drop'
    }
    readonly sessionTimer: { readonly expires: string; readonly min: string }
    readonly registrar: {
      readonly domains: readonly string[]
      readonly minExpires: string
      readonly maxExpires: string
    }
  }
  readonly media: {
    readonly rtp: {
      readonly bind: string | readonly string[]
      readonly announce?: string | readonly string[]
      readonly ports: { readonly from: number; readonly to: number }
      readonly threads: number
      readonly startTimeout: string
      readonly mediaTimeout: string
    }
    readonly webrtc: Omit<Config['media']['webrtc'], 'turn'> & {
      readonly turn?: { readonly urls: readonly string[]; readonly secret?: string; readonly ttl: string }
    }
    /** As in the schema, like `sip`. */
    readonly sounds: object
    readonly speech: {
      readonly engines: readonly Omit<SpeechEngineConfig, 'timeoutMs'>[]
      readonly voices: SpeechConfig['voices']
    }
    readonly recordings: object
  }
  readonly http: {
    readonly plain: Listener | boolean
    readonly tls:
      | (Omit<Exclude<Config['http']['tls'], false>, 'hosts'> & { readonly hosts?: readonly string[] })
      | boolean
    readonly metrics: Listener | null
    readonly apiToken?: string
    readonly operatorToken?: string
    readonly publicHost?: string
    readonly origins: readonly string[]
    readonly trustedProxies: readonly string[]
    readonly maxConnections: number
    readonly maxConnectionsPerAddress: number
    readonly headersTimeout: string
  }
  readonly oauth: Pick<Config['oauth'], 'url' | 'clients'>
  readonly webhooks: Config['webhooks']
  /** As in the schema, like `sip`. */
  readonly push: Pick<PushConfig, 'webPush'>
  readonly envs: Config['envs']
  readonly limits: {
    readonly calls: number
    readonly addressDepth: number
    readonly addressCalls: number
    readonly callDuration: string
    readonly ring: string
    readonly documentTimeout: string
    readonly recordsKept: string
    readonly messagesKept: string
    readonly documentNetworks: readonly string[]
    readonly strangers: Config['limits']['strangers']
    readonly project: Config['limits']['project']
    readonly api: Config['limits']['api']
    readonly carrierCalls: Config['limits']['carrierCalls']
    /** As in the schema, like `sip`. */
    readonly webSockets: object
    readonly browsers: Config['limits']['browsers']
  }
  readonly domains: readonly {
    readonly project?: string
    readonly domain: string
    readonly allow?: readonly string[]
    readonly handler?: FileHandler
    readonly challenge?: { readonly username: string; readonly password: string }
    readonly maxCalls?: number
    readonly codecs?: readonly CodecName[]
  }[]
  /** As in the schema, like `sip`. */
  readonly carriers: readonly {
    readonly project?: string
    readonly name: string
    readonly targets: readonly string[]
    readonly default: boolean
    readonly allow: readonly string[]
    readonly number: { readonly prefix: string }
    readonly numbers?: NumberLists
    readonly srtpSuites: readonly SrtpSuiteName[]
    readonly codecs: readonly CodecName[]
    readonly auth?: object
    readonly identity: { readonly from: 'caller' | 'username' | { readonly user: string } }
    readonly register?: object
    readonly tls: { readonly certificate?: string; readonly key?: string }
  }[]
  readonly endpoints: readonly {
    readonly project?: string
    readonly username: string
    readonly password: string
    readonly name?: string
    readonly context: string
    readonly displayName?: string
    readonly callerId?: string
    readonly mayDialOut: boolean
    readonly maxCalls: number
    readonly callsPerSecond: number
    readonly codecs: readonly CodecName[]
    readonly handler?: FileHandler
  }[]
  readonly subscribers: readonly {
    readonly project?: string
    readonly email: string
    readonly password: string
    readonly name?: string
    readonly context: string
    readonly displayName?: string
    readonly firstName?: string
    readonly lastName?: string
    readonly mayDialOut: boolean
    readonly maxCalls?: number
    readonly callsPerSecond?: number
  }[]
  readonly resources: readonly {
    readonly project?: string
    readonly address: string
    readonly displayName?: string
    readonly handler: FileHandler
  }[]
  readonly drain: string
}

/** The name in a subscriber's address. */
export const subscriberName = (subscriber: { readonly email: string; readonly name?: string }): string =>
  subscriber.name ?? subscriber.email.split('@', 1)[0] ?? ''

/** The name in an endpoint's address. */
export const endpointName = (endpoint: { readonly username: string; readonly name?: string }): string =>
  endpoint.name ?? endpoint.username
