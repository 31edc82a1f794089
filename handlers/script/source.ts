import type { Document } from 'yaml'
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml'
import { DocumentInvalid } from '../handler.ts'
import { codes } from './codes.ts'
import { InvalidYamlValue, offsetOf, YamlValue } from './yaml-value.ts'

/** Longest script in bytes, as for XML: it is read on the main thread, which serves every other call meanwhile. */
const maxBytes = 65_536
/** Most values, those behind aliases each time that they stand there: what so long a text can hold without any. */
const maxValues = 32_768
/**
 * Most levels, and most brackets that may be open at once; deeper ones would exhaust the stack of whoever walks the value, and the parser looks
 * at what is in a key once for each level.
 */
const maxDepth = 128

/** Keys and indexes that lead to a value. */
export type Keys = readonly (string | number)[]

/** The JSON pointer of a value (RFC 6901). */
export const pointer = (keys: Keys): string =>
  keys.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

/** A script's text, read but not checked. */
export interface ScriptSource {
  readonly value: unknown
  /** Where a key (of an object) or an item (of a list) stands; for what is not there, where its parent stands. */
  place(keys: Keys): { readonly line: number; readonly column: number } | undefined
}

/** Reads JSON or YAML (core schema, no tags, aliases bounded). Throws {@link DocumentInvalid}. */
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
  const [fault] = [...document.errors, ...document.warnings]
  if (fault?.code === 'RESOURCE_EXHAUSTION') throw tooDeep()
  // JSON indented with tabs is no YAML, and is right all the same.
  const json = fault ? asJson(text) : undefined
  if (fault && json === undefined) throw invalid(codes.parse, `${fault.message}.`, place(fault.pos[0]))
  const yaml = fault ? undefined : readValue(document, place)
  return {
    value: json ?? yaml?.value,
    place: (keys) => place(placeOf(document, yaml, keys)),
  }
}

/** Parses; what is wrong with it is in its errors. */
const parse = (text: string, lineCounter: LineCounter): Document => {
  const { stackTraceLimit } = Error
  // A hostile text has tens of thousands of errors, whose stacks would take seconds, and nobody reads them.
  Error.stackTraceLimit = 0
  try {
    return parseDocument(text, {
      lineCounter,
      schema: 'core',
      stringKeys: true,
      prettyErrors: false,
      // Checked by us: the library compares every key of a map with every other one, which takes seconds for a long hostile text.
      uniqueKeys: false,
    })
  } catch (error) {
    // Thousands of dashes in a row exhaust the parser's stack.
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
    return new YamlValue(document, { maxValues: maxValues, maxDepth: maxDepth })
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

/** The most brackets open at once. Those inside of texts count too: a script has few, and quotes are no matter of one character. */
const bracketDepth = (text: string): number => {
  let [depth, deepest] = [0, 0]
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

/** The offset of what these keys lead to, or of the last that is there. */
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
