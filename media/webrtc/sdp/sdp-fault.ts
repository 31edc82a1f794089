import { WebRtcError } from '../errors.ts'
import { text } from './fields.ts'

/** Returns the error for an invalid field. `where` names the m-line, or `session`. */
export const fault = (where: string, problem: string): WebRtcError =>
  new WebRtcError('bad_sdp', `SDP, ${where}: ${problem}`)

/** Returns the field as text if it matches `pattern`. Otherwise throws `bad_sdp` with `expected`. */
export const matching = (value: unknown, pattern: RegExp, where: string, expected: string): string => {
  const found = text(value)
  if (found === undefined) throw fault(where, `${expected} is missing`)
  if (!pattern.test(found)) throw fault(where, `${expected} expected`)
  return found
}
