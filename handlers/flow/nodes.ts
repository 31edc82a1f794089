import { didYouMean } from '../common/spelling.ts'
import { type SchemaFault, schemaCheck } from '../script/schema-check.ts'
import { isObject, type Keys, type Report } from '../script/source.ts'
import { codes } from './codes.ts'
import { kinds } from './kinds.ts'
import type { NodeKind, Options } from './node.ts'
import { namePattern, optionsSchema } from './schema.ts'

/** Checked node; the targets of its edges are unchecked. */
export interface FlowNode {
  readonly id: string
  readonly kind: NodeKind
  readonly isStart: boolean
  readonly options: Options
  /** Ids of the following nodes, by outcome. */
  readonly edges: ReadonlyMap<string, string>
}

const names = new RegExp(namePattern)
const elements = ['kind', 'label', 'options', 'edges', 'position']
const faultsOf = schemaCheck(optionsSchema, { strictRequired: false })

/** Reads one node. Undefined after an error that prevents further checks. */
export const readNode = (id: string, value: unknown, report: Report): FlowNode | undefined => {
  const keys = ['nodes', id]
  if (!names.test(id))
    report(codes.wrongType, 'The id of a node must be 1 to 64 letters, digits, _ and -.', keys)
  if (!isObject(value)) {
    report(codes.wrongType, 'A node must be an object with kind, options and edges.', keys)
    return undefined
  }
  for (const key of Object.keys(value))
    if (!elements.includes(key))
      report(codes.elementUndefined, `A node has no element ${key}.${didYouMean(key, elements)}`, [
        ...keys,
        key,
      ])
  const name = typeof value.kind === 'string' ? value.kind : ''
  const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined
  if (!kind) {
    const known = Object.keys(kinds).join(', ')
    const near = didYouMean(name, Object.keys(kinds))
    report(
      codes.kind,
      `There is no kind of node ${JSON.stringify(name)}; expected one of ${known}.${near}`,
      keys,
    )
    return undefined
  }
  const options = value.options ?? {}
  const valid = checkOptions(kind, options, [...keys, 'options'], report)
  const edges = readEdges(kind, valid ? (options as Options) : undefined, value.edges ?? {}, keys, report)
  return { id, kind, isStart: name === 'start', options: valid ? (options as Options) : {}, edges }
}

const checkOptions = (kind: NodeKind, options: unknown, keys: Keys, report: Report): boolean => {
  const faults = faultsOf(kind, options)
  if (faults.length === 0) return checkNamed(kind, options as Options, keys, report)
  for (const fault of faults) reportOption(fault, keys, report)
  return false
}

const reportOption = (fault: SchemaFault, keys: Keys, report: Report): void => {
  const { kind, at: below, text, suggestion = '' } = fault
  const at = [...keys, ...below]
  if (kind === 'missing') report(codes.optionMissing, `The option ${text} is missing.`, at)
  else if (kind === 'unknown')
    report(codes.optionUndefined, `There is no option ${text}.${suggestion}`, [...at, text])
  else report(codes.optionInvalid, `${at.at(-1)} must be ${text}.`, at)
}

/** Checks that the outcomes of the options are unique, and differ from the outcomes of the node's kind. */
const checkNamed = ({ named, outcomes }: NodeKind, options: Options, keys: Keys, report: Report): boolean => {
  const all = [...outcomes, ...(named?.(options) ?? [])]
  const twice = all.filter((name, i) => all.indexOf(name) !== i)
  for (const name of new Set(twice)) report(codes.outcomeTwice, `The outcome ${name} is duplicated.`, keys)
  return twice.length === 0
}

const readEdges = (
  { named, outcomes }: NodeKind,
  options: Options | undefined,
  value: unknown,
  keys: Keys,
  report: Report,
): ReadonlyMap<string, string> => {
  const at = [...keys, 'edges']
  if (!isObject(value)) {
    report(codes.wrongType, 'edges must be an object: the id of a node by outcome.', at)
    return new Map()
  }
  const known = options && new Set([...outcomes, ...(named?.(options) ?? [])])
  const edges = new Map<string, string>()
  for (const [outcome, to] of Object.entries(value)) {
    if (typeof to !== 'string')
      report(codes.wrongType, 'An edge must lead to the id of a node.', [...at, outcome])
    else if (known && !known.has(outcome)) {
      const wanted = known.size > 0 ? `its outcomes are ${[...known].join(', ')}` : 'it has none'
      report(codes.outcome, `The node has no outcome ${outcome}; ${wanted}.`, [...at, outcome])
    } else edges.set(outcome, to)
  }
  return edges
}
