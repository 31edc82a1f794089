import { isJsonObject } from '../core/json.ts'
import type { Action, Condition, EngineName, Rule, StandInScript } from './script-types.ts'

/** Function that a client offers to the engine. */
export interface OfferedFunction {
  readonly name: string
  /** JSON Schema of the arguments. */
  readonly parameters?: unknown
}

/** Function whose name is with the client: it satisfies every condition about functions. */
export const delegated: OfferedFunction = { name: '*' }

/** Event that an answer follows on. */
export type Trigger =
  | { readonly on: 'connect' }
  | { readonly on: 'begin' }
  | {
      readonly on: 'turn'
      readonly turn: number
      readonly text: string
      readonly speechMs?: number
      readonly isInterruption?: boolean
    }
  | { readonly on: 'result'; readonly turn: number; readonly name: string; readonly result: string }

/** Answer of the script: actions, and the values of its variables. */
export interface ChosenAnswer {
  readonly actions: readonly Action[]
  readonly variables: Readonly<Record<string, string>>
  readonly functions: readonly OfferedFunction[]
  /** Function that the condition `offers` found. */
  readonly offered?: OfferedFunction
}

/** Chooses answers by the rules of a script, for all connections. */
export class Dialogue {
  #rules: readonly Rule[]
  readonly #uses = new Map<Rule, number>()
  readonly #now: () => number

  /** `now` returns the time in ms since the Unix epoch. */
  constructor(script: StandInScript, now: () => number) {
    this.#rules = script.rules
    this.#now = now
  }

  /** Replaces the rules. Counts of uses begin at 0. */
  follow(rules: readonly Rule[]): void {
    this.#rules = rules
    this.#uses.clear()
  }

  /** Returns the answer of the first rule whose condition is true, if there is one. */
  choose(
    engine: EngineName,
    trigger: Trigger,
    functions: readonly OfferedFunction[] = [],
  ): ChosenAnswer | undefined {
    return this.#choose(() => true, engine, trigger, functions)
  }

  /** Returns the answer of the first rule that names the engine, and whose condition is true. */
  chooseNamed(engine: EngineName, trigger: Trigger): ChosenAnswer | undefined {
    return this.#choose(({ when }) => when.engines !== undefined, engine, trigger, [])
  }

  #choose(
    isSuitable: (rule: Rule) => boolean,
    engine: EngineName,
    trigger: Trigger,
    functions: readonly OfferedFunction[],
  ): ChosenAnswer | undefined {
    const rule = this.#rules.find(
      (each) => isSuitable(each) && this.#isUsable(each) && isTrue(each.when, engine, trigger, functions),
    )
    if (!rule) return undefined
    this.#uses.set(rule, (this.#uses.get(rule) ?? 0) + 1)
    const offered = rule.when.offers && findOffered(rule.when.offers, functions)
    const variables = variablesOf(trigger, new Date(this.#now()))
    return { actions: rule.actions, variables, functions, ...(offered && { offered }) }
  }

  #isUsable(rule: Rule): boolean {
    return (this.#uses.get(rule) ?? 0) < (rule.times ?? Number.POSITIVE_INFINITY)
  }
}

const isTrue = (
  when: Condition,
  engine: EngineName,
  trigger: Trigger,
  functions: readonly OfferedFunction[],
): boolean => {
  if (when.on !== trigger.on || (when.engines && !when.engines.includes(engine))) return false
  const turn = 'turn' in trigger ? trigger.turn : 0
  const text = trigger.on === 'turn' ? trigger.text : ''
  if (when.turn !== undefined && when.turn !== turn) return false
  if (when.contains && !when.contains.some((phrase) => containsPhrase(text, phrase))) return false
  if (when.pattern && !when.pattern.test(text)) return false
  if (when.result !== undefined && !(trigger.on === 'result' && trigger.name === when.result)) return false
  const isInterruption = trigger.on === 'turn' && trigger.isInterruption === true
  if (when.interrupted !== undefined && when.interrupted !== isInterruption) return false
  return !when.offers || findOffered(when.offers, functions) !== undefined
}

