/** An object of a frame. */
export type Values = Readonly<Record<string, unknown>>

/** The value as an object; an empty one when it is none. */
export const valuesOf = (value: unknown): Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Values) : {}

/** A field as text; empty when it is none. */
export const textOf = (values: Values, name: string): string => {
  const value = values[name]
  return typeof value === 'string' ? value : ''
}

/** A field as a number; 0 when it is none. */
export const numberOf = (values: Values, name: string): number => {
  const value = values[name]
  return typeof value === 'number' ? value : 0
}

/** Keys from `camelCase` to `snake_case`, all the way down; what is undefined is left out. */
export const toWire = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(toWire)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, each]) => each !== undefined)
  return Object.fromEntries(entries.map(([name, each]) => [snake(name), toWire(each)]))
}

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
