import type { Document, Node } from 'yaml'
import {
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
} from 'yaml'
import { DocumentInvalid } from '../handler.ts'
import { codes } from './codes.ts'

/** Longest script in bytes, as for XML: it is read on the main thread, which serves every other call meanwhile. */
const maxBytes = 65_536
/** Most values that aliases may stand for; more is an attempt to blow the document up. */
const maxAliases = 100
/** Most brackets that may be open at once; deeper ones would exhaust the stack of whoever walks the value. */
const maxDepth = 300

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
  if (bracketDepth(text) > maxDepth)
    throw invalid(codes.tooDeep, `The script is nested more than ${maxDepth} levels deep.`)
  const lines = new LineCounter()
  const document = parseDocument(text, {
    lineCounter: lines,
    schema: 'core',
    // Checked below: the library compares every key of a map with every other one, which takes seconds for a long hostile text.
    uniqueKeys: false,
    stringKeys: true,
    prettyErrors: false,
  })
  const place = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return { line, column: col }
  }
  const [fault] = [...document.errors, ...document.warnings]
  // JSON indented with tabs is no YAML, and is right all the same.
  const json = fault ? asJson(text) : undefined
  if (fault && json === undefined) throw invalid(codes.parse, `${fault.message}.`, place(fault.pos[0]))
  const ring = fault ? undefined : ringOf(document)
  if (ring)
    throw invalid(codes.parse, `The alias ${ring.name} stands inside of what it names.`, place(ring.at))
  const repeated = fault ? undefined : repeatedKey(document)
  if (repeated)
    throw invalid(codes.elementDuplicated, `The key ${repeated.name} stands there twice.`, place(repeated.at))
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

/** The most brackets open at once. Those inside of texts count too: a script has few, and quotes are no matter of one character. */
const bracketDepth = (text: string): number => {
  let [depth, deepest] = [0, 0]
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth = bracket === '[' || bracket === '{' ? depth + 1 : Math.max(0, depth - 1)
    deepest = Math.max(deepest, depth)
  }
  return deepest
}

/** The first key that a map has twice, and its offset. */
const repeatedKey = (document: Document): { readonly name: string; readonly at: number } | undefined => {
  let found: { readonly name: string; readonly at: number } | undefined
  visit(document, {
    Map: (_, map) => {
      const seen = new Set<string>()
      for (const { key } of map.items) {
        const name = String(isScalar(key) ? key.value : key)
        if (seen.has(name)) found = { name, at: startOf(key) ?? 0 }
        if (found) return visit.BREAK
        seen.add(name)
      }
      return undefined
    },
  })
  return found
}

/** The first alias of something that it is itself a part of, and its offset: such a value has no end. */
const ringOf = (document: Document): { readonly name: string; readonly at: number } | undefined => {
  let found: { readonly name: string; readonly at: number } | undefined
  visit(document, {
    Alias: (_, alias, ancestors) => {
      if (!ancestors.some((node) => isCollection(node) && node.anchor === alias.source)) return undefined
      found = { name: alias.source, at: startOf(alias) ?? 0 }
      return visit.BREAK
    },
  })
  return found
}

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
