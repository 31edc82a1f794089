import { isSyntaxNode, type SyntaxNode, unwrap, walk } from './syntax-tree.ts'

/** Call of a logger in the source. */
export interface LogCall {
  /** Offset of the call in the source. */
  readonly start: number
  /** Level of the call; undefined if it is computed at run time. */
  readonly level: string | undefined
  /** Object literals that the fields can be; empty if the call has none that the source shows. */
  readonly fields: readonly SyntaxNode[]
  /** Expression of the message; undefined if the call has no message. */
  readonly message: SyntaxNode | undefined
  /** Whether each of the possible field objects has the key `event` in first place. */
  readonly hasEvent: boolean
}

const levels: ReadonlySet<string> = new Set(['info', 'warn', 'error', 'fatal'])

/** Whether a source can contain calls of a logger: a cheap test before parsing. */
export const mayLog = (source: string): boolean =>
  /\.(?:info|warn|error|fatal)\(/.test(source) || /[lL]og!?\[/.test(source)

/** Name of the innermost property, variable or method that an expression ends in. */
const lastName = (node: SyntaxNode): string => {
  const inner = unwrap(node)
  if (inner.type === 'Identifier') return String(inner.name)
  if (inner.type === 'MemberExpression') return String((inner.property as SyntaxNode).name ?? '')
  return ''
}

const isLogger = (node: SyntaxNode): boolean => {
  const inner = unwrap(node)
  if (inner.type === 'CallExpression') {
    const callee = unwrap(inner.callee as SyntaxNode)
    return callee.type === 'MemberExpression' && lastName(callee) === 'child'
  }
  return /^(?:log|logger|\w+Log)$/.test(lastName(inner))
}

/** Returns the value of a property of an object literal; undefined if the literal does not show it. */
export const propertyOf = (object: SyntaxNode, name: string): SyntaxNode | undefined =>
  (object.properties as readonly SyntaxNode[]).find(
    ({ type, key, computed }) => type === 'Property' && !computed && lastName(key as SyntaxNode) === name,
  )?.value as SyntaxNode | undefined

/** Returns the value of a constant; undefined if the file has no constant of the name. */
type ConstantReader = (name: string) => SyntaxNode | undefined

const startsWithEvent = (object: SyntaxNode, constants: ConstantReader): boolean => {
  const first = (object.properties as readonly SyntaxNode[])[0]
  if (first?.type === 'Property') return lastName(first.key as SyntaxNode) === 'event'
  if (first?.type !== 'SpreadElement') return false
  const spread = literalsOf(first.argument as SyntaxNode, constants)
  return spread.length > 0 && spread.every((literal) => startsWithEvent(literal, constants))
}

/** Returns the object literals that an expression can be: itself, both sides of a condition, a constant. */
const literalsOf = (node: SyntaxNode, constants: ConstantReader): readonly SyntaxNode[] => {
  const inner = unwrap(node)
  if (inner.type === 'ObjectExpression') return [inner]
  if (inner.type === 'ConditionalExpression') {
    const consequent = literalsOf(inner.consequent as SyntaxNode, constants)
    const alternate = literalsOf(inner.alternate as SyntaxNode, constants)
    return consequent.length > 0 && alternate.length > 0 ? consequent.concat(alternate) : []
  }
  const constant = inner.type === 'Identifier' ? constants(String(inner.name)) : undefined
  return constant === undefined ? [] : literalsOf(constant, () => undefined)
}

/** Returns the calls of loggers at `info`, `warn`, `error` and `fatal`, and those whose level is computed. */
export const logCalls = (program: SyntaxNode): readonly LogCall[] => {
  const calls: LogCall[] = []
  const declared = new Map<string, SyntaxNode[]>()
  walk(program, (node) => {
    const { id, init } = node as { id?: SyntaxNode; init?: unknown }
    if (node.type !== 'VariableDeclarator' || id?.type !== 'Identifier' || !isSyntaxNode(init)) return
    const name = String(id.name)
    declared.set(name, [...(declared.get(name) ?? []), init])
  })
  walk(program, (node) => {
    if (node.type !== 'CallExpression') return
    const callee = unwrap(node.callee as SyntaxNode)
    if (callee.type !== 'MemberExpression' || !isLogger(callee.object as SyntaxNode)) return
    const level = callee.computed ? undefined : lastName(callee)
    if (level !== undefined && !levels.has(level)) return
    const [first, second] = node.arguments as readonly (SyntaxNode | undefined)[]
    const isText = first !== undefined && /^(?:Literal|TemplateLiteral)$/.test(unwrap(first).type)
    // Functions of a file may use the same name. Scopes are not followed: the last constant before the call
    // counts.
    const constants: ConstantReader = (name) =>
      declared.get(name)?.findLast(({ start }) => start < node.start)
    const fields = first && !isText ? literalsOf(first, constants) : []
    const hasEvent = fields.length > 0 && fields.every((literal) => startsWithEvent(literal, constants))
    calls.push({ start: node.start, level, fields, message: isText ? first : second, hasEvent })
  })
  return calls
}
