import type {
  AgentLanguage,
  AgentMessage,
  AgentModelSettings,
  AgentReset,
  AgentRewrite,
  AgentTurnSettings,
} from '../verbs.ts'

/** JSON value of a document. */
export type Json = Readonly<Record<string, unknown>>

/** Text of a prompt, and the model's settings beside it. */
export interface AgentPrompt {
  /** Rendered text: plain, or POM in markdown or XML. Contains placeholders such as `${global_data.x}`. */
  readonly text: string
  readonly settings: AgentModelSettings
  readonly confidence?: number
  readonly bargeConfidence?: number
}

/** Address of a customer's server, with the credentials of its Basic authentication in the URL. */
export interface WebhookTarget {
  readonly url: string
}

/** Function as a document defines it. */
export interface FunctionDefinition {
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments. */
  readonly parameters: Json
  /** Whether the model sees it at the beginning; a number is the number of uses that are left. */
  readonly active: boolean | number
  /** Absent: the default of the document; absent there too: the function fails. */
  readonly webhook?: WebhookTarget
  readonly dataMap?: Json
  readonly fillers?: Readonly<Record<string, readonly string[]>>
  readonly waitSound?: { readonly url: string; readonly loops: number }
  readonly waitForFillers: boolean
  readonly skipFillers: boolean
  /** Data that requests carry; functions with the same token share it. */
  readonly metaData: Json
  readonly metaDataToken: string
}

/** Functions that another server describes. */
export interface FunctionInclude {
  readonly target: WebhookTarget
  readonly functions: readonly string[]
  readonly metaData?: Json
}

