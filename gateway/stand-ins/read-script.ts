import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parseDocument } from 'yaml'
import { isJsonObject } from '../core/json.ts'
import {
  type Action,
  type Condition,
  engineNames,
  errorKinds,
  quirkNames,
  type Rule,
  type ScriptedSound,
  type StandInScript,
  triggerNames,
} from './script-types.ts'

/** Speed of audio if the script names none, as a multiple of real time. */
export const defaultPace = 20

/** Fault of a script: the field and the expectation. */
export class ScriptError extends Error {
  constructor(field: string, expectation: string) {
    super(field === '' ? expectation : `${field}: ${expectation}`)
    this.name = 'ScriptError'
  }
}

/**
 * Reads a script file in YAML or JSON. Throws a {@link ScriptError} that names the file, field and
 * expectation.
 */
export const readScriptFile = (path: string): StandInScript => {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new ScriptError(
      path,
      `cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`,
    )
  }
  try {
    return readScript(text, dirname(resolve(path)))
  } catch (error) {
    throw error instanceof ScriptError ? new ScriptError(path, error.message) : error
  }
}

/** Reads a script in YAML or JSON; `folder` is the place of its files. Throws a {@link ScriptError}. */
export const readScript = (text: string, folder: string): StandInScript => {
  const document = parseDocument(text)
  const [fault] = document.errors
  if (fault) throw new ScriptError('', fault.message.split('\n')[0]!.replace(/:$/, ''))
  return scriptOf(document.toJS() as unknown, folder)
}

/** Checks a script that was read already, such as a literal in a test. Throws a {@link ScriptError}. */
export const scriptOf = (value: unknown, folder = process.cwd()): StandInScript => {
  const read = fieldsOf('', value ?? {}, ['pace', 'hears', 'key', 'rules'])
  const { key } = read
  return {
    pace: read.pace === undefined ? defaultPace : numberOf('pace', read.pace, 0, 1000),
    hears: read.hears === undefined ? [] : textsOf('hears', read.hears),
    ...(key !== undefined && { key: textOf('key', key) }),
    rules: listOf('rules', read.rules ?? []).map((rule, at) => ruleOf(`rules[${at}]`, rule, folder)),
  }
}

const ruleOf = (field: string, value: unknown, folder: string): Rule => {
  const read = fieldsOf(field, value, ['when', 'do', 'times'])
  return {
    when: conditionOf(`${field}.when`, read.when ?? 'any'),
    actions: listOf(`${field}.do`, read.do).map((action, at) =>
      actionOf(`${field}.do[${at}]`, action, folder),
    ),
    ...(read.times !== undefined && { times: numberOf(`${field}.times`, read.times, 1, 1e9) }),
  }
}

const conditionOf = (field: string, value: unknown): Condition => {
  if (value === 'any') return { on: 'turn' }
  if (typeof value === 'string') return { on: choiceOf(field, value, triggerNames, ['any']) }
  const names = ['on', 'engine', 'turn', 'contains', 'pattern', 'interrupted', 'result', 'offers']
  const read = fieldsOf(field, value, names)
  const { on, engine, turn, contains, pattern, interrupted, result, offers } = read
  const preset = result === undefined ? 'turn' : 'result'
  return {
    on: on === undefined ? preset : choiceOf(`${field}.on`, on, triggerNames),
    ...(engine !== undefined && {
      engines: textsOf(`${field}.engine`, engine).map((name) =>
        choiceOf(`${field}.engine`, name, engineNames),
      ),
    }),
    ...(turn !== undefined && { turn: numberOf(`${field}.turn`, turn, 1, 1e9) }),
    ...(contains !== undefined && { contains: textsOf(`${field}.contains`, contains) }),
    ...(pattern !== undefined && { pattern: patternOf(`${field}.pattern`, pattern) }),
    ...(interrupted !== undefined && { interrupted: flagOf(`${field}.interrupted`, interrupted) }),
    ...(result !== undefined && { result: textOf(`${field}.result`, result) }),
    ...(offers !== undefined && { offers: textsOf(`${field}.offers`, offers) }),
  }
}

/** Reader of the value of one action. */
type ReadAction = (field: string, value: unknown, folder: string) => Action

