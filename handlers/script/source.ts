import type { Document, Node } from 'yaml'
import { isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from 'yaml'
import { DocumentInvalid } from '../handler.ts'
import { codes } from './codes.ts'

/** Longest script, in characters. */
const maxLength = 262_144
/** Most values that aliases may stand for; more is an attempt to blow the document up. */
const maxAliases = 100

/** Keys and indexes that lead to a value. */
export type Keys = readonly (string | number)[]

/** A script's text, read but not checked. */
export interface ScriptSource {
  readonly value: unknown
  /** Where a key (of an object) or an item (of a list) stands; for what is not there, where its parent stands. */
  place(keys: Keys): { readonly line: number; readonly column: number } | undefined
}

/** Reads JSON or YAML (core schema, no tags, aliases bounded). Throws {@link DocumentInvalid}. */
export const readSource = (text: string): ScriptSource => {
  if (text.length > maxLength)
    throw invalid(codes.parse, `The script is longer than ${maxLength} characters.`)
  const lines = new LineCounter()
  const document = parseDocument(text, {
    lineCounter: lines,
    schema: 'core',
    uniqueKeys: true,
    stringKeys: true,
    prettyErrors: false,
  })
  const place = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return { line, column: col }
  }
  const [fault] = [...document.errors, ...document.warnings]
  const duplicate = fault?.code === 'DUPLICATE_KEY'
  // JSON indented with tabs is no YAML, and is right all the same.
  const json = fault && !duplicate ? asJson(text) : undefined
  if (fault && json === undefined) {
    throw invalid(duplicate ? codes.elementDuplicated : codes.parse, `${fault.message}.`, place(fault.pos[0]))
  }
  return {
    value: json ?? plainValue(document),
    place: (keys) => {
      const offset = offsetOf(document, keys)
      return offset === undefined ? undefined : place(offset)
    },
  }
}

const invalid = (code: string, message: string, place: object = {}): DocumentInvalid =>
  new DocumentInvalid([{ code, message, path: '', ...place }])

const asJson = (text: string): unknown => {
  if (!/^\s*\{/.test(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const plainValue = (document: Document): unknown => {
  try {
    return document.toJS({ maxAliasCount: maxAliases })
  } catch (error) {
    throw invalid(codes.parse, `The YAML cannot be used: ${(error as Error).message}.`)
  }
}

const offsetOf = (document: Document, keys: Keys): number | undefined => {
  let node: unknown = document.contents
  let offset = startOf(node)
  for (const key of keys) {
    if (isAlias(node)) node = node.resolve(document)
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(key))
      if (!pair) return offset
      offset = startOf(pair.key) ?? offset
      node = pair.value
    } else if (isSeq(node)) {
      node = node.items[Number(key)]
      offset = startOf(node) ?? offset
    } else return offset
  }
  return offset
}

const startOf = (node: unknown): number | undefined => (isNode(node) ? (node as Node).range?.[0] : undefined)