/** Server of the Model Context Protocol. */
export interface McpServer {
  readonly url: string
  /** Headers of the requests, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  readonly resources: boolean
  readonly resourceVars: Json
}

/** Context: a set of steps. */
export interface AgentContext {
  readonly name: string
  readonly steps: readonly AgentStep[]
  /** Added to the prompt while in the context. */
  readonly text?: string
  readonly reset: HistoryReset
  readonly isIsolated: boolean
  readonly enterFillers?: Readonly<Record<string, readonly string[]>>
  readonly exitFillers?: Readonly<Record<string, readonly string[]>>
  readonly postPrompt?: string
  readonly validContexts?: readonly string[]
  readonly validSteps?: readonly string[]
  readonly initialStep?: string
  readonly history: 'keep' | 'default' | 'hide'
}

/** Change of the history on entering a context or step. */
export type HistoryReset = AgentReset

/** Step of a context. */
export interface AgentStep {
  readonly name: string
  readonly text: string
  readonly criteria?: string
  /** Names of the functions that are on; an empty list: none; absent: as in the step before. */
  readonly functions?: readonly string[]
  readonly validSteps: readonly string[]
  readonly validContexts: readonly string[]
  readonly skipUserTurn: boolean
  readonly skipToNextStep: boolean
  readonly end: boolean
  readonly history: 'keep' | 'default' | 'hide'
  readonly reset?: HistoryReset
  readonly gather?: GatherInfo
}

/** Questions of a step, whose answers are typed. */
export interface GatherInfo {
  readonly questions: readonly GatherQuestion[]
  readonly prompt?: string
  /** Key of the global data below which the answers are kept; absent: at its top. */
  readonly outputKey?: string
  /** `next_step`, the name of a step, or absent to stay. */
  readonly completionAction?: string
  readonly isIsolated: boolean
}

/** Question of a {@link GatherInfo}. */
export interface GatherQuestion {
  readonly key: string
  readonly question: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean'
  readonly confirm: boolean
  readonly prompt?: string
  readonly functions?: readonly string[]
  readonly isIsolated: boolean
}

/** Parameters of `params` that concern neither turns nor the model, with the document's names. */
export interface AgentParams {
  readonly model?: string
  readonly recogniser?: string
  readonly engine?: string
  readonly name: string
  readonly initialDelayMs: number
  readonly greeting?: { readonly text: string; readonly isInterruptible: boolean }
  readonly waitForUser: boolean
  readonly direction?: 'inbound' | 'outbound'
  readonly isPaused: boolean
  /** Whether the model can pause the conversation by a function. */
  readonly canPause: boolean
  /** Reminder that is added at each turn. */
  readonly conscience?: string
  readonly volumeDb: number
  readonly background?: { readonly url: string; readonly volumeDb: number; readonly loops?: number }
  readonly holdMusic?: string
  /** Silence before the first turn of an outbound call after which the agent speaks. */
  readonly outboundAttentionMs: number
  readonly allowSettings: boolean
  readonly allowScripts: boolean
  readonly allowGlobalData: boolean
  readonly postConversation: boolean
  /** Variables of the script in requests: all, by name, or none. */
  readonly postVariables: boolean | readonly string[]
  readonly persistGlobalData: boolean
  readonly inputPollMs: number
  readonly conversationId?: string
  readonly saveConversation: boolean
  readonly slidingWindow?: number
  readonly history: readonly AgentMessage[]
  readonly transferSummary: boolean
  readonly appName: string
  readonly timeZone: string
  readonly accounting: boolean
  readonly debugUrl?: WebhookTarget
  readonly debugLevel: 0 | 1 | 2
  readonly redact: boolean
  /** All parameters as written, for what is kept but has no effect. */
  readonly all: Json
}

/** Document of a voice agent, read and checked, with defaults. */
export interface AgentDocument {
  readonly prompt: AgentPrompt
  /** Contexts by name; `default` is where it begins. Empty without contexts. */
  readonly contexts: ReadonlyMap<string, AgentContext>
  readonly postPrompt?: AgentPrompt
  readonly postPromptUrl?: WebhookTarget
  readonly params: AgentParams
  readonly turns: AgentTurnSettings
  readonly globalData: Json
  readonly hints: readonly string[]
  readonly corrections: readonly AgentRewrite[]
  readonly languages: readonly AgentLanguage[]
  readonly pronounce: readonly AgentRewrite[]
  readonly functions: readonly FunctionDefinition[]
  readonly defaultWebhook?: WebhookTarget
  readonly includes: readonly FunctionInclude[]
  readonly nativeFunctions: readonly string[]
  /** Fillers of built-in functions: name → language → phrases. */
  readonly internalFillers: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>
  readonly mcpServers: readonly McpServer[]
}

/** Fault or warning of a document of an agent. */
export interface AgentFault {
  /** JSON pointer below the agent's object, for instance `/params/end_of_speech_timeout`. */
  readonly path: string
  /** Expected value. */
  readonly message: string
}

/** Result of reading a document: faults prevent the agent, warnings do not. */
export interface AgentReading {
  /** Absent if there are faults. */
  readonly document?: AgentDocument
  readonly faults: readonly AgentFault[]
  readonly warnings: readonly AgentFault[]
}

/** Effect of an action in a function's reply; carried out by the session of the agent. */
export type AgentEffect =
  | { readonly kind: 'script'; readonly document: unknown; readonly transfer: boolean }
  | { readonly kind: 'transfer'; readonly to: string; readonly summarize: boolean }
  | { readonly kind: 'say'; readonly text: string }
  | { readonly kind: 'stop' | 'hangup' }
  | {
      readonly kind: 'hold'
      readonly seconds: number
      readonly step?: string
      readonly timeoutStep?: string
    }
  | { readonly kind: 'context'; readonly name: string }
  | { readonly kind: 'step'; readonly name: string }
  | { readonly kind: 'switch'; readonly reset: HistoryReset }
  | {
      readonly kind: 'toggle'
      readonly functions: readonly { readonly names: readonly string[]; readonly active: boolean | number }[]
    }
  | { readonly kind: 'set-global'; readonly data: Json }
  | { readonly kind: 'unset-global'; readonly keys: readonly string[] }
  | { readonly kind: 'set-meta'; readonly data: Json }
  | { readonly kind: 'unset-meta'; readonly keys: readonly string[] }
  | { readonly kind: 'background'; readonly url: string; readonly wait: boolean }
  | { readonly kind: 'stop-background' }
  | { readonly kind: 'input'; readonly text: string }
  | { readonly kind: 'wait-for-user'; readonly ms?: number; readonly answerFirst: boolean }
  | {
      readonly kind: 'add-hints'
      readonly hints: readonly string[]
      readonly corrections?: readonly AgentRewrite[]
    }
  | { readonly kind: 'clear-hints' }
  | { readonly kind: 'turns'; readonly settings: Partial<AgentTurnSettings> }
  | { readonly kind: 'settings'; readonly settings: AgentModelSettings }
  | { readonly kind: 'replace-in-history'; readonly text?: string }
  | { readonly kind: 'back-to-back'; readonly mode: boolean | 'forever' }
  | { readonly kind: 'extensive-data'; readonly isOn: boolean }
  | { readonly kind: 'user-event'; readonly event: Json }

/** Reply of a function, read. */
export interface FunctionReply {
  readonly response?: string
  readonly effects: readonly AgentEffect[]
  /** Whether the model speaks once more before the effects. */
  readonly postProcess: boolean
  /** Parts of the reply that could not be understood. */
  readonly warnings: readonly AgentFault[]
}
