import { percentDecode } from '../common/headers.ts'
import type { CallControl, CallInfo } from '../verbs.ts'
import { VerbFailed } from '../verbs.ts'
import { callObject, type ScriptIds } from './call-object.ts'
import { codes } from './codes.ts'
import { readScriptDocument, type ScriptProgram } from './document.ts'
import { applyFunction } from './functions.ts'
import { changedPath, isPath, partsOf, piecesOf, segmentsOf } from './placeholders.ts'
import { type CpuAccount, ExpressionFailed, type Sandbox } from './sandbox/sandbox.ts'
import { Nested } from './steps.ts'

/** Most characters that the parameters of one step may have once their placeholders are replaced. */
const maxStepLength = 131_072
/** What each placeholder counts at least: looking it up takes time too, however short its value is. */
const minPlaceholderLength = 64
/** Most characters, as JSON, of what a script keeps in variables. */
const maxVariablesLength = 262_144

/** Reads script documents; the time it takes counts for the account. */
export type ScriptReader = {
  script(text: string, permitted?: ReadonlySet<string>, account?: CpuAccount): Promise<ScriptProgram>
}

/** What variables are made of. */
export interface VariablesOptions {
  readonly call: CallControl
  readonly ids: ScriptIds
  readonly envs: Readonly<Record<string, string>>
  readonly sandbox: Pick<Sandbox, 'evaluate'>
  /** Reads documents; default at once. */
  readonly documents?: ScriptReader
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** The call that this one, a callee's, was made for. */
  readonly parent?: CallInfo
  /** What expressions have used so far, where others of the same script have; default nothing. */
  readonly account?: CpuAccount
}

/** What a script can look up: `call` (read-only), `vars` (set by methods), `envs` and `params`. */
export class Variables {
  readonly #options: VariablesOptions
  /** Without a prototype: any name may be set. */
  readonly #vars: Record<string, unknown> = Object.create(null)
  /** Characters of each variable that a document set. */
  readonly #sizes = new Map<string, number>()
  #kept = 0
  readonly #account: CpuAccount
  /** Of the running section. */
  params: Readonly<Record<string, unknown>> = {}

  constructor(options: VariablesOptions) {
    this.#options = options
    this.#account = options.account ?? { usedMs: 0 }
    const { userVariables } = options.call.info
    if (userVariables) this.assign({ userVariables })
  }

  /** Everything, as documents' servers and expressions are told it. */
  get all(): Readonly<Record<'call' | 'vars' | 'envs' | 'params', Readonly<Record<string, unknown>>>> {
    const { call, ids, envs, parent } = this.#options
    return { call: callObject(call, ids, parent), vars: this.#vars, envs, params: this.params }
  }

  /** Those of a callee's call, which begin with what these hold now and are its own then. */
  forCallee(call: CallControl): Variables {
    const made = new Variables({
      ...this.#options,
      call,
      parent: this.#options.call.info,
      account: this.#account,
    })
    made.assign(this.#vars)
    return made
  }

  /** Reads a script document, on the account of this one. Rejects with `DocumentInvalid`. */
  async readScript(text: string, permitted?: ReadonlySet<string>): Promise<ScriptProgram> {
    const { documents } = this.#options
    return documents
      ? documents.script(text, permitted, this.#account)
      : readScriptDocument({ text }, permitted)
  }

  /** Sets what a method tells; undefined takes the variable away. */
  assign(variables: Readonly<Record<string, unknown>>): void {
    for (const [name, value] of Object.entries(variables)) {
      if (value === undefined) delete this.#vars[name]
      else this.#vars[name] = value
    }
  }

  /** Sets what a document or a customer's server may make as large as it likes. Throws {@link VerbFailed} when that is too much. */
  set(name: string, value: unknown): void {
    const size = name.length + (JSON.stringify(value)?.length ?? 0)
    const kept = this.#kept - (this.#sizes.get(name) ?? 0) + size
    if (kept > maxVariablesLength)
      throw new VerbFailed(
        codes.methodFailed,
        `The script's variables hold more than ${maxVariablesLength} characters.`,
      )
    this.#kept = kept
    this.#sizes.set(name, size)
    this.assign({ [name]: value })
  }

  /** Takes a variable away. */
  unset(name: string): void {
    this.#kept -= this.#sizes.get(name) ?? 0
    this.#sizes.delete(name)
    delete this.#vars[name]
  }

  /** The value at a path; an unset one is undefined. Without a prefix `vars`, then `envs`, then `call` are searched. */
  lookup(path: string): unknown {
    const segments = segmentsOf(path)
    const [first = '', ...rest] = segments
    const { all } = this
    if (first === 'call' || first === 'vars' || first === 'envs' || first === 'params')
      return walk(all[first], rest)
    return walk(all.vars, segments) ?? walk(all.envs, segments) ?? walk(all.call, segments)
  }

  /** The value of an expression: a plain path is looked up, anything else is JavaScript. Throws {@link VerbFailed}. */
  async evaluate(expression: string): Promise<unknown> {
    if (isPath(expression)) {
      const value = this.lookup(expression)
      // A dash may be part of a name (content-type), or a minus.
      if (value !== undefined || !expression.includes('-') || headerPath.test(expression)) return value
    }
    try {
      return await this.#options.sandbox.evaluate(expression, this.all, this.#account)
    } catch (error) {
      if (!(error instanceof ExpressionFailed)) throw error
      throw new VerbFailed(codes.expression, `The expression cannot be evaluated: ${error.message}.`)
    }
  }

  /**
   * A value with every placeholder in its texts replaced; steps in it stay as they are. An unset path is an empty text. A text that is
   * exactly one placeholder keeps the value's type. Below keys of the names `decoded`, what stands between placeholders is URL-decoded.
   * Throws {@link VerbFailed}.
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

  /** A text with functions, or without. */
  async #template(text: string, how: ResolveOptions): Promise<unknown> {
    const pieces = piecesOf(text)
    if (!pieces.some((piece) => 'name' in piece)) return this.#text(text, how)
    const texts: string[] = []
    for (const piece of pieces) {
      if ('literal' in piece) texts.push(asText(await this.#text(piece.literal, how)))
      else {
        const argument = asText(await this.#text(piece.argument, { ...how, decode: false }))
        const evaluate = (expression: string) => this.evaluate(expression)
        const made = await applyFunction(piece.name, argument, { now: this.#options.now(), evaluate })
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
      // A copy: what is kept elsewhere may change, or come to hold this very value.
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
      `The step's values have more than ${maxStepLength} characters, each placeholder at least ${minPlaceholderLength}.`,
    )
}

/** How a value reads inside a text. */
export const asText = (value: unknown): string => {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
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
