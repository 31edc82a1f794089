import { digitsPattern } from '../common/destinations.ts'
import type { ElementReader } from './element-reader.ts'
import { codes } from './faults.ts'

/** Reads an attribute of digits to send. Undefined, after a warning, if it contains any other character. */
export const readDigits = (reader: ElementReader, name: string): string | undefined => {
  const digits = reader.text(name)
  if (digits === undefined || new RegExp(digitsPattern).test(digits)) return digits
  reader.warning(
    codes.digits,
    `The attribute ${name} may contain 0-9 * # A-D w W only; no digits are sent.`,
    name,
  )
  return undefined
}
