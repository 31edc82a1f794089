import { untilCallEnds } from '../common/ending.ts'
import type { Handler } from '../handler.ts'
import type { DocumentReader } from '../reading/reader.ts'
import { type Reading, XmlRun } from './run.ts'

/**
 * The handler of XML documents: root `Response`, verbs from top to bottom. Each document is read and checked whole before its first verb
 * runs. `documents` reads them; default at once, in the thread of the caller. Unknown verbs and attributes are warned of and passed over (12200).
 */
export const createXmlHandler = (documents?: Pick<DocumentReader, 'xml'>): Handler => ({
  run: (call, source, context) =>
    untilCallEnds(call.signal, async () => {
      const account = { usedMs: 0 }
      const reading: Reading | undefined =
        documents && ((text, fields) => documents.xml(text, fields, account))
      await new XmlRun(call, context, reading).run(source)
    }),
})
