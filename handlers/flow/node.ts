import type { Schema } from '../script/schema-builders.ts'

/** A step of a script, as it is written: one method and its parameters. */
export type Step = Readonly<Record<string, unknown>>

/** Options of a node, as they are written. */
export type Options = Readonly<Record<string, unknown>>

/** Steps that lead to the node at the end of an edge; none where the outcome has no edge: the flow ends there. */
export type Follow = (outcome: string) => readonly Step[]

/** One kind of node. */
export interface NodeKind {
  readonly description: string
  readonly properties: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  /** The outcomes that every node of the kind has. */
  readonly outcomes: readonly string[]
  /** Those that its options give it besides. */
  readonly named?: (options: Options) => readonly string[]
  /** Its steps. */
  readonly compile: (options: Options, follow: Follow) => readonly Step[]
}

/** A condition and the outcome of its name. */
export interface Condition {
  readonly name: string
  /** JavaScript. */
  readonly when: string
}

/** The steps of a chain of conditions, the first that holds counts. */
export const decide = (
  conditions: readonly Condition[],
  follow: Follow,
  otherwise: string,
): readonly Step[] => {
  const branches = conditions.flatMap(({ name, when }) => {
    const steps = follow(name)
    // The end of the flow, and not a hang-up: the gateway tells a caller who is not answered why.
    // biome-ignore lint/suspicious/noThenProperty: it is the language's name
    return [{ when, then: steps.length > 0 ? steps : [{ return: null }] }]
  })
  const rest = follow(otherwise)
  return [{ cond: rest.length > 0 ? [...branches, { else: rest }] : branches }]
}

/** A text as JavaScript. */
export const literal = (text: string): string => JSON.stringify(text)

/** The options of these names. */
export const pick = (options: Options, names: readonly string[]): Options =>
  Object.fromEntries(names.flatMap((name) => (Object.hasOwn(options, name) ? [[name, options[name]]] : [])))
