import { didYouMean } from '../common/spelling.ts'
import type { DocumentFault } from '../handler.ts'
import { DocumentInvalid } from '../handler.ts'
import { codes } from './codes.ts'
import type { Sections } from './method.ts'
import { isObject, pointer, type Report, readSource, type ScriptSource } from './source.ts'
import { StepReader } from './step-reader.ts'
import { StepList } from './steps.ts'

/** Script that can run. */
export interface ScriptProgram {
  /** Sections by name, including `main`. */
  readonly sections: Sections
  readonly main: StepList
  /** Faults of parts that are accepted without effect. */
  readonly warnings: readonly DocumentFault[]
}

/** Maximum number of errors, and of warnings, per document: each is a log line of every call. */
const maxFaults = 100

/**
 * Reads and checks a script document, JSON or YAML. `permitted` are the methods that it may use; default all.
 * Throws {@link DocumentInvalid} with every error, each with its JSON pointer, line and column.
 */
export const readScriptDocument = (
  document: { readonly text: string },
  permitted?: ReadonlySet<string>,
): ScriptProgram => readScript(readSource(document.text), permitted)

/** Checks a parsed or compiled script as {@link readScriptDocument} does. */
export const readScript = (source: ScriptSource, permitted?: ReadonlySet<string>): ScriptProgram => {
  const errors: DocumentFault[] = []
  const warnings: DocumentFault[] = []
  const into =
    (list: DocumentFault[]): Report =>
    (code, message, keys) => {
      if (list.length < maxFaults) list.push({ code, message, path: pointer(keys), ...source.place(keys) })
    }
  const error = into(errors)
  const sections = checkDocument(source.value, error, into(warnings), permitted)
  if (errors.length > 0) throw new DocumentInvalid(errors.toSorted(byPlace))
  return { sections, main: sections.get('main') ?? new StepList([]), warnings }
}

const byPlace = (a: DocumentFault, b: DocumentFault): number =>
  (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0)

const checkDocument = (
  value: unknown,
  error: Report,
  warning: Report,
  permitted: ReadonlySet<string> | undefined,
): Sections => {
  if (!isObject(value)) {
    error(codes.elementWrongType, 'A script must be an object with version and sections.', [])
    return new Map()
  }
  for (const key of Object.keys(value)) {
    if (key !== 'version' && key !== 'sections')
      error(
        codes.elementUndefined,
        `A script has no element ${key}.${didYouMean(key, ['version', 'sections'])}`,
        [key],
      )
  }
  const { version = '1.0.0', sections } = value
  if (version !== '1.0.0') {
    error(codes.version, `version must be the text 1.0.0, not ${JSON.stringify(version)}.`, ['version'])
  }
  if (sections === undefined) error(codes.sectionsMissing, 'sections is missing.', [])
  else if (!isObject(sections))
    error(codes.elementWrongType, 'sections must be an object of lists.', ['sections'])
  else return checkSections(sections, error, warning, permitted)
  return new Map()
}

const checkSections = (
  sections: Readonly<Record<string, unknown>>,
  error: Report,
  warning: Report,
  permitted: ReadonlySet<string> | undefined,
): Sections => {
  if (!Object.hasOwn(sections, 'main')) error(codes.mainMissing, 'sections has no main.', ['sections'])
  const reader = new StepReader({ error, warning, sections: new Set(Object.keys(sections)), permitted })
  return new Map(
    Object.entries(sections).map(([name, section]) => {
      const keys = ['sections', name]
      if (section !== null && section !== undefined) return [name, reader.list(section, keys)]
      error(codes.sectionCodeMissing, 'The section has no steps.', keys)
      return [name, new StepList([])]
    }),
  )
}
