/**
 * Rules of words and shape that a program can check.
 * `node scripts/check/words.ts [PATH…]` lists the findings of files and folders.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { parseSync } from 'vite'
import { logCalls, mayLog } from './log-calls.ts'
import {
  bannedOpeningOf,
  bannedWordsIn,
  emptyHeadersIn,
  lineInPassage,
  longSentencesIn,
  markdownLines,
  type Passage,
  passagesIn,
  tableCells,
  vagueOpeningsIn,
} from './prose.ts'
import { LineIndex, type SyntaxNode, unwrap, walk } from './syntax-tree.ts'

/** Maximum number of characters in a line. */
export const maxLineLength = 110

/** Maximum number of characters in a line of a page, outside of tables and code. */
const maxPageLineLength = 150

/** One place that breaks a rule. */
export interface Finding {
  readonly path: string
  readonly line: number
  readonly rule: string
  readonly text: string
}

type Add = (line: number, rule: string, text: string) => void

const root = dirname(dirname(import.meta.dirname))

const isTest = (path: string): boolean => /\.test\.tsx?$|(?:^|\/)test(?:ing)?\/|\/testing-|\/test-/.test(path)

interface Comment {
  readonly type: 'Line' | 'Block'
  readonly value: string
  readonly start: number
  readonly end: number
}

/** Joins comments of one line each that follow one another. */
const joinedComments = (comments: readonly Comment[], source: string): readonly Comment[] => {
  const joined: Comment[] = []
  for (const comment of comments) {
    const last = joined.at(-1)
    const isNext =
      last?.type === 'Line' &&
      comment.type === 'Line' &&
      /^\n[ \t]*$/.test(source.slice(last.end, comment.start))
    if (isNext)
      joined[joined.length - 1] = { ...last, value: `${last.value}\n${comment.value}`, end: comment.end }
    else joined.push(comment)
  }
  return joined
}

const isDirective = (text: string): boolean => /^\s*(?:biome-|@ts-|@vitest|#|\/ <)/.test(text)

const checkComment = (comment: Comment, index: LineIndex, add: Add): void => {
  if (isDirective(comment.value)) return
  const isDoc = comment.type === 'Block' && comment.value.startsWith('*')
  const lines = comment.value.split('\n').map((line) => line.replace(/^\s*\*+ ?| $/g, ''))
  const line = index.lineAt(comment.start)
  const opening = isDoc ? bannedOpeningOf(lines.join(' ')) : undefined
  if (opening !== undefined) add(line, 'doc-opening', opening)
  for (const passage of passagesIn(lines, line)) checkPassage(passage, add)
}

const checkPassage = (passage: Passage, add: Add): void => {
  const plain = passage.text.replace(/`[^`]*`|"[^"]*"/g, (code) => ' '.repeat(code.length))
  for (const { word, offset } of bannedWordsIn(plain, 'prose'))
    add(lineInPassage(passage, offset), 'banned-word', word)
  for (const { words, text } of longSentencesIn(passage.text))
    add(passage.line, 'long-sentence', `${words} words: ${text.slice(0, 60)}…`)
}

/** Checks prose and tables of a page. The prose of a generated page is checked in its source. */
const checkPage = (source: string, add: Add): void => {
  const isGenerated = source.includes('<!-- Written by scripts/document')
  for (const cell of tableCells(source))
    for (const { words, text } of longSentencesIn(cell.text))
      add(cell.line, 'long-cell', `${words} words: ${text.slice(0, 60)}…`)
  for (const { line, text } of emptyHeadersIn(source)) add(line, 'empty-header', text)
  if (isGenerated) return
  let isFenced = false
  for (const [index, line] of markdownLines(source).entries()) {
    if (/^\s*```/.test(line)) isFenced = !isFenced
    if (!isFenced && line.length > maxPageLineLength) add(index + 1, 'long-line', `${line.length} characters`)
  }
  for (const passage of passagesIn(markdownLines(source), 1)) {
    checkPassage(passage, add)
    if (passage.text.startsWith('#')) continue
    for (const sentence of vagueOpeningsIn(passage.text))
      add(passage.line, 'vague-opening', sentence.slice(0, 60))
  }
}

