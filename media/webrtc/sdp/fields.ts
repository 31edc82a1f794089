import { WebRtcError } from '../errors.ts'

/** Fields of a parsed description, not yet validated. */
export type Fields = Readonly<Record<string, unknown>>

/** Returns the error for an invalid field. `where` names the m-line, or `session`. */
export const fault = (where: string, text: string): WebRtcError =>
  new WebRtcError('bad_sdp', `SDP, ${where}: ${text}`)

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

/** Returns the field as text that matches `pattern`. Throws `bad_sdp` with `expected` otherwise. */
export const matching = (value: unknown, pattern: RegExp, where: string, expected: string): string => {
  const found = text(value)
  if (found === undefined) throw fault(where, `${expected} is missing`)
  if (!pattern.test(found)) throw fault(where, `${expected} expected`)
  return found
}
