import type { Document } from 'yaml'
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml'
import { DocumentInvalid } from '../handler.ts'
import { codes } from './codes.ts'
import { InvalidYamlValue, offsetOf, YamlValue } from './yaml-value.ts'

/** Maximum size of a script in bytes, as for XML. */
const maxBytes = 65_536

/**
 * Maximum number of values, counting aliased values at each use: the number that a text of maximum size can
 * have without aliases.
 */
const maxValues = 32_768

/**
 * Maximum depth of values and of open brackets. Deeper values would exhaust the stack of recursive code, and
 * the parser scans the contents of a key once per level.
 */
const maxDepth = 128

/** Keys and indexes of the path to a value. */
export type Keys = readonly (string | number)[]

/** Returns the JSON pointer of a value (RFC 6901). */
export const pointer = (keys: Keys): string =>
  keys.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

/** Reports a fault at a position of the document. */
export type Report = (code: string, message: string, keys: Keys) => void

/** Whether a value is an object and not a list. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Parsed but unchecked script. */
export interface ScriptSource {
  readonly value: unknown
  /** Returns the position of a key or list item; for an absent one, the position of its parent. */
  place(keys: Keys): { readonly line: number; readonly column: number } | undefined
}

/** Parses JSON or YAML (core schema, no tags, limited aliases). Throws {@link DocumentInvalid}. */
export const readSource = (text: string): ScriptSource => {
  if (Buffer.byteLength(text) > maxBytes)
    throw invalid(codes.parse, `The script is larger than ${maxBytes} bytes.`)
  if (bracketDepth(text) > maxDepth) throw tooDeep()
  const lines = new LineCounter()
  const document = parse(text, lines)
  const place = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return { line, column: col }
  }
  const fault = document.errors[0] ?? document.warnings[0]
  if (fault?.code === 'RESOURCE_EXHAUSTION') throw tooDeep()
  // JSON that is indented with tabs is valid, but not valid YAML.
  const json = fault ? asJson(text) : undefined
  if (fault && json === undefined) throw invalid(codes.parse, `${fault.message}.`, place(fault.pos[0]))
  const yaml = fault ? undefined : readValue(document, place)
  return {
    value: json ?? yaml?.value,
    place: (keys) => place(placeOf(document, yaml, keys)),
  }
}

/** Parses a text; the document contains its errors. */
const parse = (text: string, lineCounter: LineCounter): Document => {
  const { stackTraceLimit } = Error
  // Disables stack traces. A hostile text can cause tens of thousands of errors, whose traces take seconds.
  Error.stackTraceLimit = 0
  try {
    return parseDocument(text, {
      lineCounter,
      schema: 'core',
      stringKeys: true,
      prettyErrors: false,
      // Checked in `YamlValue`: the library compares all pairs of keys, which takes seconds for a hostile
      // text.
      uniqueKeys: false,
    })
  } catch (error) {
    // Thousands of consecutive dashes exhaust the parser's stack.
    throw error instanceof RangeError ? tooDeep() : error
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

const codeOf = {
  alias: codes.parse,
  size: codes.parse,
  duplicate: codes.elementDuplicated,
  depth: codes.tooDeep,
}

const readValue = (document: Document, place: (offset: number) => object): YamlValue => {
  try {
    return new YamlValue(document, { maxValues, maxDepth })
  } catch (error) {
    throw error instanceof InvalidYamlValue
      ? invalid(codeOf[error.kind], error.message, place(error.at))
      : error
  }
}

const invalid = (code: string, message: string, place: object = {}): DocumentInvalid =>
  new DocumentInvalid([{ code, message, path: '', ...place }])

const tooDeep = (): DocumentInvalid =>
  invalid(codes.tooDeep, `The script is nested more than ${maxDepth} levels deep.`)

/**
 * Maximum number of open brackets. Brackets in texts count too, because finding quotes would need a parser.
 */
const bracketDepth = (text: string): number => {
  let depth = 0
  let deepest = 0
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth = bracket === '[' || bracket === '{' ? depth + 1 : Math.max(0, depth - 1)
    deepest = Math.max(deepest, depth)
  }
  return deepest
}

const asJson = (text: string): unknown => {
  if (!/^\s*\{/.test(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns the offset of the value at a path, or of its deepest existing parent. */
const placeOf = (document: Document, yaml: YamlValue | undefined, keys: Keys): number => {
  let node: unknown = document.contents
  let offset = offsetOf(node)
  for (const key of keys) {
    if (isAlias(node)) node = yaml?.target(node)
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(key))
      if (!pair) return offset
      offset = offsetOf(pair.key)
      node = pair.value
    } else if (isSeq(node)) {
      node = node.items[Number(key)]
      offset = offsetOf(node) || offset
    } else return offset
  }
  return offset
}
