/** Node of a syntax tree in the ESTree form. */
export interface SyntaxNode {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

/** Whether a value is a node of a syntax tree. */
export const isSyntaxNode = (value: unknown): value is SyntaxNode =>
  typeof value === 'object' && value !== null && typeof (value as SyntaxNode).type === 'string'

/** Calls `visit` for a node and all nodes below it. */
export const walk = (node: SyntaxNode, visit: (node: SyntaxNode) => void): void => {
  visit(node)
  for (const key in node) {
    const value = node[key]
    if (Array.isArray(value)) {
      for (const item of value) if (isSyntaxNode(item)) walk(item, visit)
    } else if (isSyntaxNode(value)) walk(value, visit)
  }
}

/** Removes parentheses, type assertions, non-null marks and the wrapper of optional chains. */
export const unwrap = (node: SyntaxNode): SyntaxNode => {
  const isWrapper = /^(?:TS(?:As|Satisfies|NonNull)|Parenthesized|Chain)Expression$/.test(node.type)
  return isWrapper ? unwrap(node.expression as SyntaxNode) : node
}

/** Line numbers of offsets in a text, the first line being 1. */
export class LineIndex {
  readonly #starts: number[] = [0]

  constructor(text: string) {
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.#starts.push(at + 1)
  }

  /** Returns the line of an offset. */
  lineAt(offset: number): number {
    let low = 0
    let high = this.#starts.length
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((this.#starts[middle] as number) <= offset) low = middle
      else high = middle
    }
    return low + 1
  }
}
