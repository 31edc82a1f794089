import type { Alias, Document, Node } from 'yaml'
import { isAlias, isCollection, isMap, isNode, isScalar } from 'yaml'

/** Error of a document without a valid value, with the offset of the fault. */
export class InvalidYamlValue extends Error {
  readonly kind: 'alias' | 'duplicate' | 'size' | 'depth'
  readonly at: number

  constructor(kind: InvalidYamlValue['kind'], message: string, at: number) {
    super(message)
    this.name = 'InvalidYamlValue'
    this.kind = kind
    this.at = at
  }
}

/** Value, and the number of values that it contains including itself; aliased values count at each use. */
interface ReadNode {
  readonly value: unknown
  readonly size: number
  /** Depth of the value. */
  readonly depth: number
}

/** Limits of a value. */
export interface YamlValueLimits {
  /** Maximum number of values; aliased values count at each use. */
  readonly maxValues: number
  /** Maximum depth, including the depth of aliased values. */
  readonly maxDepth: number
}

/**
 * Value of a valid document whose keys are texts. Each node is visited once: aliases share its value, as in
 * the library's own conversion. That one searches the whole document for each alias.
 */
export class YamlValue {
  readonly value: unknown
  /** Number of visited nodes. */
  steps = 0
  readonly #bounds: YamlValueLimits
  /** Nodes and their values by anchor; `open` while the node is being read. */
  readonly #anchors = new Map<string, { readonly node: Node; read: ReadNode | 'open' }>()
  readonly #targets = new Map<Alias, Node>()

  /** Throws {@link InvalidYamlValue}. */
  constructor({ contents }: Document, bounds: YamlValueLimits) {
    this.#bounds = bounds
    this.value = contents === null ? null : this.#read(contents, 1).value
  }

  /** Returns the node that an alias refers to. */
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
      throw new InvalidYamlValue('alias', `The alias ${source} has no anchor before it.`, offsetOf(alias))
    const { node, read } = named
    if (read === 'open')
      throw new InvalidYamlValue('alias', `The alias ${source} is inside its own anchor.`, offsetOf(alias))
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
        throw new InvalidYamlValue('duplicate', `The key ${name} is duplicated.`, offsetOf(key))
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

/** Returns the start offset of a node; 0 if unknown. */
export const offsetOf = (node: unknown): number => (isNode(node) ? ((node as Node).range?.[0] ?? 0) : 0)
