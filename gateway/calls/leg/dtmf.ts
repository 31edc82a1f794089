import { verbFailed } from './failures.ts'

/** Whether a text holds only DTMF digits and pauses (`w`, `W`). */
export const isDigits = (digits: string): boolean => /^[0-9*#A-DwW]+$/.test(digits)

/** Throws `invalid_digits` unless {@link isDigits}. */
export const checkDigits = (digits: string): void => {
  if (isDigits(digits)) return
  const found = JSON.stringify(digits.slice(0, 64))
  throw verbFailed('invalid_digits', `digits: expected 0-9 * # A-D w W, found ${found}`)
}
