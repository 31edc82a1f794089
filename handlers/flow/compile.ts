import type { Follow, Step } from './node.ts'
import type { FlowNode } from './nodes.ts'

/** Compiled flow: a script with a section for each node, and `main`, which transfers to the start node. */
export interface Script {
  readonly version: '1.0.0'
  readonly sections: Readonly<Record<string, readonly Step[]>>
}

/** Prefix of the sections of nodes, which distinguishes them from other sections. */
const prefix = 'node:'

/** Compiles nodes with checked edges. */
export const compile = (nodes: ReadonlyMap<string, FlowNode>): Script => {
  const sections: Record<string, readonly Step[]> = {}
  for (const { id, kind, isStart, options, edges } of nodes.values()) {
    const follow: Follow = (outcome) => {
      const to = edges.get(outcome)
      return to === undefined ? [] : [{ transfer: { dest: `${prefix}${to}` } }]
    }
    sections[`${prefix}${id}`] = kind.compile(options, follow)
    if (isStart) sections.main = [{ transfer: { dest: `${prefix}${id}` } }]
  }
  return { version: '1.0.0', sections }
}

/** Returns the node of a step's JSON pointer; undefined for a step of another document. */
export const nodeOf = (path: string): string | undefined => {
  const section = path.split('/')[2]
  return section?.startsWith(prefix) ? section.slice(prefix.length) : undefined
}
