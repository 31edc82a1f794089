/** Fields of a parsed description, not yet validated. */
export type Fields = Readonly<Record<string, unknown>>

/** Returns the value as an object; an empty object for any other type. */
export const object = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}

/** Returns the value as a list of objects; empty for any other type. */
export const list = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.map(object) : [])

/** Returns the value as text. The parser converts anything that looks like a number. */
export const text = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined

/** Returns the value if it is an integer from `from` to `to`; else undefined. */
export const integer = (value: unknown, from: number, to: number): number | undefined =>
  typeof value === 'number' && Number.isInteger(value) && value >= from && value <= to ? value : undefined
