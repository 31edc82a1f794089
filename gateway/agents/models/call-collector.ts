import { randomUUID } from 'node:crypto'
import { isJsonObject } from '../../core/json.ts'
import type { EngineCall } from '../engine.ts'
import { EngineError } from '../streaming/engine-error.ts'

/** Maximum number of calls of an answer, and of characters of one call's arguments. */
const maxCalls = 64
const maxArgsLength = 262_144

/** Follows the brackets of a JSON text that arrives in pieces. */
class BracketCount {
  #depth = 0
  #isInString = false
  #isEscaped = false
  #isBegun = false

  /** Whether a whole object or list was read. */
  get isComplete(): boolean {
    return this.#isBegun && this.#depth === 0
  }

  push(piece: string): void {
    for (const sign of piece) {
      if (this.#isEscaped) this.#isEscaped = false
      else if (this.#isInString) {
        if (sign === '\\') this.#isEscaped = true
        else if (sign === '"') this.#isInString = false
      } else if (sign === '"') this.#isInString = true
      else if (sign === '{' || sign === '[') {
        this.#depth++
        this.#isBegun = true
      } else if (sign === '}' || sign === ']') this.#depth--
    }
  }
}

/** Call of a function so far. */
class PartialCall {
  id = ''
  name = ''
  readonly #pieces: string[] = []
  readonly #brackets = new BracketCount()
  #length = 0

  get isComplete(): boolean {
    return this.#brackets.isComplete
  }

  get args(): string {
    return this.#pieces.join('')
  }

  add(piece: string): void {
    this.#length += piece.length
    if (this.#length > maxArgsLength)
      throw new EngineError('protocol', `arguments are longer than ${maxArgsLength} characters`)
    this.#brackets.push(piece)
    this.#pieces.push(piece)
  }
}

/**
 * Joins the pieces of function calls in a stream of chat completions. Some servers send no index, no id, or
 * the same index for each call. Others send the name with each piece, an object as arguments, or a call
 * twice.
 */
export class CallCollector {
  readonly #calls: PartialCall[] = []
  readonly #byIndex = new Map<number, PartialCall>()

  /** Takes the member `tool_calls` of a delta. Throws an {@link EngineError} beyond the limits. */
  push(pieces: unknown): void {
    if (!Array.isArray(pieces)) return
    for (const piece of pieces) if (isJsonObject(piece)) this.#push(piece)
  }

  /**
   * Returns the calls. A call without an id has a new one. With `onlyComplete`, calls whose arguments end in
   * their midst are left out: the answer was cut.
   */
  take(onlyComplete: boolean): readonly EngineCall[] {
    return this.#calls
      .filter(({ name, isComplete, args }) => name !== '' && (!onlyComplete || isComplete || args === ''))
      .map(({ id, name, args }) => ({ id: id || `call_${randomUUID()}`, name, args: args.trim() || '{}' }))
  }

  #push(piece: Record<string, unknown>): void {
    const given = isJsonObject(piece.function) ? piece.function : piece
    const id = typeof piece.id === 'string' ? piece.id : ''
    const name = typeof given.name === 'string' ? given.name : ''
    const args = argsOf(given.arguments)
    const index = typeof piece.index === 'number' ? piece.index : undefined
    const known = this.#find(index, id, name, args)
    if (known === 'repetition') return
    const call = known ?? this.#begin(index)
    call.id ||= id
    call.name ||= name
    call.add(args)
  }

  /** Returns the call that a piece continues; undefined if it begins a new one. */
  #find(
    index: number | undefined,
    id: string,
    name: string,
    args: string,
  ): PartialCall | 'repetition' | undefined {
    const candidate =
      index === undefined
        ? (this.#calls.find((call) => id !== '' && call.id === id) ??
          (id === '' ? this.#calls.at(-1) : undefined))
        : this.#byIndex.get(index)
    if (!candidate) return undefined
    if (id !== '' && candidate.id !== '' && id !== candidate.id) return undefined
    if (index === undefined && name !== '' && name !== candidate.name && candidate.name !== '')
      return undefined
    if (!candidate.isComplete || args.trim() === '') return candidate
    // Nothing can follow complete arguments: the piece is a further call, or the same one again.
    return (id !== '' && id === candidate.id) || name === '' ? 'repetition' : undefined
  }

  #begin(index: number | undefined): PartialCall {
    if (this.#calls.length >= maxCalls) throw new EngineError('protocol', `more than ${maxCalls} calls`)
    const call = new PartialCall()
    this.#calls.push(call)
    if (index !== undefined) this.#byIndex.set(index, call)
    return call
  }
}

const argsOf = (value: unknown): string => {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value)
}
