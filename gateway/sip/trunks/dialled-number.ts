import type { CarrierConfig } from '../../../config/types.ts'

/** Rules of a carrier for dialled numbers. */
export type NumberRules = CarrierConfig['number']

/**
 * Returns the telephone number in a text, without visual separators. Accepts `+1 (555) 01-23`, `tel:+1555…`,
 * and 2 to 20 digits. Returns undefined for other text.
 */
export const numberOf = (text: string): string | undefined => {
  const written = text.trim()
  const number = /^tel:/i.test(written) ? (written.slice(4).split(';', 1)[0] ?? '') : written
  const plain = number.replace(/[\s().-]/g, '')
  return /^(\+[1-9]\d{1,14}|\d{2,20})$/.test(plain) ? plain : undefined
}

/** Returns the number in the carrier's format: adds or removes the plus first, and then adds the prefix. */
export const writtenFor = (number: string, { prefix, plus }: NumberRules): string => {
  const digits = number.replace(/^\+/, '')
  const written = plus === 'add' ? `+${digits}` : plus === 'strip' ? digits : number
  return `${prefix}${written}`
}

/**
 * Returns the user part of a SIP URI for a telephone number at a carrier. It has the number in the carrier's
 * format, and the parameters of `dialled`, which is a user part or a `tel:` URI. Such parameters are trunk
 * groups (RFC 4904), subaddresses and portability data. Malformed parameters and passwords are left out.
 */
export const userWrittenFor = (number: string, dialled: string, rules: NumberRules): string => {
  const written = writtenFor(number, rules)
  const isGlobal = number.startsWith('+') || written.startsWith('+')
  return `${encodeURIComponent(written).replaceAll('%2B', '+')}${paramsOf(dialled, isGlobal).join('')}`
}

const param = /^[a-z0-9-]+(?:=(?:[\w.!~*'()&+$/[\]:-]|%[0-9a-f]{2})+)?$/i

const paramsOf = (dialled: string, isGlobal: boolean): readonly string[] => {
  const isTel = /^\s*tel:/i.test(dialled)
  // The password of a user part follows a colon. A value of a `tel:` URI may contain a colon, but a user part
  // must not (RFC 3261 section 25.1).
  const [, ...params] = (isTel ? dialled.trim() : dialled.replace(/:.*$/s, '')).split(';')
  return params
    .filter((each) => param.test(each))
    .filter((each) => !(isGlobal && /^phone-context(?:=|$)/i.test(each)))
    .map((each) => `;${each.replace(/[:[\]]/g, encodeURIComponent)}`)
}
