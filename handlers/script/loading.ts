import type { DocumentFailure } from '../common/documents.ts'
import { loadDocument } from '../common/documents.ts'
import { withQuery } from '../common/urls.ts'
import type { DocumentRequest, DocumentSource, HandlerContext } from '../handler.ts'
import { DocumentInvalid, DocumentUnreachable } from '../handler.ts'
import { VerbFailed } from '../verbs.ts'
import { codes } from './codes.ts'
import { readScriptDocument, type ScriptProgram } from './document.ts'
import type { Params, Section } from './method.ts'
import type { CpuAccount } from './sandbox/sandbox.ts'
import type { Variables } from './variables.ts'

/** Reader of script documents; its CPU time counts for the account. */
export interface ScriptReader {
  /**
   * Reads a script; `permitted` are the methods that it may use, default all. Rejects with {@link
   * DocumentInvalid}.
   */
  script(text: string, permitted?: ReadonlySet<string>, account?: CpuAccount): Promise<ScriptProgram>
}

/** Options of a document request. */
export interface LoadScriptOptions {
  readonly context: HandlerContext
  readonly variables: Variables
  /** Reads the document; default immediately, in the current thread. */
  readonly documents?: ScriptReader
  /** Parameters of the section that will run; default: the parameters of the running section. */
  readonly params?: Params
  /** Methods that the document may use; default all. */
  readonly permitted?: ReadonlySet<string>
}

/**
 * Loads a document and returns its main section and its program. Logs its warnings. `read` checks the text;
 * `unreachable` is the code of a failed fetch. Throws {@link DocumentUnreachable} or {@link DocumentInvalid}.
 */
export const loadSection = async <Program extends ScriptProgram>(
  source: DocumentSource,
  { context, variables, params = variables.params }: LoadScriptOptions,
  unreachable: string,
  read: (text: string) => Promise<Program>,
): Promise<{ readonly section: Section; readonly program: Program }> => {
  const { program, document } = await loadDocument(source, context, {
    unreachable: () => unreachable,
    request: (url, method, failure) => requestOf(url, method, { ...variables.all, params }, failure),
    read: ({ text }) => read(text),
  })
  const named = document === undefined ? {} : { document }
  for (const warning of program.warnings) context.warn({ ...warning, ...named })
  return { section: { sections: program.sections, steps: program.main, ...named }, program }
}

/** Loads a script as {@link loadSection} does. */
export const loadScript = async (source: DocumentSource, options: LoadScriptOptions): Promise<Section> => {
  const { section } = await loadSection(source, options, codes.unreachable, (text) => readText(text, options))
  return section
}

/** Reads a script on the account of the running script. */
const readText = async (
  text: string,
  { documents, variables, permitted }: LoadScriptOptions,
): Promise<ScriptProgram> =>
  documents ? documents.script(text, permitted, variables.account) : readScriptDocument({ text }, permitted)

/** Loads the document at a URL, or in a text, for a method. Throws {@link VerbFailed}. */
export const loadDestination = async (dest: string, options: LoadScriptOptions): Promise<Section> => {
  try {
    return await loadScript(sourceOf(dest), options)
  } catch (error) {
    if (error instanceof DocumentUnreachable) throw new VerbFailed(codes.unreachable, error.message, error)
    if (!(error instanceof DocumentInvalid)) throw error
    for (const fault of error.faults) options.context.warn(fault)
    throw new VerbFailed(error.faults[0]?.code ?? codes.parse, 'The document is not valid.', error)
  }
}

const sourceOf = (dest: string): DocumentSource => {
  if (/^\s*\{/.test(dest)) return { kind: 'inline', text: dest, name: 'a script inside of the script' }
  if (/^https?:/i.test(dest)) return { kind: 'url', url: dest }
  throw new VerbFailed(
    codes.parameterInvalid,
    'The destination is neither a section of this script, nor a URL, nor a script.',
  )
}

/**
 * Returns the request for a script. A POST contains the call and all variables, a GET the call's id only.
 * Both contain the failure for which a fallback is requested.
 */
const requestOf = (
  url: string,
  method: 'GET' | 'POST',
  { call, vars, envs, params }: Variables['all'],
  failure: DocumentFailure | undefined,
): DocumentRequest => {
  const reason = failure && { ErrorCode: failure.code, ErrorUrl: failure.url }
  if (method === 'GET')
    return { url: withQuery(url, new URLSearchParams({ call_id: String(call.call_id), ...reason })), method }
  const text = JSON.stringify({ call, vars, envs, params, ...reason })
  return { url, method, body: { contentType: 'application/json', text } }
}
