import { untilCallEnds } from '../common/ending.ts'
import type { Handler } from '../handler.ts'
import { XmlRun } from './run.ts'

/**
 * The handler of XML documents: root `Response`, verbs from top to bottom. Each document is read and checked whole before its first verb
 * runs. Unknown verbs and attributes are warned of and passed over (12200).
 */
export const createXmlHandler = (): Handler => ({
  run: (call, source, context) =>
    untilCallEnds(call.signal, async () => void (await new XmlRun(call, context).run(source))),
})
