import type { Alias, Document, Node } from 'yaml'
import { isAlias, isCollection, isMap, isNode, isScalar } from 'yaml'

/** A document has no value, or one that is too large: what is wrong, and the offset of where. */
export class InvalidYamlValue extends Error {
  readonly kind: 'alias' | 'duplicate' | 'size' | 'depth'
  readonly at: number

  constructor(kind: InvalidYamlValue['kind'], message: string, at: number) {
    super(message)
    this.name = 'NoValue'
    this.kind = kind
    this.at = at
  }
}

/** A value, and how many values it holds with itself, those behind aliases each time that they stand there. */
interface ReadNode {
  readonly value: unknown
  readonly size: number
  /** Levels of it. */
  readonly depth: number
}

/** What values may be. */
export interface YamlValueLimits {
  /** Values in all, those behind aliases each time that they stand there. */
  readonly maxValues: number
  /** Levels, those behind aliases counted with those above them. */
  readonly maxDepth: number
}

/**
 * The value of a document without faults, whose keys are texts. Each node is looked at once, however many aliases name it: they share one
 * value, as the library's own reader has it, which searches the whole document at each.
 */
export class YamlValue {
  readonly value: unknown
  /** Nodes looked at. */
  steps = 0
  readonly #bounds: YamlValueLimits
  /** By anchor: the node that has it, and what was read of it; `open` while it is being read. */
  readonly #anchors = new Map<string, { readonly node: Node; read: ReadNode | 'open' }>()
  readonly #targets = new Map<Alias, Node>()

  /** Throws {@link InvalidYamlValue}. */
  constructor({ contents }: Document, bounds: YamlValueLimits) {
    this.#bounds = bounds
    this.value = contents === null ? null : this.#read(contents, 1).value
  }

  /** What an alias names. */
  target(alias: Alias): Node | undefined {
    return this.#targets.get(alias)
  }

  #read(node: unknown, level: number): ReadNode {
    this.steps++
    if (isAlias(node)) return this.#alias(node, level)
    if (!isScalar(node) && !isCollection(node)) return { value: null, size: 1, depth: 1 }
    if (level > this.#bounds.maxDepth) throw tooDeep(node, this.#bounds)
    const named = node.anchor === undefined ? undefined : { node, read: 'open' as ReadNode | 'open' }
    if (named && node.anchor !== undefined) this.#anchors.set(node.anchor, named)
    const read = isScalar(node)
      ? { value: node.value, size: 1, depth: 1 }
      : isMap(node)
        ? this.#map(node.items, level)
        : this.#list(node.items, level)
    if (read.size > this.#bounds.maxValues) throw tooLarge(node, this.#bounds)
    if (named) named.read = read
    return read
  }

  #alias(alias: Alias, level: number): ReadNode {
    const { source } = alias
    const named = this.#anchors.get(source)
    if (!named)
      throw new InvalidYamlValue('alias', `The alias ${source} names nothing before it.`, offsetOf(alias))
    const { node, read } = named
    if (read === 'open')
      throw new InvalidYamlValue(
        'alias',
        `The alias ${source} stands inside of what it names.`,
        offsetOf(alias),
      )
    if (level + read.depth > this.#bounds.maxDepth) throw tooDeep(alias, this.#bounds)
    this.#targets.set(alias, node)
    return read
  }

  #list(items: readonly unknown[], level: number): ReadNode {
    const read = items.map((item) => this.#read(item, level + 1))
    return { value: read.map(({ value }) => value), ...sumOf(read) }
  }

  #map(items: readonly { readonly key: unknown; readonly value: unknown }[], level: number): ReadNode {
    const values = new Map<string, ReadNode>()
    for (const { key, value } of items) {
      this.steps++
      const name = String(isScalar(key) ? key.value : key)
      if (values.has(name))
        throw new InvalidYamlValue('duplicate', `The key ${name} stands there twice.`, offsetOf(key))
      if (isScalar(key) && key.anchor !== undefined)
        this.#anchors.set(key.anchor, { node: key, read: { value: key.value, size: 1, depth: 1 } })
      values.set(name, this.#read(value, level + 1))
    }
    const value = Object.fromEntries([...values].map(([name, read]) => [name, read.value]))
    return { value, ...sumOf([...values.values()]) }
  }
}

const sumOf = (parts: readonly ReadNode[]): Pick<ReadNode, 'size' | 'depth'> => ({
  size: parts.reduce((sum, { size }) => sum + size, 1),
  depth: 1 + parts.reduce((most, { depth }) => Math.max(most, depth), 0),
})

const tooDeep = (node: unknown, { maxDepth: deepest }: YamlValueLimits): InvalidYamlValue =>
  new InvalidYamlValue('depth', `The script is nested more than ${deepest} levels deep.`, offsetOf(node))

const tooLarge = (node: unknown, { maxValues: most }: YamlValueLimits): InvalidYamlValue =>
  new InvalidYamlValue('size', `With its aliases the script has more than ${most} values.`, offsetOf(node))

/** Where a node begins; 0 where that is not known. */
export const offsetOf = (node: unknown): number => (isNode(node) ? ((node as Node).range?.[0] ?? 0) : 0)
