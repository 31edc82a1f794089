import type { Document, Node, Scalar } from 'yaml'
import { isAlias, isMap, isNode, isPair, isScalar, isSeq, LineCounter, parseDocument, visit } from 'yaml'
import { type Environment, replaceVariables } from './environment.ts'
import type { ConfigFault, Keys, Report } from './faults.ts'
import { ConfigInvalid, pathOf } from './faults.ts'

/** Maximum number of values that YAML aliases may expand to; nested aliases could exhaust the memory. */
const maxAliases = 1000

/** Parsed YAML file, with the positions of its keys. */
export class ConfigSource {
  readonly file: string
  readonly value: unknown
  /** Paths of the texts in which a variable was replaced. */
  readonly replaced = new Set<string>()
  #lines = new LineCounter()
  #document: Document

  /** Reads YAML 1.2 and replaces variables. Throws {@link ConfigInvalid}. */
  constructor(file: string, text: string, env: Environment) {
    this.file = file
    this.#document = parseDocument(text, {
      lineCounter: this.#lines,
      schema: 'core',
      uniqueKeys: true,
      stringKeys: true,
      prettyErrors: false,
    })
    const broken = [...this.#document.errors, ...this.#document.warnings]
    if (broken.length > 0)
      throw new ConfigInvalid(broken.map((e) => this.#fault(e.pos[0], [], `${e.message}.`)))
    const missing = this.#replace(env)
    if (missing.length > 0) throw new ConfigInvalid(missing)
    try {
      this.value = this.#document.toJS({ maxAliasCount: maxAliases })
    } catch (error) {
      throw new ConfigInvalid([this.#fault(0, [], `The YAML cannot be used: ${(error as Error).message}.`)])
    }
  }

  /** Returns a fault at the position of the keys, or of the nearest parent that exists. */
  fault(keys: Keys, message: string): ConfigFault {
    return this.#fault(this.#offsetOf(keys), keys, message)
  }

  /** Returns the result of `run`. Throws {@link ConfigInvalid} if it reported faults. */
  check<T>(run: (report: Report) => T): T {
    const faults: ConfigFault[] = []
    const result = run((keys, message) => faults.push(this.fault(keys, message)))
    if (faults.length > 0) throw new ConfigInvalid(faults)
    return result
  }

  /** Returns whether the keys lead to a value or, for `map`, to a group of keys. */
  has(keys: Keys, kind: 'anything' | 'map' = 'anything'): boolean {
    const node = this.#nodeOf(keys)
    return kind === 'map' ? isMap(node) : node !== undefined
  }

  /**
   * Returns a fault in a line (1-based) of a text. The position is exact only for a block text (`|`), whose
   * lines are lines of the file.
   */
  textFault(keys: Keys, line: number, message: string): ConfigFault {
    const found = this.fault(keys, message)
    const node = this.#nodeOf(keys)
    if (!isScalar(node) || node.type !== 'BLOCK_LITERAL') return found
    const header = this.#lines.linePos(node.range?.[0] ?? 0).line
    return { ...found, line: header + line, column: 1 }
  }

  #fault(offset: number, keys: Keys, message: string): ConfigFault {
    const { line, col } = this.#lines.linePos(offset)
    return { file: this.file, line: Math.max(1, line), column: Math.max(1, col), path: pathOf(keys), message }
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
          const message = `the environment variable ${name} is not set; \${${name}:-value} gives a default`
          faults.push(this.#fault(node.range?.[0] ?? 0, keys, message))
        }
        if (text === node.value) return
        node.value = text
        this.replaced.add(pathOf(keys))
      },
    })
    return faults
  }

  #nodeOf(keys: Keys): unknown {
    let node: unknown = this.#document.contents
    for (const key of keys) {
      if (isAlias(node)) node = node.resolve(this.#document)
      node = isMap(node) || isSeq(node) ? node.get(key, true) : undefined
    }
    return node
  }

  #offsetOf(keys: Keys): number {
    let node: unknown = this.#document.contents
    let offset = startOf(node) ?? 0
    for (const key of keys) {
      if (isAlias(node)) node = node.resolve(this.#document)
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
}

const startOf = (node: unknown): number | undefined => (isNode(node) ? (node as Node).range?.[0] : undefined)

const keysOf = (ancestors: readonly unknown[], scalar: Scalar): Keys =>
  ancestors.flatMap((ancestor, index): (string | number)[] => {
    if (isPair(ancestor)) return [String(isScalar(ancestor.key) ? ancestor.key.value : ancestor.key)]
    return isSeq(ancestor) ? [ancestor.items.indexOf(ancestors[index + 1] ?? scalar)] : []
  })
