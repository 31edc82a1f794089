import type { ConnectOptions, PlayOptions, RecordOptions, SpeechOptions, StreamOptions } from '../verbs.ts'

/** Another document to go on with. */
export interface Next {
  readonly url: string
  readonly method: 'GET' | 'POST'
}

/** A checked `Dial`. */
export interface DialVerb {
  readonly path: string
  readonly kind: 'dial'
  readonly connect: ConnectOptions
  readonly action: Next | undefined
  /** One of its nouns is `Sip`; the action hears of the SIP status then. */
  readonly sip: boolean
}

/** A checked `Gather`. */
export interface GatherVerb {
  readonly path: string
  readonly kind: 'gather'
  readonly prompt: PlayOptions | undefined
  readonly maxDigits: number
  readonly terminators: string
  readonly timeoutMs: number
  readonly action: Next | undefined
  readonly actionOnEmptyResult: boolean
  /** Speech is collected too. */
  readonly speech?: SpeechOptions
  /** False: speech alone. */
  readonly digits?: false
}

/** A checked `Stream`, of `Start` or of `Connect`. */
export interface StreamVerb {
  readonly path: string
  readonly kind: 'stream'
  readonly stream: StreamOptions
  /** The next verb has to wait until it is over. */
  readonly wait: boolean
  /** Of `Connect`: asked for when it is over. */
  readonly action?: Next
}

/** A checked `Record`. */
export interface RecordVerb {
  readonly path: string
  readonly kind: 'record'
  readonly record: RecordOptions
  readonly action: Next | undefined
}

/** One step of a document: everything checked, every URL absolute. `path` names its element in warnings. */
export type Verb = { readonly path: string } & (
  | { readonly kind: 'play'; readonly play: PlayOptions }
  | { readonly kind: 'digits'; readonly digits: string }
  | GatherVerb
  | DialVerb
  | RecordVerb
  | StreamVerb
  | { readonly kind: 'stopStream'; readonly name: string }
  | { readonly kind: 'pause'; readonly ms: number }
  | { readonly kind: 'hangup' }
  | { readonly kind: 'reject'; readonly reason: 'busy' | 'decline' }
  | { readonly kind: 'redirect'; readonly next: Next }
)
