/** Collects the regular expressions of the product from syntax trees, for the proof that each is linear. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parseAst } from 'vite'

/** One regular expression, or a place that builds one from values known only at run time. */
export interface Expression {
  /** Path of the file and line, for messages. */
  readonly place: string
  /** Source of the expression; undefined if it cannot be computed from constants. */
  readonly source: string | undefined
  /** Flags of the expression; empty for a JSON Schema `pattern`. */
  readonly flags: string
}

/**
 * Forms that the checker of this version has proven linear in earlier runs. All checkouts share the file: a
 * proof depends on nothing but the form and the checker. It needs up to a second of CPU time.
 */
export class ProvenForms {
  readonly #path: string
  readonly #checker: string
  readonly #forms: Set<string>

  /** Reads the file at `path`; starts empty without one, or if another version of the checker wrote it. */
  constructor(path: string, checker: string) {
    this.#path = path
    this.#checker = checker
    this.#forms = new Set(this.#read())
  }

  /** Whether a form is proven, by this run or an earlier one. */
  has(form: string, flags: string): boolean {
    return this.#forms.has(`/${form}/${flags}`)
  }

  add(form: string, flags: string): void {
    this.#forms.add(`/${form}/${flags}`)
  }

  /** Writes all forms, also those that another checkout has proven meanwhile. */
  save(): void {
    mkdirSync(dirname(this.#path), { recursive: true })
    const forms = new Set([...this.#read(), ...this.#forms])
    const saved: SavedForms = { checker: this.#checker, forms: [...forms] }
    const draft = `${this.#path}.${process.pid}`
    writeFileSync(draft, JSON.stringify(saved))
    renameSync(draft, this.#path)
  }

  #read(): readonly string[] {
    if (!existsSync(this.#path)) return []
    const saved = JSON.parse(readFileSync(this.#path, 'utf8')) as Partial<SavedForms>
    return (saved.checker === this.#checker && saved.forms) || []
  }
}

interface SavedForms {
  readonly checker: string
  readonly forms: readonly string[]
}

/** A node of the syntax tree. */
interface Node {
  readonly type: string
  readonly start: number
  readonly [key: string]: unknown
}

/** One parsed file, with its constants and imports at module level. */
interface Module {
  readonly path: string
  readonly text: string
  readonly tree: Node
  /** Initial values of `const` declarations anywhere at module level, by name. */
  readonly constants: ReadonlyMap<string, Node>
  /** File and original name of each imported name. */
  readonly imports: ReadonlyMap<string, { readonly path: string; readonly name: string }>
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'

const childrenOf = (node: Node): readonly Node[] => Object.values(node).flat().filter(isNode)

/** Reads the regular expressions of a set of files. One instance parses each file once. */
export class Expressions {
  readonly #root: string
  readonly #modules = new Map<string, Module>()

  /** Takes the folder that paths are relative to. */
  constructor(root: string) {
    this.#root = root
  }

  /** Returns all expressions of a file: literals, `RegExp(…)`, and `pattern` properties of JSON Schemas. */
  in(path: string): readonly Expression[] {
    const module = this.#module(path)
    const found: Expression[] = []
    const visit = (node: Node): void => {
      const expression = this.#expression(node, module)
      if (expression) {
        const line = module.text.slice(0, node.start).split('\n').length
        found.push({ place: `${path}:${line}`, ...expression })
      }
      for (const child of childrenOf(node)) visit(child)
    }
    visit(module.tree)
    return found
  }

  #expression(node: Node, module: Module): Pick<Expression, 'source' | 'flags'> | undefined {
    if (node.type === 'Literal' && node.regex) {
      const { pattern, flags } = node.regex as { pattern: string; flags: string }
      return { source: pattern, flags }
    }
    const isCall = node.type === 'NewExpression' || node.type === 'CallExpression'
    if (isCall && (node.callee as Node).name === 'RegExp') {
      const [source, flags] = node.arguments as readonly (Node | undefined)[]
      return {
        source: source && this.#text(source, module),
        flags: (flags && this.#text(flags, module)) ?? '',
      }
    }
    if (node.type !== 'Property' || (node.key as Node).name !== 'pattern') return undefined
    const value = node.value as Node
    // The `pattern` of a type, a parameter or an expression object is not a pattern of a schema.
    if (!['Literal', 'TemplateLiteral', 'Identifier'].includes(value.type)) return undefined
    const source = this.#text(value, module)
    return source === undefined && value.type === 'Literal' ? undefined : { source, flags: '' }
  }

  /** Returns a text computed from constants of this file and its imports; undefined for other nodes. */
  #text(node: Node, module: Module): string | undefined {
    switch (node.type) {
      case 'Literal':
        if (node.regex) return (node.regex as { pattern: string }).pattern
        return typeof node.value === 'string' ? node.value : undefined
      case 'TemplateLiteral':
        return this.#template(node, module, 'cooked')
      case 'TaggedTemplateExpression':
        return this.#template(node.quasi as Node, module, 'raw')
      case 'TSAsExpression':
      case 'TSSatisfiesExpression':
        return this.#text(node.expression as Node, module)
      case 'BinaryExpression': {
        const [left, right] = [node.left as Node, node.right as Node].map((side) => this.#text(side, module))
        return left === undefined || right === undefined ? undefined : left + right
      }
      case 'MemberExpression':
        return (node.property as Node).name === 'source' ? this.#text(node.object as Node, module) : undefined
      case 'Identifier':
        return this.#named(String(node.name), module)
      default:
        return undefined
    }
  }

  #template(node: Node, module: Module, form: 'cooked' | 'raw'): string | undefined {
    const texts = (node.quasis as readonly Node[]).map(({ value }) => (value as Record<string, string>)[form])
    const values = (node.expressions as readonly Node[]).map((part) => this.#text(part, module))
    if (values.includes(undefined)) return undefined
    return texts.map((text, index) => `${text}${values[index] ?? ''}`).join('')
  }

  #named(name: string, module: Module): string | undefined {
    const constant = module.constants.get(name)
    if (constant) return this.#text(constant, module)
    const imported = module.imports.get(name)
    return imported && this.#named(imported.name, this.#module(imported.path))
  }

  #module(path: string): Module {
    const known = this.#modules.get(path)
    if (known) return known
    const text = readFileSync(join(this.#root, path), 'utf8')
    const tree = parseAst(text, { lang: path.endsWith('x') ? 'tsx' : 'ts' }) as unknown as Node
    const constants = new Map<string, Node>()
    const imports = new Map<string, { path: string; name: string }>()
    for (const statement of tree.body as readonly Node[]) {
      const declaration = (statement.declaration ?? statement) as Node
      if (declaration.type === 'VariableDeclaration')
        for (const { id, init } of declaration.declarations as readonly { id: Node; init: unknown }[])
          if (id.type === 'Identifier' && isNode(init)) constants.set(String(id.name), init)
      if (statement.type === 'ImportDeclaration') this.#addImports(statement, path, imports)
    }
    const module = { path, text, tree, constants, imports }
    this.#modules.set(path, module)
    return module
  }

  #addImports(statement: Node, from: string, imports: Map<string, { path: string; name: string }>): void {
    const target = String((statement.source as Node).value)
    const path = join(dirname(from), target)
    if (!target.startsWith('.') || !existsSync(resolve(this.#root, path))) return
    for (const { local, imported } of statement.specifiers as readonly { local: Node; imported?: Node }[])
      if (imported) imports.set(String(local.name), { path, name: String(imported.name) })
  }
}
