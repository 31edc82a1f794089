import type { Document, YAMLError } from 'yaml'
import { isAlias, isCollection, isNode, isPair, isScalar, visit } from 'yaml'
import { closest } from '../handlers/common/spelling.ts'

/** Fault of the YAML, by the offsets of its text. */
export interface YamlFault {
  /** Offset of the faulty text. */
  readonly start: number
  /** Offset after it; default one character. */
  readonly end?: number
  readonly code: string
  readonly message: string
  readonly hint?: string
  /** Offset of the first of two duplicates. */
  readonly first?: number
}

/** Errors after which the rest of the file may be misread. Their follow-up errors are not reported. */
const isIndependent = ({ code }: YAMLError): boolean =>
  code === 'DUPLICATE_KEY' || code === 'TAG_RESOLVE_FAILED' || code === 'NON_STRING_KEY'

/** Returns the faults of a parsed file. Only the first one is reported of those that disturb the others. */
export const yamlFaults = (document: Document, text: string): readonly YamlFault[] => {
  const errors = [...document.errors, ...document.warnings].sort((a, b) => a.pos[0] - b.pos[0])
  const broken = errors.findIndex((error) => !isIndependent(error))
  const reported = broken === -1 ? errors : errors.slice(0, broken + 1)
  const faults = reported.map((error) => describe(error, document, text))
  return faults.length > 0 ? faults : aliasFaults(document)
}

const describe = (error: YAMLError, document: Document, text: string): YamlFault => {
  const [start, end] = error.pos
  switch (error.code) {
    case 'TAB_AS_INDENT':
      return {
        start,
        code: 'yaml-tab',
        message: 'a tab indents the line',
        hint: 'use spaces, two for each level',
      }
    case 'BAD_INDENT':
      return error.message.startsWith('Flow') ? unclosedFlow(document, text, start) : wrongIndent(text, start)
    case 'BLOCK_AS_IMPLICIT_KEY':
      if (/\s/.test(text[start] ?? '')) return wrongIndent(text, start)
      return deeperLine(text, start) ?? colonInValue(start, text)
    case 'MULTILINE_IMPLICIT_KEY':
      return (
        deeperLine(text, start) ?? {
          start,
          end: lineEnd(text, start),
          code: 'yaml-syntax',
          message: 'the line has no key',
          hint: 'a key ends with a colon and a space',
        }
      )
    case 'MISSING_CHAR':
      return unclosedQuote(document, start)
    case 'DUPLICATE_KEY':
      return duplicateKey(document, start)
    default:
      if (error.message.includes('call stack'))
        return { start: 0, code: 'yaml-too-large', message: 'the YAML is nested too deeply' }
      return { start, end, ...(texts[error.code] ?? { code: 'yaml-syntax', message: plain(error.message) }) }
  }
}

const texts: Readonly<Record<string, Omit<YamlFault, 'start'>>> = {
  MULTIPLE_DOCS: {
    code: 'yaml-documents',
    message: 'a second YAML document begins; the configuration is a single one',
    hint: 'remove the line `---` or `...`',
  },
  TAG_RESOLVE_FAILED: {
    code: 'yaml-tag',
    message: 'YAML tags are not supported',
    hint: 'put a text that begins with ! in quotes',
  },
  NON_STRING_KEY: { code: 'yaml-syntax', message: 'a key must be a text' },
  BAD_SCALAR_START: {
    code: 'yaml-syntax',
    message: 'a text cannot begin with this character',
    hint: 'put it in quotes',
  },
  UNEXPECTED_TOKEN: {
    code: 'yaml-syntax',
    message: 'the line goes on after the end of its value',
    hint: 'put the whole value in quotes',
  },
}

const plain = (message: string): string => message.replace(/^[A-Z]/, (first) => first.toLowerCase())

/** Describes a line whose indentation differs from that of every line above it. */
const wrongIndent = (text: string, offset: number): YamlFault => {
  const start = firstLetter(text, lineStart(text, offset))
  const own = start - lineStart(text, start)
  const levels = levelsAbove(text, start)
  const hint = levels.map(({ spaces, key, line }) => `${spaces} as \`${key}\` in line ${line}`).join(', or ')
  return {
    start,
    end: lineEnd(text, start),
    code: 'yaml-indent',
    message: `the line begins with ${own} spaces, and no group above it does`,
    ...(hint && { hint: `use ${hint}` }),
  }
}

