import { asText } from '../common/as-text.ts'
import { percentDecode } from '../common/headers.ts'
import { changedPath, isPath, partsOf, piecesOf, segmentsOf } from '../common/placeholders.ts'
import type { CallControl, CallInfo } from '../verbs.ts'
import { VerbFailed } from '../verbs.ts'
import { callObject, type ScriptIds } from './call-object.ts'
import { codes } from './codes.ts'
import { applyFunction } from './functions.ts'
import { type CpuAccount, ExpressionFailed, type Sandbox } from './sandbox/sandbox.ts'
import { Nested } from './steps.ts'

/** Maximum length of the parameters of one step after the replacement of placeholders, in characters. */
const maxStepLength = 131_072

/** Minimum length that counts for each placeholder: its look-up takes time too. */
const minPlaceholderLength = 64

/** Maximum length of a script's variables as JSON, in characters. */
const maxVariablesLength = 262_144

/** Collaborators and values of {@link Variables}. */
export interface VariablesOptions {
  readonly call: CallControl
  readonly ids: ScriptIds
  readonly envs: Readonly<Record<string, string>>
  readonly sandbox: Pick<Sandbox, 'evaluate'>
  /** Returns the time in milliseconds since the epoch. */
  readonly now: () => number
  /** Caller's call, if the call is a callee. */
  readonly parent?: CallInfo
  /** CPU account of the script; default a new one. */
  readonly account?: CpuAccount
}

/** Variables of a script: `call` (read-only), `vars` (set by methods), `envs` and `params`. */
export class Variables {
  readonly #options: VariablesOptions
  /** Object without a prototype, so that any name can be set. */
  readonly #vars: Record<string, unknown> = Object.create(null)
  /** Length of each variable that a document set, in characters. */
  readonly #sizes = new Map<string, number>()
  /** Sum of {@link #sizes}. */
  #totalSize = 0
  /** CPU account of the script, which callees share. */
  readonly account: CpuAccount
  /** Parameters of the running section. */
  params: Readonly<Record<string, unknown>> = {}

  constructor(options: VariablesOptions) {
    this.#options = options
    this.account = options.account ?? { usedMs: 0 }
    const { userVariables } = options.call.info
    if (userVariables) this.assign({ userVariables })
  }

