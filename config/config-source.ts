import type { Document, Node, Scalar } from 'yaml'
import {
  isAlias,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
} from 'yaml'
import { type Environment, replaceVariables } from './environment.ts'
import type { ConfigFault, FaultDetails, Keys, Place, Report } from './faults.ts'
import { ConfigInvalid, pathOf } from './faults.ts'
import {
  continuesSecret,
  isSecretName,
  maskCharacter,
  maskedLine,
  type Range,
  secretRanges,
} from './secret-mask.ts'
import { yamlFaults } from './yaml-faults.ts'

/** Maximum number of values that YAML aliases may expand to; nested aliases could exhaust the memory. */
const maxAliases = 1000

/** Maximum length of a value that a fault quotes, in characters. */
const maxQuoted = 60

/** Parsed YAML file, with the positions of its keys. */
export class ConfigSource {
  readonly file: string
  readonly value: unknown
  /** Paths of the texts in which a variable was replaced. */
  readonly replaced = new Set<string>()
  #text: string
  #lines = new LineCounter()
  #document: Document
  #secrets: readonly Range[]

  /**
   * Reads YAML 1.2 and replaces variables. `secretsOf` returns the values that faults do not show; default
   * those of a configuration. Throws {@link ConfigInvalid}.
   */
  constructor(file: string, text: string, env: Environment, secretsOf: typeof secretRanges = secretRanges) {
    this.file = file
    // The parser skips a byte order mark, and its offsets do not count it.
    this.#text = text.replace(/^\uFEFF/, '')
    this.#document = this.#parse()
    this.#secrets = secretsOf(this.#document)
    const broken = yamlFaults(this.#document, this.#text)
    if (broken.length > 0)
      throw new ConfigInvalid(
        broken.map(({ start, end = start + 1, first, ...fault }) => ({
          ...this.#marked({ start, end }),
          ...fault,
          path: '',
          severity: 'error',
          ...(first !== undefined && { first: this.#placeOf(first) }),
        })),
      )
    const missing = this.#replace(env)
    if (missing.length > 0) throw new ConfigInvalid(missing)
    this.value = this.#evaluate()
  }

  /** Returns a fault at the position of the keys, or of the nearest parent that exists. */
  fault(keys: Keys, message: string, details: FaultDetails = {}): ConfigFault {
    const { code = 'conflict', hint, first, part = 'value', quote = false, severity = 'error' } = details
    const { key, node } = this.#entryAt(keys)
    const isPlain = isScalar(node) && node.range && node.range[1] > node.range[0]
    const faulty = part === 'value' && isPlain ? node : (key ?? node)
    const value = quote ? this.#quoted(keys, node) : undefined
    return {
      severity,
      ...this.#marked(this.#rangeOf(faulty)),
      path: pathOf(keys),
      message,
      code,
      ...(value !== undefined && { value }),
      ...(hint && { hint }),
      ...(first && { first: this.#placeOf(this.#rangeOf(this.#entryAt(first).node).start) }),
    }
  }

  /** Returns the result of `run`. Throws {@link ConfigInvalid} if it reported faults. */
  check<T>(run: (report: Report) => T): T {
    const faults: ConfigFault[] = []
    const result = run((keys, message, details) => faults.push(this.fault(keys, message, details)))
    if (faults.length > 0) throw new ConfigInvalid(faults)
    return result
  }

  /** Returns whether the keys lead to a value or, for `map`, to a group of keys. */
  has(keys: Keys, kind: 'anything' | 'map' = 'anything'): boolean {
    const { node, isFound } = this.#entryAt(keys)
    return isFound && (kind === 'map' ? isMap(node) : node !== undefined)
  }

  /**
   * Returns a fault in a line and column (from 1) of a text. The position is exact only for a block text
   * (`|`), whose lines are lines of the file.
   */
  textFault(keys: Keys, { line, column }: Place, message: string, details: FaultDetails = {}): ConfigFault {
    const found = this.fault(keys, message, details)
    const { node } = this.#entryAt(keys)
    if (!isScalar(node) || node.type !== 'BLOCK_LITERAL') return found
    const header = this.#placeOf(node.range?.[0] ?? 0).line
    const start = this.#lines.lineStarts[header + line - 1] ?? 0
    const source = this.#lineAt(start)
    const indent = this.#lineAt(this.#lines.lineStarts[header] ?? 0).search(/\S|$/)
    const from = start + Math.min(source.length, indent + column - 1)
    return { ...found, ...this.#marked({ start: from, end: this.#wordEnd(from) }) }
  }

  #parse(): Document {
    try {
      return parseDocument(this.#text, {
        lineCounter: this.#lines,
        schema: 'core',
        uniqueKeys: true,
        stringKeys: true,
        prettyErrors: false,
      })
    } catch (error) {
      // Thousands of nested brackets exhaust the stack.
      throw this.#unusable(error)
    }
  }

  #evaluate(): unknown {
    try {
      return this.#document.toJS({ maxAliasCount: maxAliases })
    } catch (error) {
      throw this.#unusable(error)
    }
  }

  #unusable(error: unknown): ConfigInvalid {
    const message =
      error instanceof ReferenceError
        ? `YAML aliases expand to more than ${maxAliases} values`
        : 'the YAML is nested too deeply'
    const place = { file: this.file, line: 1, column: 1, length: 1, path: '' }
    return new ConfigInvalid([{ severity: 'error', ...place, message, code: 'yaml-too-large' }])
  }

  /** Returns the position, the length and the masked line of a part of the text. */
  #marked({ start, end }: Range): Pick<ConfigFault, 'file' | 'line' | 'column' | 'length' | 'source'> {
    const place = this.#placeOf(start)
    const lineStart = start - place.column + 1
    const line = this.#lineAt(lineStart)
    const length = Math.min(end, lineStart + line.length) - start
    const masked = maskedLine(line, lineStart, this.#secrets)
    const source = this.#continuesSecret(line, lineStart) ? line.replaceAll(/\S/g, maskCharacter) : masked
    return { file: this.file, ...place, length: Math.max(1, length), ...(line !== '' && { source }) }
  }

  #continuesSecret(line: string, start: number): boolean {
    return this.#document.errors.length > 0 && continuesSecret(line, this.#text.slice(0, start).split('\n'))
  }

  #placeOf(offset: number): Place {
    const { line, col } = this.#lines.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }

  #lineAt(start: number): string {
    const end = this.#text.indexOf('\n', start)
    return this.#text.slice(start, end === -1 ? undefined : end).trimEnd()
  }