const readers: Readonly<Record<string, ReadAction>> = {
  after: (field, value) => ({ kind: 'after', ms: numberOf(field, value, 0, 3_600_000) }),
  say: (field, value) => {
    if (typeof value === 'string') return { kind: 'say', text: value, sound: { kind: 'speech' } }
    const read = fieldsOf(field, value, ['text', 'pace', 'cut'])
    return sayOf(field, read, { kind: 'speech' }, textOf(`${field}.text`, read.text))
  },
  wav: (field, value, folder) => {
    const read =
      typeof value === 'string' ? { file: value } : fieldsOf(field, value, ['file', 'text', 'pace', 'cut'])
    const file = resolve(folder, textOf(`${field}.file`, read.file))
    checkFile(`${field}.file`, file)
    return sayOf(field, read, { kind: 'file', file }, read.text === undefined ? '' : textOf(field, read.text))
  },
  tone: (field, value) => {
    const read = fieldsOf(field, value, ['hz', 'ms', 'text', 'pace', 'cut'])
    const hz = numberOf(`${field}.hz`, read.hz, 20, 4000)
    const ms = numberOf(`${field}.ms`, read.ms, 20, 600_000)
    return sayOf(
      field,
      read,
      { kind: 'tone', hz, ms },
      read.text === undefined ? '' : textOf(field, read.text),
    )
  },
  silence: (field, value) => ({
    kind: 'say',
    text: '',
    sound: { kind: 'silence', ms: numberOf(field, value, 20, 600_000) },
  }),
  call: (field, value) => {
    if (value === true) return { kind: 'call', isCut: false }
    if (typeof value === 'string') return { kind: 'call', name: value, isCut: false }
    const { name, arguments: args, cut } = fieldsOf(field, value, ['name', 'arguments', 'cut'])
    return {
      kind: 'call',
      ...(name !== undefined && { name: textOf(`${field}.name`, name) }),
      ...(args !== undefined && { args }),
      isCut: cut === undefined ? false : flagOf(`${field}.cut`, cut),
    }
  },
  quirk: (field, value) => ({ kind: 'quirk', name: choiceOf(field, value, quirkNames) }),
  error: (field, value) => ({ kind: 'error', error: choiceOf(field, value, errorKinds) }),
  close: (field, value) => {
    if (value === true) return { kind: 'close', how: 1000 }
    if (value === 'abrupt') return { kind: 'close', how: 'abrupt' }
    if (value === 1000 || (typeof value === 'number' && value >= 1007 && value <= 4999 && value !== 1015))
      return { kind: 'close', how: value }
    throw new ScriptError(field, '`true`, `abrupt`, or a WebSocket code of 1000 or 1007 to 4999 expected')
  },
  stall: (field, value) => {
    if (!flagOf(field, value)) throw new ScriptError(field, '`true` expected')
    return { kind: 'stall' }
  },
}

const actionOf = (field: string, value: unknown, folder: string): Action => {
  const names = Object.keys(readers)
  const entries = isJsonObject(value) ? Object.entries(value) : []
  const [entry] = entries
  const read = entry && Object.hasOwn(readers, entry[0]) ? readers[entry[0]] : undefined
  if (!entry || !read || entries.length !== 1)
    throw new ScriptError(field, `one action of ${names.join(', ')} expected`)
  return read(`${field}.${entry[0]}`, entry[1], folder)
}

const sayOf = (
  field: string,
  { pace, cut }: Readonly<Record<string, unknown>>,
  sound: ScriptedSound,
  text: string,
): Action => ({
  kind: 'say',
  text,
  sound,
  ...(pace !== undefined && { pace: numberOf(`${field}.pace`, pace, 0, 1000) }),
  ...(cut !== undefined && { cutMs: numberOf(`${field}.cut`, cut, 0, 600_000) }),
})

const checkFile = (field: string, file: string): void => {
  try {
    readFileSync(file)
  } catch (error) {
    throw new ScriptError(
      field,
      `a readable file expected, not ${file} (${(error as NodeJS.ErrnoException).code})`,
    )
  }
}

const fieldsOf = (field: string, value: unknown, names: readonly string[]): Record<string, unknown> => {
  if (!isJsonObject(value)) throw new ScriptError(field || 'script', 'a mapping expected')
  const unknown = Object.keys(value).find((name) => !names.includes(name))
  if (unknown !== undefined)
    throw new ScriptError(
      field || 'script',
      `unknown field \`${unknown}\`; one of ${names.join(', ')} expected`,
    )
  return value
}

const listOf = (field: string, value: unknown): readonly unknown[] => {
  if (!Array.isArray(value)) throw new ScriptError(field, 'a list expected')
  return value
}

const textOf = (field: string, value: unknown): string => {
  if (typeof value !== 'string') throw new ScriptError(field, 'a text expected')
  return value
}

const textsOf = (field: string, value: unknown): readonly string[] =>
  typeof value === 'string'
    ? [value]
    : listOf(field, value).map((each, at) => textOf(`${field}[${at}]`, each))

const flagOf = (field: string, value: unknown): boolean => {
  if (typeof value !== 'boolean') throw new ScriptError(field, '`true` or `false` expected')
  return value
}

const numberOf = (field: string, value: unknown, min: number, max: number): number => {
  if (typeof value !== 'number' || !(value >= min && value <= max))
    throw new ScriptError(field, `a number from ${min} to ${max} expected`)
  return value
}

const patternOf = (field: string, value: unknown): RegExp => {
  try {
    return new RegExp(textOf(field, value), 'iu')
  } catch (error) {
    if (error instanceof ScriptError) throw error
    throw new ScriptError(field, 'a regular expression of JavaScript expected')
  }
}

const choiceOf = <Choice extends string>(
  field: string,
  value: unknown,
  choices: readonly Choice[],
  more: readonly string[] = [],
): Choice => {
  const found = choices.find((choice) => choice === value)
  if (found === undefined) throw new ScriptError(field, `one of ${[...choices, ...more].join(', ')} expected`)
  return found
}
