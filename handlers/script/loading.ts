import type { DocumentFailure, DocumentLanguage } from '../common/documents.ts'
import { loadDocument } from '../common/documents.ts'
import { withQuery } from '../common/urls.ts'
import type { DocumentRequest, DocumentSource, HandlerContext } from '../handler.ts'
import { DocumentInvalid, DocumentUnreachable } from '../handler.ts'
import { VerbFailed } from '../verbs.ts'
import { codes } from './codes.ts'
import type { ScriptProgram } from './document.ts'
import type { Params, Section } from './method.ts'
import type { Variables } from './variables.ts'

/** What a document is asked for with. */
export interface LoadScriptOptions {
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
export const loadScript = async (source: DocumentSource, asking: LoadScriptOptions): Promise<Section> => {
  const { context, variables, params, permitted } = asking
  const language: DocumentLanguage<ScriptProgram> = {
    unreachable: () => codes.unreachable,
    request: (url, method, failure) =>
      scriptRequest(url, method, variables, { ...(params && { params }), ...(failure && { failure }) }),
    read: ({ text }) => variables.readScript(text, permitted),
  }
  const { program, document } = await loadDocument(source, context, language)
  const named = document === undefined ? {} : { document }
  for (const warning of program.warnings) context.warn({ ...warning, ...named })
  return { sections: program.sections, steps: program.main, ...named }
}

/** As {@link loadScript}, for a method that names the document by its URL or has its text: throws {@link VerbFailed}. */
export const loadDestination = async (dest: string, asking: LoadScriptOptions): Promise<Section> => {
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

/** What a request for a script carries besides the call. */
interface ScriptRequestOptions {
  /** Default those of the section that runs. */
  readonly params?: Params
  /** Why this one is asked, and not the one that it stands in for. */
  readonly failure?: DocumentFailure
}

/** The request for a script at a URL: a POST carries the call and all variables; a GET only the call's id, and both why a fallback is asked. */
export const scriptRequest = (
  url: string,
  method: 'GET' | 'POST',
  variables: Variables,
  { params, failure }: ScriptRequestOptions = {},
): DocumentRequest => {
  const { call, vars, envs, params: own } = variables.all
  const why = failure && { ErrorCode: failure.code, ErrorUrl: failure.url }
  if (method === 'GET')
    return { url: withQuery(url, new URLSearchParams({ call_id: String(call.call_id), ...why })), method }
  const text = JSON.stringify({ call, vars, envs, params: params ?? own, ...why })
  return { url, method, body: { contentType: 'application/json', text } }
}
