/** Reader of the parts of the Dockerfile language that this repository uses. */

const instructionNames = [
  'FROM',
  'ARG',
  'WORKDIR',
  'COPY',
  'RUN',
  'ENV',
  'USER',
  'LABEL',
  'VOLUME',
  'EXPOSE',
  'HEALTHCHECK',
  'STOPSIGNAL',
  'ENTRYPOINT',
  'CMD',
] as const

/** Name of an instruction. */
export type InstructionName = (typeof instructionNames)[number]

/** One instruction of a Dockerfile. */
export interface Instruction {
  readonly name: InstructionName
  /** Everything after the name, without line breaks and comments. */
  readonly text: string
  /** Number of its first line, from 1. */
  readonly line: number
}

const isName = (word: string): word is InstructionName =>
  (instructionNames as readonly string[]).includes(word)

/** Reads the instructions of a Dockerfile. Throws with the line if an instruction is unknown. */
export const readDockerfile = (source: string): readonly Instruction[] => {
  const instructions: Instruction[] = []
  let begun: { text: string; line: number } | undefined
  for (const [at, line] of source.split('\n').entries()) {
    if (/^\s*(#|$)/.test(line)) continue
    begun = { text: `${begun?.text ?? ''}${line.replace(/\\$/, '')}`, line: begun?.line ?? at + 1 }
    if (line.endsWith('\\')) continue
    const [, name = '', text = ''] = /^(\S+)\s+(.*)$/.exec(begun.text.trim()) ?? []
    if (!isName(name)) throw new Error(`line ${begun.line}: unknown instruction ${begun.text.trim()}`)
    if (text.includes('<<')) throw new Error(`line ${begun.line}: here-documents are not supported`)
    instructions.push({ name, text, line: begun.line })
    begun = undefined
  }
  return instructions
}

/** Splits a text at spaces that are not quoted, and removes the quotes. */
export const wordsOf = (text: string): readonly string[] =>
  (text.match(/(?:[^\s"']|"[^"]*"|'[^']*')+/g) ?? []).map((word) => word.replace(/["']/g, ''))

/** Reads `name=value` words. Throws if a word has no `=`. */
export const pairsOf = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    wordsOf(text).map((word) => {
      const at = word.indexOf('=')
      if (at < 1) throw new Error(`${word} is not name=value`)
      return [word.slice(0, at), word.slice(at + 1)]
    }),
  )

/** Replaces `$NAME` and `${NAME}`. Throws if a variable is unknown, or has another form. */
export const withVariables = (text: string, variables: Readonly<Record<string, string>>): string =>
  text.replace(/\$(?:\{(\w+)\}|(\w+)|)/g, (all, braced?: string, bare?: string) => {
    const value = variables[braced ?? bare ?? '']
    if (value === undefined) throw new Error(`unknown variable ${all} in ${text}`)
    return value
  })

/** Returns the words of a command: a JSON array, or a line for the shell. */
export const commandOf = (text: string): readonly string[] =>
  text.startsWith('[') ? JSON.parse(text) : ['/bin/sh', '-c', text]

/** Splits the options `--name=value` from the words after them. Throws if an option is not `known`. */
export const optionsOf = (
  text: string,
  known: readonly string[],
): { readonly options: Readonly<Record<string, string>>; readonly rest: string } => {
  const options: Record<string, string> = {}
  let rest = text
  for (let found = /^--([\w-]+)=(\S+)\s+/.exec(rest); found; found = /^--([\w-]+)=(\S+)\s+/.exec(rest)) {
    if (!known.includes(found[1]!)) throw new Error(`unknown option --${found[1]}`)
    options[found[1]!] = found[2]!
    rest = rest.slice(found[0].length)
  }
  if (rest.startsWith('--')) throw new Error(`unknown option ${rest}`)
  return { options, rest }
}

const expressionOf = (pattern: string): RegExp => {
  const source = pattern.replace(/^\/|\/$/g, '').replace(/\*\*\/|\*\*|[*?]|[^\w/]/g, (part) => {
    if (part === '**/') return '(?:.*/)?'
    if (part === '**') return '.*'
    if (part === '*') return '[^/]*'
    return part === '?' ? '[^/]' : `\\${part}`
  })
  // A pattern that matches a folder matches everything in it.
  return new RegExp(`^${source}(?:/|$)`)
}

/** Returns the test of a `.dockerignore`: whether a path of the context is left out. */
export const ignoreTest = (source: string): ((path: string) => boolean) => {
  const rules = source
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({ keeps: line.startsWith('!'), expression: expressionOf(line.replace(/^!/, '')) }))
  // The last match decides.
  return (path) => rules.findLast(({ expression }) => expression.test(path))?.keeps === false
}
