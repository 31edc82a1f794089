import type { HandlerContext } from '../handler.ts'
import type { CallControl, CallRecording, CallStream } from '../verbs.ts'
import type { Background } from './background.ts'
import type { StatusEvents } from './events.ts'
import type { Schema } from './schema-builders.ts'
import type { Branches, StepList } from './steps.ts'
import type { Values } from './values.ts'
import type { Variables } from './variables.ts'

/** How steps are written in a parameter: a list; a `switch` object or a `cond` list; a URL or a list for the callee's leg. */
export type NestedKind = 'steps' | 'branches' | 'confirm' | 'cases' | 'conditions'

/** How one method is written. */
export interface MethodSpec {
  readonly description: string
  readonly properties: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  /** Exactly one of these must be there. */
  readonly exactlyOne?: readonly string[]
  /** Lists of lists, and the most items that theirs may have together. */
  readonly maxTotalItems?: Readonly<Record<string, number>>
  /** The parameter that a number or a text stands for. */
  readonly shorthand?: string
  /** The parameter that whatever is written stands for; the method takes no object of parameters. */
  readonly wholeParameter?: string
  /** The gateway has no verb for it: it fails when it is run. `agent`: it would have been the conversation itself. */
  readonly unsupported?: 'method' | 'agent'
  /** Parameters of the language that are accepted, and warned of, because they change nothing here. */
  readonly withoutEffect?: readonly string[]
  /** Parameters that hold steps. */
  readonly nested?: Readonly<Record<string, NestedKind>>
  /** Parameters whose items have parameters as the method itself has. */
  readonly lists?: readonly string[]
  /** Parameters whose placeholders the method replaces by itself. */
  readonly raw?: readonly string[]
  /** Parameters that have no placeholders: names, JavaScript, and what nobody reads. */
  readonly plain?: readonly string[]
  /** Parameters in which what the author wrote is URL-encoded. */
  readonly decoded?: readonly string[]
  /** What is wrong with a text that has no placeholders, by parameter; undefined when nothing is. */
  readonly texts?: Readonly<Record<string, (text: string) => string | undefined>>
}

/** What comes after a step, where it is not the next one. */
export type Outcome =
  | undefined
  | { readonly kind: 'goto'; readonly label: string }
  | { readonly kind: 'return'; readonly value: unknown }
  | { readonly kind: 'transfer'; readonly to: Section; readonly params: Params }

/** Values that a section is given. */
export type Params = Readonly<Record<string, unknown>>

/** The sections of one document. */
export type Sections = ReadonlyMap<string, StepList>

/** A section and the document that it stands in. */
export interface Section {
  readonly sections: Sections
  readonly steps: StepList
  /** The document's URL as faults name it; absent for one in place. */
  readonly document?: string
}

/** What methods need of the script that runs. */
export interface ScriptContext {
  readonly call: CallControl
  readonly context: HandlerContext
  readonly variables: Variables
  readonly events: StatusEvents
  /** Under way, by control id. */
  readonly recordings: Background<CallRecording>
  readonly streams: Background<CallStream>
  readonly taps: Background<CallStream>
  /** A fault that does not stop the script. */
  warn(code: string, message: string, path: string): void
  /** Runs steps inside of a method. */
  steps(list: StepList | undefined): Promise<Outcome>
  /** Runs the steps that are chosen; `variable` decides where they name none. */
  branch(branches: Branches | undefined, variable: string): Promise<Outcome>
  /** True where a condition holds; one that cannot be evaluated does not, and is warned of. */
  holds(when: string): Promise<boolean>
  /** Counts a jump of the step at `path`; false when it jumped `most` times in this run of the section. */
  mayJump(path: string, most: number): boolean
  /**
   * The section of a name, or the main one of the document at a URL or in a text; documents are asked for with `params`. Throws
   * {@link VerbFailed}.
   */
  find(dest: string, params: Params): Promise<Section>
  /** Runs a section until it returns. A transfer inside of it is the outcome. */
  execute(section: Section, params: Params): Promise<{ readonly outcome: Outcome; readonly value: unknown }>
  /** Runs a document, or steps, on a callee's leg. Throws when it cannot be had. */
  confirm(callee: CallControl, source: string | StepList): Promise<void>
  /**
   * Runs the document at a URL on this call, whose verbs are those of `call`, at each call of what comes back. What is wrong with it is told
   * the first time.
   */
  waiting(url: string): (call: CallControl) => Promise<void>
}

/** One method of the language: how it is written, and what it does. */
export interface Method extends MethodSpec {
  /** Variables that tell that it failed. */
  readonly failed?: Readonly<Record<string, unknown>>
  /** Throws {@link VerbFailed} when it cannot do its work, and CallEnded when the call is over. */
  readonly run: (values: Values, script: ScriptContext) => Promise<Outcome | undefined>
}
