import type { NumberLists } from '../../../config/types.ts'
import { type NumberRules, numberOf, writtenFor } from './dialled-number.ts'

/** Decision whether a number may be called through a carrier. */
export interface NumberVerdict {
  readonly isPermitted: boolean
  /** Number in the form that was compared with the lists; undefined for text that is no telephone number. */
  readonly number?: string
  /** Longest matching prefix, which made the decision; undefined if no prefix matches. */
  readonly prefix?: string
}

/**
 * Minimum number of digits of a number without a plus that the carrier may read as international. A shorter
 * number is always local.
 */
const minInternationalDigits = 8

/**
 * Looks up a dialled number in the lists of a carrier. `user` is the user part of the SIP URI without
 * escapes, with its parameters. A carrier may read the same digits in several ways (`+882…`, `00882…`,
 * `882…`). Parameters may also change the number (RFC 3966 `phone-context`, RFC 4694 `rn`). A number is
 * rejected if the lists reject any of these readings.
 */
export const numberVerdict = (lists: NumberLists, user: string, rules: NumberRules): NumberVerdict => {
  const [dialled = '', ...params] = user.split(';')
  const number = numberOf(dialled)
  if (number === undefined) return { isPermitted: false }
  const verdicts = [verdictOf(lists, inContext(number, params), rules)]
  for (const routed of valuesOf(params, 'rn')) {
    const other = numberOf(routed)
    verdicts.push(other === undefined ? { isPermitted: false } : verdictOf(lists, other, rules))
  }
  return verdicts.find(({ isPermitted }) => !isPermitted) ?? verdicts[0] ?? { isPermitted: false }
}

const verdictOf = (lists: NumberLists, number: string, rules: NumberRules): NumberVerdict => {
  const main = mainForm(number, rules)
  const found = lookUp(lists, main)
  if (!found.isPermitted) return found
  const refused = otherForms(number, rules)
    .map((form) => lookUp(lists, form))
    .find(({ isPermitted, prefix }) => !isPermitted && prefix !== undefined)
  return refused ?? found
}

/** Compares one form of a number with the lists; the longest matching prefix decides. */
const lookUp = ({ allow, refuse }: NumberLists, number: string): NumberVerdict => {
  const allowed = longest(allow, number)
  const refused = longest(refuse, number)
  if (refused.length > allowed.length) return { isPermitted: false, number, prefix: refused }
  if (allowed !== '') return { isPermitted: true, number, prefix: allowed }
  return { isPermitted: allow.length === 0, number }
}

const longest = (prefixes: readonly string[], number: string): string =>
  prefixes.reduce((best, each) => (each.length > best.length && number.startsWith(each) ? each : best), '')

/**
 * Returns the number with a plus if it is international, as dialled or in the carrier's format. Returns other
 * numbers unchanged. Without a plus and a prefix in that format, the carrier reads every number that does not
 * start with 0 as international.
 */
const mainForm = (number: string, rules: NumberRules): string => {
  const written = writtenFor(number, rules)
  const isBare = rules.plus === 'strip' && rules.prefix === '' && !number.startsWith('0')
  return international(number) ?? international(written) ?? (isBare ? `+${number}` : number)
}

/** Returns the other ways in which the carrier may read the number. */
const otherForms = (number: string, rules: NumberRules): readonly string[] => {
  const digits = number.replace(/^\+/, '')
  const isLong = digits.length >= minInternationalDigits && !digits.startsWith('0')
  const forms = [number, international(writtenFor(number, rules)), isLong ? `+${digits}` : undefined]
  return forms.filter((form) => form !== undefined)
}

/** Returns the number with a plus in place of an international prefix (`00`, in North America `011`). */
const international = (number: string): string | undefined => {
  if (number.startsWith('+')) return number
  const [, rest] = /^(?:00+|011)([1-9]\d*)$/.exec(number) ?? []
  return rest === undefined ? undefined : `+${rest}`
}

/**
 * Adds the prefix in the `phone-context` parameter to a local number, as in `131234567;phone-context=+882`
 * (RFC 3966 section 5.1.5). Returns other numbers unchanged.
 */
const inContext = (number: string, params: readonly string[]): string => {
  const [context] = valuesOf(params, 'phone-context')
  return !number.startsWith('+') && context !== undefined && /^\+\d{1,15}$/.test(context)
    ? `${context}${number}`
    : number
}

const valuesOf = (params: readonly string[], name: string): readonly string[] =>
  params.flatMap((each) => {
    const [key = '', ...value] = each.split('=')
    return key.trim().toLowerCase() === name ? [value.join('=').trim()] : []
  })
