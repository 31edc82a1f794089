import { asText } from '../common/as-text.ts'
import { changedPath, partsOf, segmentsOf } from '../common/placeholders.ts'
import type { Json } from './document-types.ts'

/** Maximum length of all values that one filling inserts, in characters. */
const maxLength = 131_072

/** Minimum length that counts for each placeholder: its look-up takes time too. */
const minPlaceholderLength = 64

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

/** Returns the value of an expression: a path, with prefixes such as `lc:` and `enc:url:`. */
const expressionValue = (expression: string, values: Json): unknown => {
  const changed = changedPath(expression)
  return changed ? changed.change(asText(lookup(changed.path, values))) : lookup(expression, values)
}

class Filling {
  readonly #values: Json
  #left = maxLength

  constructor(values: Json) {
    this.#values = values
  }

  fill(value: unknown, depth = 0): unknown {
    if (typeof value === 'string') return this.#text(value)
    if (typeof value !== 'object' || value === null) return value
    if (depth > maxDepth) return ''
    if (Array.isArray(value)) return value.map((item) => this.fill(item, depth + 1))
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.fill(item, depth + 1)]))
  }

  #text(text: string): unknown {
    if (!/[$%]\{/.test(text)) return text
    const parts = partsOf(text)
    const [only] = parts
    if (parts.length === 1 && only && 'expression' in only) {
      const value = expressionValue(only.expression, this.#values) ?? ''
      return this.#take(asText(value)) === undefined ? '' : value
    }
    return parts
      .map((part) => {
        if ('literal' in part) return part.literal
        return this.#take(asText(expressionValue(part.expression, this.#values))) ?? ''
      })
      .join('')
  }

  /** Returns a piece of text; undefined if the texts become too long. */
  #take(piece: string): string | undefined {
    if (this.#left <= 0) return undefined
    this.#left -= Math.max(piece.length, minPlaceholderLength)
    return this.#left < 0 ? undefined : piece
  }
}

/**
 * Replaces the placeholders `${…}` and `%{…}` in all texts of a value by the values at their paths. A text
 * that is exactly one placeholder keeps the type of its value. A path without a value becomes an empty text,
 * and so do values beyond 131,072 characters in all. Nothing is evaluated. Never throws.
 */
export const fill = (value: unknown, values: Json): unknown => new Filling(values).fill(value)

/** Replaces the placeholders of a text. The result is a text. */
export const fillText = (text: string, values: Json): string => asText(fill(text, values))