/** Describes the next line if it is indented deeper than the line of `offset`, which has a value already. */
const deeperLine = (text: string, offset: number): YamlFault | undefined => {
  const next = text.indexOf('\n', offset) + 1
  if (next === 0) return undefined
  const start = firstLetter(text, next)
  const above = firstLetter(text, lineStart(text, offset))
  const indent = start - lineStart(text, start)
  const indentAbove = above - lineStart(text, above)
  if (indent <= indentAbove || !/^[^\s#].*?:(\s|$)/.test(text.slice(start, lineEnd(text, start))))
    return undefined
  return {
    start,
    end: lineEnd(text, start),
    code: 'yaml-indent',
    message: `the line begins with ${indent} spaces, but the key above it has a value already`,
    hint: `use ${indentAbove} as the line above`,
  }
}

const colonInValue = (start: number, text: string): YamlFault => ({
  start,
  end: lineEnd(text, start),
  code: 'yaml-syntax',
  message: 'the value has a colon and a space, so that it looks like a key',
  hint: 'put the value in quotes',
})

/** Describes the list or group in brackets that is open at an offset. */
const unclosedFlow = (document: Document, text: string, offset: number): YamlFault => {
  let start = offset
  visit(document, (_key, node) => {
    if (isCollection(node) && node.flow && (node.range?.[0] ?? offset) < offset)
      start = node.range?.[0] ?? start
  })
  const closing = text[start] === '[' ? ']' : '}'
  return {
    start,
    code: 'yaml-syntax',
    message: `${text[start]} has no closing ${closing}`,
    hint: `add ${closing} before the next key`,
  }
}

/** Describes the text in quotes that is open at an offset. */
const unclosedQuote = (document: Document, offset: number): YamlFault => {
  let start = offset
  visit(document, (_key, node) => {
    const [from = offset, to = 0] = (isScalar(node) && node.type?.startsWith('QUOTE') && node.range) || []
    if (from < offset && to >= offset) start = from
  })
  return {
    start,
    code: 'yaml-syntax',
    message: 'a quotation mark or bracket has no counterpart',
    hint: 'close it at the end of the text',
  }
}

const duplicateKey = (document: Document, offset: number): YamlFault => {
  let fault: YamlFault = { start: offset, code: 'duplicate-key', message: 'the key is used twice' }
  visit(document, (_key, node) => {
    if (!isCollection(node)) return undefined
    const keys = node.items.flatMap((item) => (isPair(item) && isScalar(item.key) ? [item.key] : []))
    const second = keys.find((key) => key.range?.[0] === offset)
    if (!second) return undefined
    const first = keys.find(({ value }) => value === second.value)?.range?.[0]
    fault = {
      start: offset,
      end: second.range?.[1],
      code: 'duplicate-key',
      message: 'the key is used twice in its group',
      ...(first !== undefined && { first }),
    }
    return visit.BREAK
  })
  return fault
}

/** Returns the faults of aliases without an anchor before them. */
const aliasFaults = (document: Document): readonly YamlFault[] => {
  const anchors = new Set<string>()
  const faults: YamlFault[] = []
  visit(document, (_key, node) => {
    if (isAlias(node)) {
      if (anchors.has(node.source)) return
      const near = closest(node.source, anchors)
      faults.push({
        start: node.range?.[0] ?? 0,
        end: node.range?.[1],
        code: 'yaml-alias',
        message: `no anchor above has the name &${node.source}`,
        ...(near && { hint: `did you mean \`*${near}\`?` }),
      })
    } else if (isNode(node) && 'anchor' in node && node.anchor) anchors.add(node.anchor)
  })
  return faults
}

const lineStart = (text: string, offset: number): number => text.lastIndexOf('\n', offset - 1) + 1

/** Returns the offset after the last letter of a line. */
const lineEnd = (text: string, offset: number): number => {
  const end = text.indexOf('\n', offset)
  return offset + text.slice(offset, end === -1 ? undefined : end).trimEnd().length
}

const firstLetter = (text: string, offset: number): number => {
  const found = text.slice(offset).search(/\S/)
  return found === -1 ? text.length : offset + found
}

interface Level {
  readonly spaces: number
  readonly key: string
  readonly line: number
}

/** Returns the groups that are open above a line, the innermost one first. */
const levelsAbove = (text: string, offset: number): readonly Level[] => {
  const lines = text.slice(0, lineStart(text, offset)).split('\n').slice(0, -1)
  const levels: Level[] = []
  for (let at = lines.length - 1; at >= 0; at--) {
    // A line of a list also opens the group of its first key.
    const [, indent = '', dash = '', key] =
      /^( *)((?:- +)*)([\w$"'-]+) *:(?:\s|$)/.exec(lines[at] ?? '') ?? []
    if (key === undefined) continue
    const spaces = indent.length + dash.length
    if (spaces < (levels.at(-1)?.spaces ?? Number.POSITIVE_INFINITY))
      levels.push({ spaces, key, line: at + 1 })
    if (spaces === 0) break
  }
  return levels
}
