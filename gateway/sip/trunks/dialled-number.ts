import type { CarrierConfig } from '../../../config/sip-types.ts'

/** How a carrier wants dialled numbers. */
export type NumberRules = CarrierConfig['number']

/**
 * The telephone number that a text is, without its visual separators: `+1 (555) 01-23`, `tel:+1555…`, or
 * digits alone (2 to 20). Undefined for anything else.
 */
export const numberOf = (text: string): string | undefined => {
  const written = text.trim()
  const number = /^tel:/i.test(written) ? (written.slice(4).split(';', 1)[0] ?? '') : written
  const plain = number.replace(/[\s().-]/g, '')
  return /^(\+[1-9]\d{1,14}|\d{2,20})$/.test(plain) ? plain : undefined
}

/** The number as the carrier wants it written: the plus first, and the prefix before everything. */
export const writtenFor = (number: string, { prefix, plus }: NumberRules): string => {
  const digits = number.replace(/^\+/, '')
  const written = plus === 'add' ? `+${digits}` : plus === 'strip' ? digits : number
  return `${prefix}${written}`
}

/**
 * What a telephone number is written with for a carrier in the user part of a SIP URI: the number by the
 * carrier's rules, and the parameters of `dialled`, a user part or a `tel:` URI: trunk groups (RFC 4904),
 * subaddresses, portability. Those that are not well-formed are left out, and so is a password.
 */
export const userWrittenFor = (number: string, dialled: string, rules: NumberRules): string => {
  const written = writtenFor(number, rules)
  const isGlobal = number.startsWith('+') || written.startsWith('+')
  return `${encodeURIComponent(written).replaceAll('%2B', '+')}${paramsOf(dialled, isGlobal).join('')}`
}

const param = /^[a-z0-9-]+(?:=(?:[\w.!~*'()&+$/[\]:-]|%[0-9a-f]{2})+)?$/i

const paramsOf = (dialled: string, isGlobal: boolean): readonly string[] => {
  const isTel = /^\s*tel:/i.test(dialled)
  // A user part has its password behind a colon; a tel: URI may have one in a value, where a user part must
  // not (RFC 3261 section 25.1).
  const [, ...params] = (isTel ? dialled.trim() : dialled.replace(/:.*$/s, '')).split(';')
  return params
    .filter((each) => param.test(each))
    .filter((each) => !(isGlobal && /^phone-context(?:=|$)/i.test(each)))
    .map((each) => `;${each.replace(/[:[\]]/g, encodeURIComponent)}`)
}
