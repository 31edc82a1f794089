import type { Follow, Step } from './node.ts'
import type { FlowNode } from './nodes.ts'

/** A script that a flow was compiled to: a section for each node, and `main`, which leads to the start. */
export interface Script {
  readonly version: '1.0.0'
  readonly sections: Readonly<Record<string, readonly Step[]>>
}

/** Sections of scripts that a node runs have other names. */
const prefix = 'node:'

/** Compiles nodes whose edges were checked. */
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

/** The node that a step's path, a JSON pointer, belongs to; undefined where it is in another document. */
export const nodeOf = (path: string): string | undefined => {
  const section = path.split('/')[2]
  return section?.startsWith(prefix) ? section.slice(prefix.length) : undefined
}