const wordsOf = (text: string): string =>
  ` ${text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}*]+/gu, ' ')
    .trim()} `

/** Whether a text contains a phrase as whole words; a final `*` of the phrase allows any ending. */
export const containsPhrase = (text: string, phrase: string): boolean => {
  const isOpen = phrase.endsWith('*')
  const words = wordsOf(isOpen ? phrase.slice(0, -1) : phrase)
  return wordsOf(text).includes(isOpen ? words.slice(0, -1) : words)
}

/** Parts of names of functions that end or move a call. */
const leaving = ['hangup', 'endcall', 'transfer']

const plainName = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '')

const findOffered = (
  parts: readonly string[],
  functions: readonly OfferedFunction[],
): OfferedFunction | undefined => {
  for (const part of parts) {
    const found = functions.find((each) => each === delegated || hasPart(each, part))
    if (found) return found
  }
  return undefined
}

const hasPart = ({ name }: OfferedFunction, part: string): boolean =>
  part === '*'
    ? !leaving.some((word) => plainName(name).includes(word))
    : plainName(name).includes(plainName(part))

const variablesOf = (trigger: Trigger, now: Date): Readonly<Record<string, string>> => {
  const time = now.toISOString().slice(11, 16)
  if (trigger.on === 'turn') {
    const { text, turn, speechMs = 0 } = trigger
    const seconds = (speechMs > 0 ? speechMs / 1000 : spokenSeconds(text)).toFixed(1)
    return { time, text, turn: String(turn), seconds }
  }
  if (trigger.on === 'result')
    return { time, turn: String(trigger.turn), function: trigger.name, result: readable(trigger.result) }
  return { time }
}

/** Returns the text that a stand-in recogniser reports for speech of this length. */
export const speechText = (speechMs: number): string => `speech of ${(speechMs / 1000).toFixed(1)} seconds`

/** Duration in a text of {@link speechText}; else an estimate of 2.5 words a second. */
const spokenSeconds = (text: string): number => {
  const [, seconds] = /^speech of ([\d.]{1,10}) seconds\.?$/.exec(text) ?? []
  return seconds === undefined ? wordsOf(text).trim().split(' ').length / 2.5 : Number(seconds)
}

/** Returns the text of a result: JSON of one field is shown as the value of the field. */
const readable = (result: string): string => {
  try {
    const value = JSON.parse(result) as unknown
    if (typeof value === 'string') return value
    const values = isJsonObject(value) ? Object.values(value) : []
    return values.length === 1 && typeof values[0] !== 'object' ? String(values[0]) : result
  } catch {
    return result
  }
}

/** Replaces `{{name}}` by the values of variables; unknown names stay. */
export const fillIn = (text: string, variables: Readonly<Record<string, string>>): string =>
  text.replace(/\{\{([a-z]{1,20})\}\}/g, (whole, name: string) => variables[name] ?? whole)

/** Returns arguments that fit a function's schema, made from the caller's text. */
export const argumentsFor = (parameters: unknown, text: string): Record<string, unknown> => {
  const { properties, required } = isJsonObject(parameters) ? parameters : {}
  if (!isJsonObject(properties)) return {}
  const needed = Array.isArray(required) ? required : Object.keys(properties)
  return Object.fromEntries(
    Object.entries(properties)
      .filter(([name]) => needed.includes(name))
      .map(([name, schema]) => [name, valueFor(schema, text)]),
  )
}

const valueFor = (schema: unknown, text: string): unknown => {
  if (!isJsonObject(schema)) return text
  if (Array.isArray(schema.enum) && schema.enum.length > 0)
    return (
      schema.enum.find((each) => typeof each === 'string' && containsPhrase(text, each)) ?? schema.enum[0]
    )
  const type = String(schema.type).toLowerCase()
  if (type === 'number' || type === 'integer') return Number(/\d{1,9}/.exec(text)?.[0] ?? 1)
  if (type === 'boolean') return true
  if (type === 'array') return [valueFor(schema.items, text)]
  if (type === 'object') return argumentsFor(schema, text)
  return text
}
