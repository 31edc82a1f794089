import type { DocumentFault } from '../handler.ts'
import { DocumentInvalid } from '../handler.ts'
import { codes } from './codes.ts'
import { checkMethod } from './method-check.ts'
import { laterMethods, methods } from './schema.ts'
import type { Keys } from './source.ts'
import { readSource } from './source.ts'

/** One checked step. Parameters may still hold placeholders. */
export interface ScriptStep {
  readonly method: string
  readonly parameters: Readonly<Record<string, unknown>>
  /** JSON pointer of the step's parameters, for warnings. */
  readonly path: string
}

/** A script that may run. */
export interface ScriptProgram {
  readonly main: readonly ScriptStep[]
  /** What was accepted and has no effect. */
  readonly warnings: readonly DocumentFault[]
}

/** Most errors, and most warnings, that are kept: nobody reads more, and each is a line of the log at every call. */
const mostFaults = 100

/** Takes a fault at a place of the document. */
export type Report = (code: string, message: string, keys: Keys) => void

/**
 * Reads and checks a script document, JSON or YAML. Throws {@link DocumentInvalid} with every error that was found, each with its JSON
 * pointer, line and column.
 */
export const readScriptDocument = (document: { readonly text: string }): ScriptProgram => {
  const source = readSource(document.text)
  const errors: DocumentFault[] = []
  const warnings: DocumentFault[] = []
  const into =
    (list: DocumentFault[]): Report =>
    (code, message, keys) => {
      if (list.length < mostFaults) list.push({ code, message, path: pointer(keys), ...source.place(keys) })
    }
  const main = checkDocument(source.value, into(errors), into(warnings))
  if (errors.length > 0) throw new DocumentInvalid(errors.toSorted(byPlace))
  return { main, warnings }
}

const byPlace = (a: DocumentFault, b: DocumentFault): number =>
  (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0)

/** RFC 6901. */
const pointer = (keys: Keys): string =>
  keys.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const checkDocument = (value: unknown, error: Report, warning: Report): readonly ScriptStep[] => {
  if (!isObject(value)) {
    error(codes.elementWrongType, 'A script must be an object with version and sections.', [])
    return []
  }
  for (const key of Object.keys(value)) {
    if (key !== 'version' && key !== 'sections')
      error(codes.elementUndefined, `A script has no element ${key}.`, [key])
  }
  const { version = '1.0.0', sections } = value
  if (version !== '1.0.0') {
    error(codes.version, `version must be the text 1.0.0, not ${JSON.stringify(version)}.`, ['version'])
  }
  if (sections === undefined) error(codes.sectionsMissing, 'sections is missing.', [])
  else if (!isObject(sections))
    error(codes.elementWrongType, 'sections must be an object of lists.', ['sections'])
  else return checkSections(sections, error, warning)
  return []
}

const checkSections = (
  sections: Readonly<Record<string, unknown>>,
  error: Report,
  warning: Report,
): readonly ScriptStep[] => {
  if (!Object.hasOwn(sections, 'main')) error(codes.mainMissing, 'sections has no main.', ['sections'])
  let main: readonly ScriptStep[] = []
  for (const [name, section] of Object.entries(sections)) {
    const steps = checkSection(section, ['sections', name], error, warning)
    if (name === 'main') main = steps
  }
  return main
}

const checkSection = (
  section: unknown,
  keys: Keys,
  error: Report,
  warning: Report,
): readonly ScriptStep[] => {
  if (section === null || section === undefined) {
    error(codes.sectionCodeMissing, 'The section has no steps.', keys)
    return []
  }
  if (!Array.isArray(section)) {
    error(codes.elementWrongType, 'A section must be a list of steps.', keys)
    return []
  }
  return section.flatMap((step, index) => checkStep(step, [...keys, index], error, warning) ?? [])
}

const checkStep = (step: unknown, keys: Keys, error: Report, warning: Report): ScriptStep | undefined => {
  if (typeof step === 'string') return checkNamed(step, undefined, keys, error, warning)
  if (!isObject(step)) {
    error(
      codes.elementWrongType,
      'A step must be a method with its parameters, or the name of a method.',
      keys,
    )
    return undefined
  }
  const names = Object.keys(step)
  const [name] = names
  if (name === undefined) error(codes.methodNameMissing, 'The step names no method.', keys)
  else if (names.length > 1)
    error(codes.elementInvalid, `A step has one method, not ${names.length}: ${names.join(', ')}.`, keys)
  else return checkNamed(name, step[name], [...keys, name], error, warning)
  return undefined
}

const checkNamed = (
  method: string,
  given: unknown,
  keys: Keys,
  error: Report,
  warning: Report,
): ScriptStep | undefined => {
  const spec = Object.hasOwn(methods, method) ? methods[method] : undefined
  if (!spec) {
    const known = laterMethods.includes(method)
    error(
      codes.methodUndefined,
      known ? `The method ${method} is not supported here yet.` : `There is no method ${method}.`,
      keys,
    )
    return undefined
  }
  const parameters = checkMethod(spec, given, keys, error, warning)
  return parameters && { method, parameters, path: pointer(keys) }
}
