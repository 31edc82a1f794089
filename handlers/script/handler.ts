import type { Language } from '../common/documents.ts'
import { loadDocument } from '../common/documents.ts'
import { untilCallEnds } from '../common/ending.ts'
import { withQuery } from '../common/urls.ts'
import type { DocumentRequest, Handler } from '../handler.ts'
import { codes } from './codes.ts'
import type { ScriptProgram } from './document.ts'
import { readScriptDocument } from './document.ts'
import { ScriptRun } from './run.ts'
import type { ScriptIds } from './variables.ts'
import { Variables } from './variables.ts'

/**
 * The handler of script documents, JSON or YAML. The document is asked for by a POST whose JSON body describes the call, and is checked
 * whole before its first step runs.
 */
export const createScriptHandler = (ids: ScriptIds = {}): Handler => ({
  run: (call, source, context) =>
    untilCallEnds(call.signal, async () => {
      const variables = new Variables(call, ids)
      const language: Language<ScriptProgram> = {
        unreachable: codes.unreachable,
        request: (url, method) => scriptRequest(url, method, variables),
        read: readScriptDocument,
      }
      const { program } = await loadDocument(source, context, language)
      for (const warning of program.warnings) context.warn(warning)
      await new ScriptRun(call, context, variables).run(program.main)
    }),
})

/** A POST carries the call and all variables; a GET only the call's id. */
const scriptRequest = (url: string, method: 'GET' | 'POST', variables: Variables): DocumentRequest => {
  const { call, vars, envs, params } = variables
  if (method === 'GET')
    return { url: withQuery(url, new URLSearchParams({ call_id: String(call.call_id) })), method }
  return {
    url,
    method,
    body: { contentType: 'application/json', text: JSON.stringify({ call, vars, envs, params }) },
  }
}
