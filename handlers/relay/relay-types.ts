import type { AgentLanguage } from '../verbs.ts'

/** Kinds of the caller's input: keys, speech, both or none. */
export type InputKinds = 'none' | 'dtmf' | 'speech' | 'any'

/** Reports besides the caller's input: heard texts, changes of the speakers, delays of the server. */
export type RelayReport = 'tokens-played' | 'speaker-events' | 'debugging'

/** Settings of a session between a caller and a server that receives and sends text. */
export interface RelayOptions {
  /** URL of the server, `wss:` or `ws:`. */
  readonly url: string
  readonly greeting?: { readonly text: string; readonly interruptible: InputKinds }
  /** Language at the begin, and its recogniser by the document's name. */
  readonly language: AgentLanguage
  readonly recogniser?: string
  /** Further languages, with their voices. */
  readonly languages: readonly AgentLanguage[]
  readonly hints: readonly string[]
  /** Input that interrupts the speech, unless a message says otherwise. */
  readonly interruptible: InputKinds
  readonly sensitivity: 'low' | 'medium' | 'high'
  /** Whether acknowledgements such as "mm-hm" do not interrupt. */
  readonly isBackchannelIgnored: boolean
  /** Input during speech that is reported although it does not interrupt. */
  readonly reported: InputKinds
  /** Whether later speech may replace the present one, unless a message says otherwise. */
  readonly isPreemptible: boolean
  readonly hasKeys: boolean
  readonly hasPartials: boolean
  /** Silence that ends the caller's turn, in ms; absent: by the meaning of the words. */
  readonly silenceMs?: number
  readonly reports: ReadonlySet<RelayReport>
  readonly parameters: Readonly<Record<string, string>>
}

/**
 * End of a session. `completed`: the call has ended. `ended`: the server, or a command, ended the session.
 * `failed`: a fault, or a limit of the gateway, whose code and text follow.
 */
export type RelayEnd =
  | { readonly status: 'completed' }
  | { readonly status: 'ended'; readonly handoffData?: string }
  | { readonly status: 'failed'; readonly code: string; readonly reason: string }

/** Codes of failures. */
export const relayCodes = {
  /** The server cannot be reached, or its URL is refused. */
  connection: '64102',
  /** The server closed the connection, or was lost. */
  closed: '64105',
  /** A message cannot be understood. */
  message: '64107',
} as const

/** Whether some kinds of input contain one kind. */
export const includesKind = (kinds: InputKinds, kind: 'dtmf' | 'speech'): boolean =>
  kinds === 'any' || kinds === kind
