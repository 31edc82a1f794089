/** A scenario of `trunkline agent-test`, as the reader returns it: defaults are set, times are in ms. */

/** Text that a caller says, or a file in its place. */
export interface Speech {
  /** Words, also those that stand-ins of recognisers understand; empty for a file without them. */
  readonly text: string
  /** Absolute path of an audio file. Default: the text in the built-in voice. */
  readonly file?: string
}

/** Kinds of noise behind the caller. */
export const noiseKinds = ['street', 'white'] as const

/** Kind of noise behind the caller. */
export type NoiseKind = (typeof noiseKinds)[number]

/** Change of the caller's line, from this step to the end or to the next change. */
export type LineChange =
  /** Copy of the agent's voice that returns: `db` is its level against the original. Undefined: none. */
  | { readonly kind: 'echo'; readonly echo: { readonly db: number; readonly delayMs: number } | undefined }
  /** `db`: level in dBov. */
  | { readonly kind: 'noise'; readonly noise: { readonly type: NoiseKind; readonly db: number } | undefined }
  /** Share of the caller's packets that are lost, 0 to 1. */
  | { readonly kind: 'loss'; readonly share: number }

interface OverStep<Kind> {
  readonly kind: Kind
  readonly speech: Speech
  readonly afterMs: number
  readonly withinMs: number
}

/** Step of a caller. `withinMs` bounds the wait for the agent. */
export type Step =
  /** Speaks a turn that the agent is to answer. */
  | { readonly kind: 'say'; readonly speech: Speech }
  | { readonly kind: 'pause'; readonly ms: number }
  /** Waits until the agent has spoken and is silent, or until the agent ends the call. */
  | { readonly kind: 'wait'; readonly for: 'agent' | 'end'; readonly withinMs: number }
  /** Makes a sound over the agent, after it has spoken for `afterMs`. */
  | OverStep<'over'>
  | OverStep<'interrupt'>
  | { readonly kind: 'cough'; readonly ms: number; readonly afterMs: number; readonly withinMs: number }
  | { readonly kind: 'keys'; readonly digits: string }
  | LineChange
  | { readonly kind: 'hangup' }

/** Agent under test. */
export type Target =
  /** Running gateway, called as a carrier calls it. */
  | {
      readonly kind: 'address'
      readonly uri: string
      /** SIP URI of the host that the call is sent to; default the address itself. */
      readonly via?: string
      /** Base URL of running stand-ins that are to understand the caller's words. */
      readonly standIns?: string
    }
  /** Document that a gateway of the command serves. */
  | {
      readonly kind: 'document'
      /** Absolute path. */
      readonly file: string
      /** Absolute path of a configuration whose engines answer. Default: stand-ins. */
      readonly config?: string
      /** Absolute path of a script of the stand-ins. Default: the assistant. */
      readonly standIns?: string
    }

/** Reply of the test's own server to a function. */
export interface FunctionReply {
  readonly delayMs: number
  /** Body of the response, in JSON. */
  readonly body: Readonly<Record<string, unknown>>
}

/** Expected calls of a function. */
export interface ExpectedCall {
  readonly name: string
  /** Arguments that must be equal; further ones are allowed. */
  readonly args: Readonly<Record<string, unknown>>
  /** Exact number of calls; undefined: at least one. */
  readonly times?: number
}

/** Expectations, each of which fails the test if it is not true. Times are maxima in ms. */
export interface Expectations {
  /** From the end of each turn of the caller to the agent's voice. */
  readonly gapMs?: number
  /** From the begin of each interruption to the agent's silence. */
  readonly yieldMs?: number
  /** From the end of each acknowledgement or cough until the agent is heard again. */
  readonly goOnMs?: number
  readonly endedBy?: 'agent' | 'caller'
  readonly calls: readonly ExpectedCall[]
  /** Words that the transcript of the agent must have, or must not have. */
  readonly says: readonly string[]
  readonly saysNever: readonly string[]
}

/** One scenario. */
export interface Scenario {
  readonly name: string
  readonly target: Target
  /** User part of the callers' addresses. Default: one of its own for each call. */
  readonly from?: string
  /** Built-in voice of the callers. */
  readonly voice: string
  /** Level in dBov up to which the agent counts as silent. */
  readonly silenceDb: number
  /** Address of the server for functions and reports; default a free port of 127.0.0.1. */
  readonly server?: { readonly host: string; readonly port: number }
  readonly functions: ReadonlyMap<string, FunctionReply>
  readonly steps: readonly Step[]
  readonly expect: Expectations
}
