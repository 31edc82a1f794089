import { hasControlCharacter, percentDecode, readHeader } from '../common/headers.ts'
import { absentFunction, hasPlaceholder, placeholderFault } from '../common/placeholders.ts'
import { readSound } from '../common/sounds.ts'
import { codes } from './codes.ts'
import type { MethodSpec } from './method-spec.ts'
import { rangeOf } from './schema-builders.ts'
import type { Keys, Report } from './source.ts'

/** Checks a sound. Returns a fault that completes the sentence "the value …", or undefined. */
export const soundFault = (text: string): string | undefined => messageOf(() => readSound(text))

/**
 * Checks a text for a SIP header. Returns a fault that completes the sentence "the value …", or undefined.
 */
export const lineFault = (text: string): string | undefined =>
  hasControlCharacter(text) ? 'contains a line break or control character' : undefined

/**
 * Checks rules beyond the schema: expressions, sounds, destinations, headers. A text with a placeholder is
 * checked when the script runs. Messages do not contain values, because some are passwords.
 */
export const checkValues = (
  spec: MethodSpec,
  parameters: Readonly<Record<string, unknown>>,
  place: (at: Keys) => Keys,
  report: Report,
  warning: Report,
): void => {
  const walk = (value: unknown, at: Keys): void => {
    if (typeof value === 'string') {
      const absent = spec.plain?.includes(nameOf(spec, at)) ? undefined : absentFunction(value)
      if (absent)
        warning(codes.expression, `There is no function ${absent}; its text stays unchanged.`, place(at))
      const fault = faultOf(spec, value, at)
      if (fault) report(fault.code, `${nameOf(spec, at)} ${fault.text}.`, place(at))
    } else if (isHeader(spec, value, at)) {
      checkHeader(value, place(at), report)
    } else if (typeof value === 'object' && value !== null) {
      const items = Array.isArray(value)
      for (const [key, item] of Object.entries(value)) {
        if (Object.hasOwn(spec.nested ?? {}, key) && !(typeof item === 'string')) continue
        walk(item, [...at, items ? Number(key) : key])
      }
    }
  }
  walk(parameters, [])
}

/** Returns the name of the parameter that contains a value, also in a list of objects with parameters. */
const nameOf = (spec: MethodSpec, at: Keys): string => {
  const [first = '', second] = at.filter((key) => typeof key === 'string')
  return second !== undefined && spec.lists?.includes(first) ? second : first
}

const faultOf = (
  spec: MethodSpec,
  text: string,
  at: Keys,
): { readonly code: string; readonly text: string } | undefined => {
  const name = nameOf(spec, at)
  if (!spec.plain?.includes(name)) {
    const expression = placeholderFault(text)
    if (expression) return { code: codes.expression, text: expression }
    if (hasPlaceholder(text)) return undefined
  }
  const wrong = spec.texts?.[name]?.(text) ?? rangeFault(spec, name, text)
  return wrong === undefined ? undefined : { code: codes.parameterInvalid, text: wrong }
}

const rangeFault = (spec: MethodSpec, name: string, text: string): string | undefined => {
  const range = rangeOf(spec.properties[name])
  return range && !(Number(text) >= range[0] && Number(text) <= range[1])
    ? `must be a number from ${range[0]} to ${range[1]}`
    : undefined
}

const messageOf = (check: () => unknown): string | undefined => {
  try {
    check()
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

interface HeaderText {
  readonly name: string
  readonly value: string
}

/** Whether a value is an item of a list of SIP headers. */
const isHeader = (spec: MethodSpec, value: unknown, at: Keys): value is HeaderText =>
  at.at(-2) === 'headers' && spec.decoded?.includes('headers') === true && typeof value === 'object'

const checkHeader = (header: HeaderText, keys: Keys, report: Report): void => {
  for (const key of ['name', 'value'] as const) {
    const expression = placeholderFault(header[key])
    if (expression) report(codes.expression, `${key} ${expression}.`, [...keys, key])
  }
  const name = hasPlaceholder(header.name) ? 'x-any' : header.name
  const message = messageOf(() => readHeader(name, percentDecode(header.value)))
  if (message) report(codes.parameterInvalid, `headers ${message}.`, keys)
}
