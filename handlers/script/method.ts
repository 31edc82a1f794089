import type { AgentMemory } from '../agent/session-host.ts'
import type { Timers } from '../common/timers.ts'
import type { HandlerContext } from '../handler.ts'
import type { AgentTranscriptEvent, CallControl, CallRecording, CallStream } from '../verbs.ts'
import type { Background } from './background.ts'
import type { StatusEvents } from './events.ts'
import type { MethodSpec } from './method-spec.ts'
import type { Branches, StepList } from './steps.ts'
import type { Values } from './values.ts'
import type { Variables } from './variables.ts'

/** Continuation after a step; undefined is the next step. */
export type Outcome =
  | undefined
  | { readonly kind: 'goto'; readonly label: string }
  | { readonly kind: 'return'; readonly value: unknown }
  | { readonly kind: 'transfer'; readonly to: Section; readonly params: Params }

/** Parameters of a section. */
export type Params = Readonly<Record<string, unknown>>

/** Sections of one document, by name. */
export type Sections = ReadonlyMap<string, StepList>

/** Section with its document. */
export interface Section {
  readonly sections: Sections
  readonly steps: StepList
  /** URL of the document in faults; absent for an inline document. */
  readonly document?: string
}

/** Running script, as its methods see it. */
export interface ScriptContext {
  readonly call: CallControl
  readonly context: HandlerContext
  readonly variables: Variables
  readonly events: StatusEvents
  /** Recordings in the background. */
  readonly recordings: Background<CallRecording>
  readonly streams: Background<CallStream>
  readonly taps: Background<CallStream>
  /** Data that the voice agents of the script share. */
  readonly agents: AgentMemory
  /** Timers that run after the end of the call, too. */
  readonly timers: Timers
  /** Ends the conversations of voice agents; absent: only the call and the documents do. */
  readonly stopAgents: AbortSignal | undefined
  /** Receives the live transcripts of voice agents on the call. */
  readonly onTranscript: ((event: AgentTranscriptEvent) => void) | undefined
  /** Logs a fault that does not stop the script. */
  warn(code: string, message: string, path: string): void
  /** Runs nested steps of a method. */
  steps(list: StepList | undefined): Promise<Outcome>
  /** Runs the selected branch; `variable` decides if the branches name no variable. */
  branch(branches: Branches | undefined, variable: string): Promise<Outcome>
  /** Whether a condition holds. False, with a warning, if it cannot be evaluated. */
  holds(when: string): Promise<boolean>
  /** Counts a jump of the step at `path`. Returns false after `maxJumps` jumps in this run of the section. */
  mayJump(path: string, maxJumps: number): boolean
  /**
   * Finds a section by its name, or the main section of the document at a URL or in a text. Documents are
   * requested with `params`. Throws {@link VerbFailed}.
   */
  find(dest: string, params: Params): Promise<Section>
  /** Runs a section until it returns or transfers. */
  execute(section: Section, params: Params): Promise<{ readonly outcome: Outcome; readonly value: unknown }>
  /**
   * Finds a section as {@link find} does, and runs it for an action during a step. Such actions do not count
   * as jumps.
   */
  perform(dest: string): Promise<{ readonly outcome: Outcome }>
  /**
   * Runs the document at a URL, or steps, on a callee's leg. Throws {@link VerbFailed} if the document cannot
   * be loaded.
   */
  confirm(callee: CallControl, source: string | StepList): Promise<void>
  /**
   * Returns a function that runs the document at a URL on this call by the verbs of its argument. Faults of
   * the document are logged in the first run only.
   */
  waiting(url: string): (call: CallControl) => Promise<void>
}

/** Method of the language: its syntax and its effect. */
export interface Method extends MethodSpec {
  /** Variables that report a failure of the method. */
  readonly failed?: Readonly<Record<string, unknown>>
  /** Runs the method. Throws {@link VerbFailed} if it fails, and {@link CallEnded} at the end of the call. */
  readonly run: (values: Values, script: ScriptContext) => Promise<Outcome | undefined>
}
