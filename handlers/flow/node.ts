import type { Schema } from '../script/schema-builders.ts'

/** Step of a script: one method and its parameters. */
export type Step = Readonly<Record<string, unknown>>

/** Options of a node. */
export type Options = Readonly<Record<string, unknown>>

/**
 * Returns the steps that follow the edge of an outcome; none if the outcome has no edge, which ends the flow.
 */
export type Follow = (outcome: string) => readonly Step[]

/** Kind of node. */
export interface NodeKind {
  readonly description: string
  readonly properties: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  /** Outcomes of every node of the kind. */
  readonly outcomes: readonly string[]
  /** Returns the further outcomes that a node's options define. */
  readonly named?: (options: Options) => readonly string[]
  /** Compiles a node to steps. */
  readonly compile: (options: Options, follow: Follow) => readonly Step[]
}

/** Condition with the name of its outcome. */
export interface Condition {
  readonly name: string
  /** Condition as a JavaScript expression. */
  readonly when: string
}

/** Returns the steps that select the outcome of the first true condition. */
export const decide = (
  conditions: readonly Condition[],
  follow: Follow,
  otherwise: string,
): readonly Step[] => {
  const branches = conditions.flatMap(({ name, when }) => {
    const steps = follow(name)
    // Ends the flow without a hang-up, so that the gateway can reject an unanswered caller with the reason.
    // biome-ignore lint/suspicious/noThenProperty: it is the language's name
    return [{ when, then: steps.length > 0 ? steps : [{ return: null }] }]
  })
  const rest = follow(otherwise)
  return [{ cond: rest.length > 0 ? [...branches, { else: rest }] : branches }]
}

/** Returns a text as a JavaScript literal. */
export const literal = (text: string): string => JSON.stringify(text)

/** Returns the options of these names. */
export const pick = (options: Options, names: readonly string[]): Options =>
  Object.fromEntries(names.flatMap((name) => (Object.hasOwn(options, name) ? [[name, options[name]]] : [])))
