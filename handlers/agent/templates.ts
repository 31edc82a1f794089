import { asText } from '../common/as-text.ts'
import { changedPath, partsOf, piecesOf, segmentsOf } from '../common/placeholders.ts'
import type { Json } from './document-types.ts'
import { applyTemplate } from './template-functions.ts'

/** Maximum length of all values that one filling inserts, in characters. */
const maxLength = 131_072

/** Minimum lengths that count for each placeholder and function: a look-up takes time, a function more. */
const minPlaceholderLength = 64
const minFunctionLength = 256

/** Maximum depth of a value that is filled. */
const maxDepth = 64

/** Follows own properties only: a path such as `constructor` finds nothing. */
const walk = (from: unknown, segments: readonly string[]): unknown => {
  let value = from
  for (const segment of segments) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, segment)) return undefined
    value = (value as Json)[segment]
  }
  return value
}

/** Maximum length of a path, in characters. */
const maxPathLength = 1024

/**
 * Returns the value at a path such as `args.city` or `array[0].joke`; undefined if it does not exist. A key
 * may contain any characters but dots and brackets.
 */
export const lookup = (path: string, values: Json): unknown => {
  if (path === '' || path.length > maxPathLength) return undefined
  if (Object.hasOwn(values, path)) return values[path]
  const plain = walk(values, segmentsOf(path))
  return plain ?? walk(values, path.replaceAll(/\[(\d+)\]/g, '.$1').split('.'))
}

/**
 * Returns the value of an expression: a path, with prefixes such as `lc:` and `enc:url:`. Prefixes do not
 * change a text beyond `max` characters, as it is too long in any case.
 */
const expressionValue = (expression: string, values: Json, max: number): unknown => {
  const changed = changedPath(expression)
  if (!changed) return lookup(expression, values)
  const text = asText(lookup(changed.path, values))
  return text.length > max ? text : changed.change(text)
}

/** Replaces placeholders and functions in several values, with one limit for all of them. */
export class Filling {
  readonly #values: Json
  readonly #now: number
  #left: number

  /**
   * `values` may change between two fillings. `now`: milliseconds since the epoch. `max`: maximum length of
   * all inserted values, in characters; default 131,072.
   */
  constructor(values: Json, now: number, max = maxLength) {
    this.#values = values
    this.#now = now
    this.#left = max
  }

  /** Whether nothing more is inserted. */
  get isSpent(): boolean {
    return this.#left <= 0
  }

  /** See {@link fill}. Never throws. */
  fill(value: unknown, depth = 0): unknown {
    if (typeof value === 'string') return this.#text(value)
    if (typeof value !== 'object' || value === null) return value
    if (depth > maxDepth) return ''
    if (Array.isArray(value)) return value.map((item) => this.fill(item, depth + 1))
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.fill(item, depth + 1)]))
  }

  /** Replaces functions, and the placeholders inside and outside of them. */
  #text(text: string): unknown {
    if (!/[$%@]\{/.test(text)) return text
    const pieces = piecesOf(text)
    if (!pieces.some((piece) => 'name' in piece)) return this.#placeholders(text)
    return pieces
      .map((piece) => {
        if ('literal' in piece) return asText(this.#placeholders(piece.literal))
        if (this.isSpent) return ''
        const argument = asText(this.#placeholders(piece.argument))
        const cost = Math.max(argument.length, minFunctionLength)
        return this.#take(applyTemplate(piece.name, argument, this.#now), cost) ?? ''
      })
      .join('')
  }

  #placeholders(text: string): unknown {
    const parts = partsOf(text)
    const [only] = parts
    if (parts.length === 1 && only && 'expression' in only) {
      return this.#valueOf(only.expression) ?? ''
    }
    return parts
      .map((part) => ('literal' in part ? part.literal : asText(this.#valueOf(part.expression))))
      .join('')
  }

  /** Returns the value of an expression; undefined without one, or if the texts become too long. */
  #valueOf(expression: string): unknown {
    if (this.isSpent) return undefined
    const value = expressionValue(expression, this.#values, this.#left)
    const cost = Math.max(expression.length, minPlaceholderLength)
    return this.#take(asText(value), cost) === undefined ? undefined : value
  }

  /** Returns a piece of text; undefined if the texts become too long. `cost`: minimum length that counts. */
  #take(piece: string, cost: number): string | undefined {
    this.#left -= Math.max(piece.length, cost)
    return this.#left < 0 ? undefined : piece
  }
}

/**
 * Replaces the placeholders `${…}` and `%{…}` in all texts of a value by the values at their paths. Replaces
 * the functions `@{strftime_tz …}`, `@{expr …}`, `@{echo …}` and `@{separate …}`, too. A text that is exactly
 * one placeholder keeps the type of its value. A path without a value becomes an empty text, and so do values
 * beyond 131,072 characters in all. A placeholder counts as 64 characters at least, a function as 256. `now`:
 * milliseconds since the epoch. Never throws.
 */
export const fill = (value: unknown, values: Json, now: number): unknown =>
  new Filling(values, now).fill(value)

/** Replaces the placeholders and functions of a text. The result is a text. */
export const fillText = (text: string, values: Json, now: number): string => asText(fill(text, values, now))
