import type { Schema } from './schema-builders.ts'

/**
 * Form of steps in a parameter: a list; a `switch` object or a `cond` list; a URL or a list for the callee's
 * leg.
 */
export type NestedKind = 'steps' | 'branches' | 'confirm' | 'cases' | 'conditions'

/** Fault of a part of a value: its JSON pointer, and the expectation. */
export interface SpecFinding {
  readonly path: string
  readonly message: string
}

/** Faults prevent the method, warnings do not. */
export interface SpecFindings {
  readonly faults: readonly SpecFinding[]
  readonly warnings: readonly SpecFinding[]
}

/** Syntax of one method. */
export interface MethodSpec {
  readonly description: string
  readonly properties: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  /**
   * Checks a value by the rules of its own language. The paths of its findings are JSON pointers below the
   * value.
   */
  readonly check?: (value: unknown) => SpecFindings
  /** Parameters of which exactly one must be present. */
  readonly exactlyOne?: readonly string[]
  /** Parameters that are lists of lists, and the maximum number of items in all their lists. */
  readonly maxTotalItems?: Readonly<Record<string, number>>
  /** Parameter that a number or text can stand for, instead of an object of parameters. */
  readonly shorthand?: string
  /** Parameter that any value stands for; the method has no object of parameters. */
  readonly wholeParameter?: string
  /** Whether the method fails when it runs, because the gateway has no verb for it. */
  readonly isUnsupported?: boolean
  /** Parameters of the language that are accepted with a warning and have no effect. */
  readonly withoutEffect?: readonly string[]
  /** Parameters that contain steps. */
  readonly nested?: Readonly<Record<string, NestedKind>>
  /** Parameters whose items have the method's own parameters. */
  readonly lists?: readonly string[]
  /** Parameters whose placeholders the method replaces itself. */
  readonly raw?: readonly string[]
  /** Parameters without placeholders: names, JavaScript, and unused values. */
  readonly plain?: readonly string[]
  /** Parameters whose literal text is URL-encoded. */
  readonly decoded?: readonly string[]
  /**
   * Checks of texts without placeholders, by parameter; each returns the fault, or undefined for a valid
   * text.
   */
  readonly texts?: Readonly<Record<string, (text: string) => string | undefined>>
}
