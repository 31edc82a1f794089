import type { Fields, Target } from '../common/forms.ts'
import type { HandlerContext } from '../handler.ts'
import type { CallControl } from '../verbs.ts'
import type { ElementReader } from './element-reader.ts'

/** Another document to go on with, and the form fields that its server is told besides those of every request. */
export interface Asked {
  readonly next: Target
  readonly fields: Fields
}

/** Where a verb leads: on to the next one, out of the queue, to another document, or to the end of the call. */
export type Step = 'on' | 'leave' | 'over' | Asked

/** The next verb, or the document of the action where there is one. */
export const asked = (action: Target | undefined, fields: Fields): Step =>
  action ? { next: action, fields } : 'on'

/** What is different when a document is run on somebody beside the caller's. */
export interface Beside {
  /** Further form fields of each request. */
  readonly fields: Fields
  /** The call that has called this one. */
  readonly parentCallSid?: string
  /** It was run before: its warnings are in the log. */
  readonly again?: boolean
}

/** What a verb runs with. */
export interface Stage {
  /** Whom the document is run on: the caller, or who is called or waits. */
  readonly call: CallControl
  readonly context: HandlerContext
  /** Form fields of every request about this call. */
  readonly standardFields: () => Fields
  /** Answers the caller, where that has not happened. */
  answer(): Promise<void>
  /** A warning that is about this verb's element. */
  warn(code: string, message: string): void
  /** What the gateway's verb gives; undefined, and a warning, where it fails. Any other error passes. */
  attempt<T>(work: Promise<T>): Promise<T | undefined>
  /**
   * Runs another document on somebody beside the caller's document, to its end: `leave` where it left its queue. Rejects when that cannot be
   * had or is invalid, which is told in the call's log.
   */
  aside(call: CallControl, next: Target, beside: Beside): Promise<'leave' | undefined>
  /** Whether a `Dial` had nobody: a caller who was never answered is refused for that at the document's end. */
  dialled(somebody: boolean): void
}

/** Runs a verb that has been read. */
export type Run = (stage: Stage) => Promise<Step>

/** An element that has a meaning, with the attributes and elements that it takes; others are warned of. */
export interface ElementKind {
  readonly name: string
  readonly attributes: readonly string[]
  /** Default: none. `markup`: it looks for itself what they mean. */
  readonly inside?: readonly ElementKind[] | 'markup'
}

/** A verb of the language. */
export interface VerbKind extends ElementKind {
  /** May stand in documents that run beside a call: on who waits, or on who is called before the two are joined. */
  readonly aside?: true
  /** Reads and checks the element; undefined: it has no effect, and the reader has been told why. */
  readonly read: (reader: ElementReader) => Run | undefined
}