  #wordEnd(start: number): number {
    return start + (/^<?[\w/.-]*/.exec(this.#text.slice(start, start + 100))?.[0].length ?? 0)
  }

  /** Returns the written text of a value; undefined for a secret, a variable, a group and a long text. */
  #quoted(keys: Keys, node: unknown): string | undefined {
    if (!isScalar(node) || !node.range || this.replaced.has(pathOf(keys))) return undefined
    const [start, end] = node.range
    const text = this.#text.slice(start, end)
    const isHidden =
      maskedLine(text, 0, []) !== text ||
      this.#secrets.some((range) => range.start < end && start < range.end)
    if (
      isHidden ||
      isSecretName(String(keys.at(-1))) ||
      text === '' ||
      text.length > maxQuoted ||
      /[\p{Cc}]|\/\/[^/]*@/u.test(text)
    )
      return undefined
    return node.type === 'PLAIN' ? text : JSON.stringify(node.value)
  }

  #replace(env: Environment): readonly ConfigFault[] {
    const faults: ConfigFault[] = []
    visit(this.#document, {
      Scalar: (key, node, ancestors) => {
        if (key === 'key' || typeof node.value !== 'string') return
        const keys = keysOf(ancestors, node)
        // A document's language has its own placeholders, in lower case.
        const { text, missing } = replaceVariables(node.value, env, keys.includes('document'))
        for (const name of missing) {
          const message = `the environment variable ${name} is not set`
          const hint = `set it, or give a default: \${${name}:-value}`
          faults.push(this.fault(keys, message, { code: 'variable-missing', hint }))
        }
        if (text === node.value) return
        node.value = text
        this.replaced.add(pathOf(keys))
      },
    })
    return faults
  }

  /** Returns the key and the value at the keys, or those of the nearest parent that exists. */
  #entryAt(keys: Keys): { readonly key?: unknown; readonly node: unknown; readonly isFound: boolean } {
    let node: unknown = this.#document.contents
    let found: { key?: unknown; node: unknown } = { node }
    for (const key of keys) {
      if (isAlias(node)) node = node.resolve(this.#document)
      if (isMap(node)) {
        const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(key))
        if (!pair) return { ...found, isFound: false }
        node = pair.value
        found = { key: pair.key, node }
      } else if (isSeq(node) && node.items[Number(key)] !== undefined) {
        node = node.items[Number(key)]
        found = { node }
      } else return { ...found, isFound: false }
    }
    return { ...found, isFound: true }
  }

  /** Returns the range of a value or key; of a group or list, that of its first key, bracket or entry. */
  #rangeOf(node: unknown): Range {
    if (isCollection(node) && !node.flow) {
      const [first] = node.items
      const start = isPair(first) ? first.key : first
      if (isNode(start)) return this.#rangeOf(start)
    }
    const [start, end] = (isNode(node) ? (node as Node).range : undefined) ?? [0, 0]
    return { start, end: isScalar(node) && node.type?.startsWith('BLOCK') ? start + 1 : end }
  }
}

const keysOf = (ancestors: readonly unknown[], scalar: Scalar): Keys =>
  ancestors.flatMap((ancestor, index): (string | number)[] => {
    if (isPair(ancestor)) return [String(isScalar(ancestor.key) ? ancestor.key.value : ancestor.key)]
    return isSeq(ancestor) ? [ancestor.items.indexOf(ancestors[index + 1] ?? scalar)] : []
  })
