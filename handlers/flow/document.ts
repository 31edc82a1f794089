import { didYouMean } from '../common/spelling.ts'
import type { DocumentFault } from '../handler.ts'
import { DocumentInvalid } from '../handler.ts'
import { readScript, type ScriptProgram } from '../script/document.ts'
import { isObject, type Keys, pointer, type Report, readSource, type ScriptSource } from '../script/source.ts'
import { codes } from './codes.ts'
import { compile, nodeOf, type Script } from './compile.ts'
import { type FlowNode, readNode } from './nodes.ts'
import { maxNodes } from './schema.ts'

/** Call flow that can run. */
export interface FlowProgram {
  readonly program: ScriptProgram
  /** Whether the document is a flow; false for a script instead of one. */
  readonly isFlow: boolean
}

/** Maximum number of errors per document. */
const maxFaults = 100

/**
 * Reads, checks and compiles a call flow, JSON or YAML. A script document is accepted instead. Throws
 * {@link DocumentInvalid} with every error, each with its JSON pointer, line and column.
 */
export const readFlowDocument = ({ text }: { readonly text: string }): FlowProgram =>
  readFlow(readSource(text))

/** Checks and compiles a parsed flow as {@link readFlowDocument} does. */
export const readFlow = (source: ScriptSource): FlowProgram => {
  if (isObject(source.value) && Object.hasOwn(source.value, 'sections'))
    return { program: readScript(source), isFlow: false }
  const errors: DocumentFault[] = []
  const report: Report = (code, message, keys) => {
    if (errors.length < maxFaults) errors.push({ code, message, path: pointer(keys), ...source.place(keys) })
  }
  const nodes = readNodes(source.value, report)
  checkEdges(nodes, report)
  if (errors.length > 0) throw new DocumentInvalid(errors)
  return { program: checked(compile(nodes), source), isFlow: true }
}

const readNodes = (value: unknown, report: Report): ReadonlyMap<string, FlowNode> => {
  if (!isObject(value)) {
    report(codes.wrongType, 'A call flow must be an object with version and nodes.', [])
    return new Map()
  }
  for (const key of Object.keys(value))
    if (key !== 'version' && key !== 'nodes')
      report(
        codes.elementUndefined,
        `A call flow has no element ${key}.${didYouMean(key, ['version', 'nodes'])}`,
        [key],
      )
  const { version = '1.0.0', nodes } = value
  if (version !== '1.0.0')
    report(codes.version, `version must be the text 1.0.0, not ${JSON.stringify(version)}.`, ['version'])
  if (!isObject(nodes)) {
    report(codes.wrongType, 'nodes must be an object of nodes.', ['nodes'])
    return new Map()
  }
  const entries = Object.entries(nodes)
  if (entries.length > maxNodes) {
    report(codes.tooMany, `A call flow has at most ${maxNodes} nodes, not ${entries.length}.`, ['nodes'])
    return new Map()
  }
  const read = entries.flatMap(([id, node]) => readNode(id, node, report) ?? [])
  // An unreadable node could be the entry, so the check needs all nodes.
  if (read.length === entries.length) checkEntry(read, report)
  return new Map(read.map((node) => [node.id, node]))
}

const checkEntry = (nodes: readonly FlowNode[], report: Report): void => {
  const [first, ...more] = nodes.filter(({ isStart }) => isStart)
  if (!first) report(codes.noEntry, 'One node must be of the kind start.', ['nodes'])
  for (const { id } of more)
    report(codes.severalEntries, 'Only one node may be of the kind start.', ['nodes', id])
}

const checkEdges = (nodes: ReadonlyMap<string, FlowNode>, report: Report): void => {
  for (const { id, edges } of nodes.values()) {
    for (const [outcome, to] of edges) {
      const keys: Keys = ['nodes', id, 'edges', outcome]
      const target = nodes.get(to)
      if (!target) report(codes.dangling, `There is no node ${to}.`, keys)
      else if (target.isStart) report(codes.toStart, 'No edge may lead to the start.', keys)
    }
  }
  const start = [...nodes.values()].find(({ isStart }) => isStart)
  if (!start) return
  const reached = reachable(start, nodes)
  for (const { id } of nodes.values())
    if (!reached.has(id)) report(codes.unreached, 'No edge leads to this node.', ['nodes', id])
}

const reachable = (start: FlowNode, nodes: ReadonlyMap<string, FlowNode>): ReadonlySet<string> => {
  const reached = new Set([start.id])
  // The iteration of a set includes values that are added during the iteration.
  for (const id of reached) for (const to of nodes.get(id)?.edges.values() ?? []) reached.add(to)
  return reached
}

/**
 * Checks the compiled script. Its faults are faults of options, and are reported at their positions in the
 * flow.
 */
const checked = (script: Script, source: ScriptSource): ScriptProgram => {
  const moved = (fault: DocumentFault): DocumentFault => {
    const keys = present(source.value, placeOf(fault.path))
    return { code: fault.code, message: fault.message, path: pointer(keys), ...source.place(keys) }
  }
  try {
    const program = readScript({ value: script, place: () => undefined })
    return { ...program, warnings: program.warnings.map(moved) }
  } catch (error) {
    if (error instanceof DocumentInvalid) throw new DocumentInvalid(error.faults.map(moved))
    throw error
  }
}

/** Returns the existing part of a path: a script has names that its flow does not have. */
const present = (value: unknown, keys: Keys): Keys => {
  let at: unknown = value
  const missing = keys.findIndex((key) => {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return true
    at = (at as Record<string | number, unknown>)[key]
    return false
  })
  return missing < 0 ? keys : keys.slice(0, missing)
}

/** Returns the path of an option in the flow for `/sections/<node>/<step>/<method>/…` in the script. */
const placeOf = (path: string): Keys => {
  const [, , , , method, ...rest] = path.split('/')
  // The kind adds conditions of its own, so the index does not identify the author's condition.
  return ['nodes', nodeOf(path) ?? '', 'options', ...(method === 'cond' ? ['conditions'] : rest)]
}
