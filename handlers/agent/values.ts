import type { Json } from './document-types.ts'

/** Whether a value is an object and not a list. */
export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether a value is a text with a placeholder, which becomes the right value when the script runs. */
export const isPlaceholder = (value: unknown): boolean => typeof value === 'string' && /[$%]\{/.test(value)

/** Path of a value that changes during the conversation, with prefixes such as `lc:`. */
const ofConversation = /^(?:[a-z]+:)*(?:global_data|step_history|meta_data|args|ai_session_id)\b/

/** Whether the expression of a placeholder names a value of the conversation: the agent replaces it. */
export const isOfConversation = (expression: string): boolean => ofConversation.test(expression)

/** Returns a finite number, also of a text such as `1500`; undefined for any other value. */
export const numberOf = (value: unknown): number | undefined => {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value.slice(0, 64)) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

const truths: Readonly<Record<string, boolean>> = {
  true: true,
  false: false,
  yes: true,
  no: false,
  on: true,
  off: false,
  '1': true,
  '0': false,
}

/** Returns a truth, also of a text such as `false` or a number; undefined for any other value. */
export const booleanOf = (value: unknown): boolean | undefined => {
  if (typeof value === 'boolean') return value
  if (typeof value === 'number') return value !== 0
  const word = typeof value === 'string' ? value.slice(0, 16).trim().toLowerCase() : ''
  return Object.hasOwn(truths, word) ? truths[word] : undefined
}

/** Returns a text, also of a number or truth; undefined for any other value. */
export const textOf = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}

/** Returns the texts of a list, or the one text that stands for a list. */
export const textsOf = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : [value]).flatMap((item) => textOf(item) ?? [])

/** Returns a value that is JSON in a text, or the value itself; undefined for a text that is not JSON. */
export const jsonOf = (value: unknown): unknown => {
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value)
  } catch {
    return undefined
  }
}

const units: Readonly<Record<string, number>> = { d: 86_400, h: 3600, m: 60, s: 1 }

/**
 * Returns the seconds of a duration: a number, `90`, `1h45m30s`, `1:30` or `1:00:00`; undefined for any other
 * value.
 */
export const secondsOf = (value: unknown): number | undefined => {
  const number = numberOf(value)
  if (number !== undefined) return number
  const text = typeof value === 'string' ? value.slice(0, 64).replace(/\s/g, '').toLowerCase() : ''
  if (/^\d{1,6}(?::\d{1,2}){1,2}$/.test(text))
    return text.split(':').reduce((sum, part) => sum * 60 + Number(part), 0)
  if (!/^(?:\d{1,9}[dhms])+$/.test(text)) return undefined
  return [...text.matchAll(/(\d{1,9})([dhms])/g)].reduce(
    (sum, [, count, unit = '']) => sum + Number(count) * (units[unit] ?? 0),
    0,
  )
}

/** Returns a number within limits. */
export const clamp = (number: number, [min, max]: readonly [number, number]): number =>
  Math.min(Math.max(number, min), max)

/** Limits of a value from outside. */
export interface SizeLimits {
  /** Maximum number of characters in all texts and keys. */
  readonly characters: number
  /** Maximum number of values. */
  readonly values: number
  readonly depth: number
}

/** Limits of a reply, and of the data that a conversation keeps. */
export const dataLimits: SizeLimits = { characters: 262_144, values: 20_000, depth: 64 }

/** Checks the size of a value. Returns the fault, for instance `is nested too deeply`, or undefined. */
export const sizeFault = (value: unknown, limits: SizeLimits): string | undefined => {
  const open: { readonly value: unknown; readonly depth: number }[] = [{ value, depth: 1 }]
  let characters = 0
  let values = 0
  for (let next = open.pop(); next; next = open.pop()) {
    const { value: item, depth } = next
    values += 1
    if (typeof item === 'string') characters += item.length
    if (characters > limits.characters) return `has more than ${limits.characters} characters`
    if (values + open.length > limits.values) return `has more than ${limits.values} values`
    if (typeof item !== 'object' || item === null) continue
    if (depth > limits.depth) return `has more than ${limits.depth} levels`
    for (const [key, inner] of Object.entries(item)) {
      if (!Array.isArray(item)) characters += key.length
      open.push({ value: inner, depth: depth + 1 })
    }
  }
  return undefined
}