  /** All variables, as documents' servers and expressions receive them. */
  get all(): Readonly<Record<'call' | 'vars' | 'envs' | 'params', Readonly<Record<string, unknown>>>> {
    const { call, ids, envs, parent } = this.#options
    return { call: callObject(call, ids, parent), vars: this.#vars, envs, params: this.params }
  }

  /** Returns the variables of a callee's call: a copy of these that is independent from now on. */
  forCallee(call: CallControl): Variables {
    const made = new Variables({
      ...this.#options,
      call,
      parent: this.#options.call.info,
      account: this.account,
    })
    made.assign(this.#vars)
    return made
  }

  /** Sets result variables of a method; undefined removes a variable. */
  assign(variables: Readonly<Record<string, unknown>>): void {
    for (const [name, value] of Object.entries(variables)) {
      if (value === undefined) delete this.#vars[name]
      else this.#vars[name] = value
    }
  }

  /**
   * Sets a variable whose size documents or servers control. Throws {@link VerbFailed} if the variables
   * become too large.
   */
  set(name: string, value: unknown): void {
    const size = name.length + (JSON.stringify(value)?.length ?? 0)
    const total = this.#totalSize - (this.#sizes.get(name) ?? 0) + size
    if (total > maxVariablesLength)
      throw new VerbFailed(
        codes.methodFailed,
        `The script's variables hold more than ${maxVariablesLength} characters.`,
      )
    this.#totalSize = total
    this.#sizes.set(name, size)
    this.assign({ [name]: value })
  }

  /** Removes a variable. */
  unset(name: string): void {
    this.#totalSize -= this.#sizes.get(name) ?? 0
    this.#sizes.delete(name)
    delete this.#vars[name]
  }

  /**
   * Returns the value at a path; undefined if unset. A path without a prefix is looked up in `vars`, `envs`
   * and `call`, in that order.
   */
  lookup(path: string): unknown {
    const segments = segmentsOf(path)
    const [first = '', ...rest] = segments
    const { all } = this
    if (first === 'call' || first === 'vars' || first === 'envs' || first === 'params')
      return walk(all[first], rest)
    return walk(all.vars, segments) ?? walk(all.envs, segments) ?? walk(all.call, segments)
  }

  /**
   * Evaluates an expression: looks up a path, and runs any other expression as JavaScript. Throws {@link
   * VerbFailed}.
   */
  async evaluate(expression: string): Promise<unknown> {
    if (isPath(expression)) {
      const value = this.lookup(expression)
      // A dash can be part of a name (content-type) or a minus sign.
      if (value !== undefined || !expression.includes('-') || headerPath.test(expression)) return value
    }
    try {
      return await this.#options.sandbox.evaluate(expression, this.all, this.account)
    } catch (error) {
      if (!(error instanceof ExpressionFailed)) throw error
      throw new VerbFailed(codes.expression, `The expression cannot be evaluated: ${error.message}.`)
    }
  }

  /**
   * Evaluates an expression with other variables than the script's, on its account. Rejects with {@link
   * ExpressionFailed}.
   */
  evaluateWith(expression: string, variables: Readonly<Record<string, unknown>>): Promise<unknown> {
    return this.#options.sandbox.evaluate(expression, variables, this.account)
  }

  /**
   * Replaces the placeholders in all texts of a value, except in nested steps. An unset path becomes an empty
   * text. A text that is exactly one placeholder keeps the type of its value. Below the keys in `decoded`,
   * literal text is URL-decoded. Throws {@link VerbFailed}.
   */
  resolve(value: unknown, decoded: readonly string[] = []): Promise<unknown> {
    return this.#resolve(value, { decoded, decode: false, room: { left: maxStepLength } })
  }

  async #resolve(value: unknown, how: ResolveOptions): Promise<unknown> {
    if (typeof value === 'string') return this.#template(value, how)
    if (typeof value !== 'object' || value === null || value instanceof Nested) return value
    if (Array.isArray(value)) {
      const items: unknown[] = []
      for (const item of value) items.push(await this.#resolve(item, how))
      return items
    }
    const entries: [string, unknown][] = []
    for (const [key, item] of Object.entries(value)) {
      const decode = how.decode || how.decoded.includes(key)
      entries.push([key, await this.#resolve(item, { ...how, decode })])
    }
    return Object.fromEntries(entries)
  }

  async #placeholder(expression: string): Promise<unknown> {
    const changed = changedPath(expression)
    return changed ? changed.change(asText(this.lookup(changed.path))) : this.evaluate(expression)
  }

  /** Replaces the functions and placeholders of a text. */
  async #template(text: string, how: ResolveOptions): Promise<unknown> {
    const pieces = piecesOf(text)
    if (!pieces.some((piece) => 'name' in piece)) return this.#text(text, how)
    const texts: string[] = []
    for (const piece of pieces) {
      if ('literal' in piece) texts.push(asText(await this.#text(piece.literal, how)))
      else {
        const argument = asText(await this.#text(piece.argument, { ...how, decode: false }))
        const made = applyFunction(piece.name, argument, this.#options.now())
        take(how.room, Math.max(made.length, minPlaceholderLength))
        texts.push(made)
      }
    }
    return texts.join('')
  }

  async #text(text: string, { decode, room }: ResolveOptions): Promise<unknown> {
    const parts = partsOf(text)
    const [only] = parts
    if (parts.length === 1 && only && 'expression' in only) {
      const value = (await this.#placeholder(only.expression)) ?? ''
      const text = asText(value)
      take(room, Math.max(text.length, minPlaceholderLength))
      // Copies the object, because the original may change or come to contain this value.
      return typeof value === 'object' ? JSON.parse(text) : value
    }
    const texts: string[] = []
    for (const part of parts) {
      const literal = 'literal' in part
      const piece = literal ? part.literal : asText(await this.#placeholder(part.expression))
      take(room, literal ? piece.length : Math.max(piece.length, minPlaceholderLength))
      texts.push(literal && decode ? percentDecode(piece) : piece)
    }
    return texts.join('')
  }
}

interface ResolveOptions {
  readonly decoded: readonly string[]
  readonly decode: boolean
  readonly room: { left: number }
}

const headerPath = /^(vars\.)?request_response_headers\b/

const take = (room: { left: number }, length: number): void => {
  room.left -= length
  if (room.left < 0)
    throw new VerbFailed(
      codes.methodFailed,
      `The step's values have more than ${maxStepLength} characters, each placeholder at least ` +
        `${minPlaceholderLength}.`,
    )
}

/** Follows own properties only: a path such as `constructor` finds nothing. */
const walk = (from: unknown, segments: readonly string[]): unknown => {
  let value = from
  for (const segment of segments) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, segment)) return undefined
    value = (value as Record<string, unknown>)[segment]
  }
  return value
}
