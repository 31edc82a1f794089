import type { CarrierConfig } from '../../../config/sip-types.ts'

/** How a carrier wants dialled numbers. */
export type NumberRules = CarrierConfig['number']

/**
 * The telephone number that a text is, without its visual separators: `+1 (555) 01-23`, `tel:+1555…`, or digits alone (2 to 20). Undefined
 * for anything else.
 */
export const numberOf = (text: string): string | undefined => {
  const plain = text
    .trim()
    .replace(/^tel:([^;]*).*$/i, '$1')
    .replace(/[\s().-]/g, '')
  return /^(\+[1-9]\d{1,14}|\d{2,20})$/.test(plain) ? plain : undefined
}

/** The number as the carrier wants it written: the plus first, and the prefix before everything. */
export const writtenFor = (number: string, { prefix, plus }: NumberRules): string => {
  const digits = number.replace(/^\+/, '')
  const written = plus === 'add' ? `+${digits}` : plus === 'strip' ? digits : number
  return `${prefix}${written}`
}
