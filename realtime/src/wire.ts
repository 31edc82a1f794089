/** Object in a frame. */
export type Values = Readonly<Record<string, unknown>>

/** Returns the value if it is an object, else an empty one. */
export const valuesOf = (value: unknown): Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Values) : {}

/** Returns a field if it is a string, else an empty one. */
export const textOf = (values: Values, name: string): string => {
  const value = values[name]
  return typeof value === 'string' ? value : ''
}

/** Returns a field if it is a number, else 0. */
export const numberOf = (values: Values, name: string): number => {
  const value = values[name]
  return typeof value === 'number' ? value : 0
}

/** Converts keys from `camelCase` to `snake_case` at all depths; undefined values are left out. */
export const toWire = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(toWire)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, each]) => each !== undefined)
  return Object.fromEntries(entries.map(([name, each]) => [snake(name), toWire(each)]))
}

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
