import type { AgentRequestEnd } from '../agent/agent-runner.ts'
import type { Json } from '../agent/document-types.ts'
import type { Fields, Target } from '../common/forms.ts'
import type { HandlerContext } from '../handler.ts'
import type { CallControl } from '../verbs.ts'
import type { ElementReader } from './element-reader.ts'

/** Document that follows, with the form fields that are sent besides the standard fields. */
export interface NextDocument {
  readonly next: Target
  readonly fields: Fields
}

/**
 * Continuation after a verb: the next verb, a departure from the queue, the end of the call, or another
 * document.
 */
export type VerbOutcome = 'next' | 'leave' | 'ended' | NextDocument

/** Returns the document of the action; without an action, the next verb follows. */
export const continueWith = (action: Target | undefined, fields: Fields): VerbOutcome =>
  action ? { next: action, fields } : 'next'

/**
 * Settings of a side document: a document that runs on another leg than the caller's own document, or on a
 * waiting caller. Examples are a callee before the bridge and a caller in a queue.
 */
export interface SideDocument {
  /** Form fields to add to each request. */
  readonly fields: Fields
  /** Id of the call that called this leg; absent if the leg is the caller. */
  readonly parentCallSid?: string
  /** Whether the document ran before on this call; its warnings are then in the log already. */
  readonly isRepeated?: boolean
}

/** Collaborators of a running verb. */
export interface VerbContext {
  /** Call that the document runs on: the call of a caller, of a callee, or of a waiting caller. */
  readonly call: CallControl
  readonly handler: HandlerContext
  /** Returns the form fields that every request about the call carries. */
  readonly standardFields: () => Fields
  /** Answers the caller unless that has happened. */
  answer(): Promise<void>
  /** Logs a warning about the verb's element. */
  warn(code: string, message: string): void
  /**
   * Awaits a verb of the gateway. Logs a warning and returns undefined for {@link VerbFailed}; rethrows other
   * errors.
   */
  warnIfFailed<T>(work: Promise<T>): Promise<T | undefined>
  /**
   * Runs a side document to its end. Resolves with `leave` if it left its queue. Rejects if the document is
   * unreachable or invalid; the call's log then has the fault.
   */
  runSideDocument(call: CallControl, next: Target, side: SideDocument): Promise<'leave' | undefined>
  /** Runs the voice agent of a document at an element to its end. Throws `VerbFailed` without agents. */
  runAgent(document: Json, path: string): Promise<AgentRequestEnd>
  /**
   * Reports whether a `Dial` was connected. If it was not, a caller who was never answered is rejected with
   * that failure at the end of the document.
   */
  reportDial(isConnected: boolean): void
}

/** Runs a checked verb. */
export type RunVerb = (context: VerbContext) => Promise<VerbOutcome>

/** Known element, with the attributes and children that it supports. Others cause a warning. */
export interface ElementKind {
  readonly name: string
  readonly attributes: readonly string[]
  /** Supported children; default none. `markup`: the element interprets its children itself. */
  readonly children?: readonly ElementKind[] | 'markup'
}

/** Verb of the language. */
export interface VerbKind extends ElementKind {
  /** Whether side documents may contain the verb; see {@link SideDocument}. */
  readonly canRunInSideDocument?: true
  /** Reads and checks the element. Returns undefined, after a warning, for an element without effect. */
  readonly read: (reader: ElementReader) => RunVerb | undefined
}
