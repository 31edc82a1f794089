import type { Language } from '../common/documents.ts'
import { loadDocument } from '../common/documents.ts'
import { withQuery } from '../common/urls.ts'
import type { DocumentRequest, DocumentSource, HandlerContext } from '../handler.ts'
import { DocumentInvalid, DocumentUnreachable } from '../handler.ts'
import { VerbFailed } from '../verbs.ts'
import { codes } from './codes.ts'
import { readScriptDocument, type ScriptProgram } from './document.ts'
import type { Params, Section } from './method.ts'
import type { Variables } from './variables.ts'

/** What a document is asked for with. */
export interface Asking {
  readonly context: HandlerContext
  readonly variables: Variables
  /** Values for the section that will run; default those of the one that runs. */
  readonly params?: Params
  /** Methods that it may use; default all. */
  readonly permitted?: ReadonlySet<string>
}

/**
 * Has a document and reads it: its main section. Its warnings go to the call's log. Throws {@link DocumentUnreachable} or {@link DocumentInvalid}.
 */
export const loadScript = async (source: DocumentSource, asking: Asking): Promise<Section> => {
  const { context, variables, params, permitted } = asking
  const language: Language<ScriptProgram> = {
    unreachable: () => codes.unreachable,
    request: (url, method) => scriptRequest(url, method, variables, params),
    read: (document) => readScriptDocument(document, permitted),
  }
  const { program, document } = await loadDocument(source, context, language)
  const named = document === undefined ? {} : { document }
  for (const warning of program.warnings) context.warn({ ...warning, ...named })
  return { sections: program.sections, steps: program.main, ...named }
}

/** As {@link loadScript}, for a method that names the document by its URL or has its text: throws {@link VerbFailed}. */
export const loadNamed = async (dest: string, asking: Asking): Promise<Section> => {
  try {
    return await loadScript(sourceOf(dest), asking)
  } catch (error) {
    if (error instanceof DocumentUnreachable) throw new VerbFailed(codes.unreachable, error.message, error)
    if (!(error instanceof DocumentInvalid)) throw error
    for (const fault of error.faults) asking.context.warn(fault)
    throw new VerbFailed(error.faults[0]?.code ?? codes.parse, 'The document is not valid.', error)
  }
}

const sourceOf = (dest: string): DocumentSource => {
  if (/^\s*\{/.test(dest)) return { kind: 'inline', text: dest, name: 'a script inside of the script' }
  if (/^https?:/i.test(dest)) return { kind: 'url', url: dest }
  throw new VerbFailed(
    codes.parameterInvalid,
    'The destination is neither a URL nor a script, nor a section of this one.',
  )
}

/** The request for a script at a URL: a POST carries the call and all variables; a GET only the call's id. */
export const scriptRequest = (
  url: string,
  method: 'GET' | 'POST',
  variables: Variables,
  params: Params | undefined,
): DocumentRequest => {
  const { call, vars, envs, params: own } = variables.all
  if (method === 'GET')
    return { url: withQuery(url, new URLSearchParams({ call_id: String(call.call_id) })), method }
  const text = JSON.stringify({ call, vars, envs, params: params ?? own })
  return { url, method, body: { contentType: 'application/json', text } }
}