/** Source with its comments blanked, lines kept. */
const withoutComments = (source: string, comments: readonly Comment[]): string => {
  let code = ''
  let at = 0
  for (const { start, end } of comments) {
    code += source.slice(at, start) + source.slice(start, end).replace(/[^\n]/g, ' ')
    at = end
  }
  return code + source.slice(at)
}

const checkLines = (path: string, source: string, code: string, add: Add): void => {
  const codeLines = code.split('\n')
  for (const [index, line] of source.split('\n').entries()) {
    if (line.length <= maxLineLength || /\S*:\/\/\S{40,}/.test(line)) continue
    const codeLine = codeLines[index] ?? ''
    // An import of one name and a regular expression cannot be broken.
    if (/^(?:import|export|\}) .* from |^[^'"`/]*\/(?!\/).*\/[a-z]*\S*$/.test(codeLine)) continue
    const isComment = codeLine.trimEnd().length <= maxLineLength
    if (!isComment && isTest(path) && /['"`]/.test(codeLine)) continue
    add(index + 1, 'long-line', `${line.length} characters`)
  }
}

const shapeCandidate =
  /\.\.\.[([{]|(?:const|let) \[.*\] = \[|^\s*;?\[.*\] = \[|^(?:export )?const [A-Z][A-Z0-9_]+\b|\b(?:interface|type|class) (?:\w*Parts|ApiFrom|Surroundings)\b/m

const isLiteral = (node: unknown): boolean =>
  ['ObjectExpression', 'ArrayExpression'].includes(unwrap(node as SyntaxNode).type)

const isSwap = (left: SyntaxNode, right: SyntaxNode, source: string): boolean => {
  const texts = (nodes: unknown): string[] =>
    (nodes as readonly (SyntaxNode | null)[])
      .map((node) => (node ? source.slice(node.start, node.end) : ''))
      .sort()
  return texts(left.elements).join() === texts(right.elements).join()
}

const checkShape = (program: SyntaxNode, source: string, index: LineIndex, add: Add): void => {
  walk(program, (node) => {
    const line = (): number => index.lineAt(node.start)
    if (node.type === 'SpreadElement' && isLiteral(node.argument))
      add(line(), 'literal-spread', '… of a literal')
    else if (node.type === 'VariableDeclarator' || node.type === 'AssignmentExpression') {
      const left = (node.id ?? node.left) as SyntaxNode
      const right = (node.init ?? node.right) as SyntaxNode | null
      if (left.type !== 'ArrayPattern' || right?.type !== 'ArrayExpression') return
      if (node.type === 'VariableDeclarator' || !isSwap(left, right, source))
        add(line(), 'array-destructuring', 'array literal taken apart')
    } else if (/^(?:TSInterface|TSTypeAlias|Class)Declaration$/.test(node.type)) {
      const { name } = (node.id ?? {}) as { name?: string }
      if (name !== undefined && /Parts$|^ApiFrom$|^Surroundings$/.test(name)) add(line(), 'type-name', name)
    }
  })
  for (const statement of program.body as readonly SyntaxNode[]) {
    const { type, kind, declarations } = (statement.declaration ?? statement) as SyntaxNode
    if (type !== 'VariableDeclaration' || kind !== 'const') continue
    for (const { id, start } of declarations as readonly SyntaxNode[]) {
      const name = String((id as SyntaxNode).name ?? '')
      if (/^[A-Z][A-Z0-9_]+$/.test(name)) add(index.lineAt(start), 'upper-case-constant', name)
    }
  }
}

/** Whether a path is a source of the server, and no test. */
export const isServerSource = (path: string): boolean =>
  /^(?:gateway|sip-agent|handlers|media|config)\/.*\.ts$/.test(path) && !isTest(path)

const eventForm = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*\.[a-z0-9]+(?:-[a-z0-9]+)*$/

const checkLogs = (program: SyntaxNode, index: LineIndex, add: Add): void => {
  for (const { start, level, hasEvent, fields } of logCalls(program)) {
    if (!hasEvent)
      add(index.lineAt(start), 'log-event', `${level ?? 'log[…]'} without \`event\` as its first field`)
    for (const object of fields)
      walk(object, ({ type, key, value }) => {
        const { name } = (key ?? {}) as { name?: string }
        const text = (value as SyntaxNode | undefined)?.value
        if (type === 'Property' && name === 'event' && typeof text === 'string' && !eventForm.test(text))
          add(index.lineAt(object.start), 'event-form', text)
      })
  }
}

/** Returns the findings of one source or page; `path` decides which rules hold. */
export const findingsIn = (path: string, source: string): readonly Finding[] => {
  const findings: Finding[] = []
  const add: Add = (line, rule, text) => findings.push({ path, line, rule, text })
  if (path.endsWith('.md')) {
    checkPage(source, add)
    return findings
  }
  const parsed = parseSync(path, source)
  const comments = parsed.comments as readonly Comment[]
  const index = new LineIndex(source)
  for (const comment of joinedComments(comments, source)) checkComment(comment, index, add)
  const code = withoutComments(source, comments)
  if (!path.startsWith('scripts/check/'))
    for (const { word, offset } of bannedWordsIn(code, 'code')) add(index.lineAt(offset), 'banned-word', word)
  checkLines(path, source, code, add)
  const isLogging = isServerSource(path) && mayLog(code)
  if (!isLogging && !shapeCandidate.test(code)) return findings
  const program = parsed.program as unknown as SyntaxNode
  checkShape(program, source, index, add)
  if (isLogging) checkLogs(program, index, add)
  return findings
}

/** Returns files that share a name with two others in `gateway`, or with a folder beside them. */
export const namingFindings = (paths: readonly string[]): readonly Finding[] => {
  const sources = paths.filter((path) => /\.tsx?$/.test(path) && !/\.test\.tsx?$/.test(path))
  const folders = new Set(paths.flatMap((path) => ancestorsOf(path)))
  const byName = Map.groupBy(
    sources.filter((path) => path.startsWith('gateway/')),
    (path) => basename(path),
  )
  return sources.flatMap((path) => {
    const findings: Finding[] = []
    const same = path.startsWith('gateway/') ? (byName.get(basename(path)) ?? []) : []
    const add = (rule: string, text: string): void => void findings.push({ path, line: 1, rule, text })
    if (same.length > 2) add('file-name', `${same.length} files in gateway are called ${basename(path)}`)
    if (folders.has(path.replace(/\.tsx?$/, ''))) add('file-name', 'is beside a folder of the same name')
    return findings
  })
}

const ancestorsOf = (path: string): readonly string[] => {
  const folder = dirname(path)
  return folder === '.' ? [] : [folder, ...ancestorsOf(folder)]
}

/** Returns the paths of all sources and pages under version control, and of new ones that are not ignored. */
export const trackedPaths = (): readonly string[] =>
  spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts', '*.tsx', '*.md'], {
    cwd: root,
    encoding: 'utf8',
  })
    .stdout.split('\n')
    .filter((path) => path !== '' && existsSync(join(root, path)))

/** Whether a path is one of the given ones or below one of them; true if none is given. */
const isBelow = (path: string, only: readonly string[]): boolean =>
  only.length === 0 || only.some((one) => one === '' || path === one || path.startsWith(`${one}/`))

/** Returns the findings of the paths given, or of all `paths`, which are by default the tracked ones. */
export const allFindings = (
  only: readonly string[] = [],
  paths: readonly string[] = trackedPaths(),
): readonly Finding[] => {
  const inFiles = paths
    .filter((path) => isBelow(path, only))
    .flatMap((path) => findingsIn(path, readFileSync(join(root, path), 'utf8')))
  return [...inFiles, ...namingFindings(paths).filter(({ path }) => isBelow(path, only))].sort(
    (a, b) => a.path.localeCompare(b.path) || a.line - b.line,
  )
}

const main = (paths: readonly string[]): void => {
  const findings = allFindings(paths.map((path) => relative(root, resolve(path))))
  for (const { path, line, rule, text } of findings)
    process.stdout.write(`${path}:${line} ${rule}: ${text}\n`)
  process.stdout.write(`${findings.length} findings\n`)
}

if (import.meta.main) main(process.argv.slice(2))
