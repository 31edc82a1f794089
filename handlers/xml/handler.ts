import type { RunAgentRequest } from '../agent/agent-runner.ts'
import type { Fields } from '../common/forms.ts'
import { untilCallEnds } from '../common/until-call-ends.ts'
import type { Handler } from '../handler.ts'
import type { XmlProgram, XmlText } from './document.ts'
import { type ReadDocument, XmlRun } from './run.ts'

/** Reader of XML documents. `fields` fill templates; `account` receives the CPU time. */
export interface XmlReader {
  xml(
    document: XmlText,
    fields: Fields | undefined,
    account: { usedMs: number },
  ): XmlProgram | Promise<XmlProgram>
}

/**
 * Creates the handler of XML documents, whose root is `Response` and whose verbs run in order. Each document
 * is read and checked as a whole before its first verb runs. Unknown verbs and attributes are skipped with a
 * warning (12200). `documents` reads the documents; default immediately, in the current thread. `runAgent`
 * runs voice agents; without it none can start.
 */
export const createXmlHandler = (documents?: XmlReader, runAgent?: RunAgentRequest): Handler => ({
  run: (call, source, context) =>
    untilCallEnds(call.signal, async () => {
      const account = { usedMs: 0 }
      const read: ReadDocument | undefined =
        documents && ((text, fields) => documents.xml(text, fields, account))
      const parts = { ...(read && { read }), ...(runAgent && { runAgent }) }
      await new XmlRun({ call, context, ...parts }).run(source)
    }),
})
