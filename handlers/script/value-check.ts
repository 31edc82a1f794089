import { destinationKinds, readDestination } from '../common/destinations.ts'
import { hasControl, percentDecode, readHeader } from '../common/headers.ts'
import { readSound } from '../common/sounds.ts'
import { codes } from './codes.ts'
import type { Report } from './document.ts'
import { hasPlaceholder, placeholderFault } from './placeholders.ts'
import { ranges } from './schema.ts'
import type { Keys } from './source.ts'

/** Parameters that are put into SIP headers. */
const headerTexts = new Set(['from', 'from_name', 'username', 'password'])
/** Parameters that hold sounds, alone or as a list. */
const soundNames = new Set(['url', 'urls', 'play', 'ringback'])

/**
 * Checks what a schema cannot say: expressions, sounds, destinations, headers. A text with a placeholder is checked again when the script
 * runs, because its value is not known before. Values are not shown in messages: some are passwords.
 */
export const checkValues = (value: unknown, keys: Keys, report: Report): void => {
  if (typeof value === 'string') {
    const message = faultOf(value, keys)
    if (message) report(message.code, `${nameOf(keys)} ${message.text}.`, keys)
  } else if (isHeader(value, keys)) {
    checkHeader(value, keys, report)
  } else if (typeof value === 'object' && value !== null) {
    const list = Array.isArray(value)
    for (const [key, item] of Object.entries(value))
      checkValues(item, [...keys, list ? Number(key) : key], report)
  }
}

/** The parameter's name, also of an item of its list. */
const nameOf = (keys: Keys): string => String(keys.findLast((key) => typeof key === 'string'))

const faultOf = (text: string, keys: Keys): { readonly code: string; readonly text: string } | undefined => {
  const expression = placeholderFault(text)
  if (expression) return { code: codes.expression, text: expression }
  const wrong = hasPlaceholder(text) ? undefined : staticFault(text, nameOf(keys))
  return wrong === undefined ? undefined : { code: codes.parameterInvalid, text: wrong }
}

const staticFault = (text: string, name: string): string | undefined => {
  if (soundNames.has(name)) return messageOf(() => readSound(text))
  if (headerTexts.has(name) && hasControl(text)) return 'holds a line break or control character'
  if (name === 'to' && readDestination(text) === undefined) return `must be ${destinationKinds}`
  const range = ranges[name]
  if (range && !(Number(text) >= range[0] && Number(text) <= range[1])) {
    return `must be a number from ${range[0]} to ${range[1]}`
  }
  return undefined
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

const isHeader = (value: unknown, keys: Keys): value is HeaderText =>
  keys.at(-2) === 'headers' && typeof value === 'object'

const checkHeader = (header: HeaderText, keys: Keys, report: Report): void => {
  for (const key of ['name', 'value'] as const) {
    const expression = placeholderFault(header[key])
    if (expression) report(codes.expression, `${key} ${expression}.`, [...keys, key])
  }
  const name = hasPlaceholder(header.name) ? 'x-any' : header.name
  const message = messageOf(() => readHeader(name, percentDecode(header.value)))
  if (message) report(codes.parameterInvalid, `headers ${message}.`, keys)
}
