import { WebRtcError } from '../errors.ts'

/** Fields of a parsed description, of which nothing is known yet. */
export type Fields = Readonly<Record<string, unknown>>

/** The error for a field that is not as it has to be. `where` names the m-line, or `session`. */
export const fault = (where: string, text: string): WebRtcError =>
  new WebRtcError('bad_sdp', `SDP, ${where}: ${text}`)

/** The value as an object; an empty one when it is none. */
export const object = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}

/** The value as a list of objects; empty when it is none. */
export const list = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.map(object) : [])

/** The value as text. The parser turns whatever looks like a number into one. */
export const text = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined

/** The value as an integer from `from` to `to`, else undefined. */
export const integer = (value: unknown, from: number, to: number): number | undefined =>
  typeof value === 'number' && Number.isInteger(value) && value >= from && value <= to ? value : undefined

/** The field as text that matches `pattern`. Throws `bad_sdp` with `expected` when it does not. */
export const matching = (value: unknown, pattern: RegExp, where: string, expected: string): string => {
  const found = text(value)
  if (found === undefined) throw fault(where, `${expected} is missing`)
  if (!pattern.test(found)) throw fault(where, `${expected} expected`)
  return found
}
