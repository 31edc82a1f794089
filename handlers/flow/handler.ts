import { contextWith } from '../common/contexts.ts'
import { loadDocument } from '../common/documents.ts'
import { untilCallEnds } from '../common/until-call-ends.ts'
import type { Handler, HandlerContext } from '../handler.ts'
import { FaultEvents } from '../script/fault-events.ts'
import type { ScriptHandlerOptions } from '../script/handler.ts'
import { scriptRequest } from '../script/loading.ts'
import { ScriptRun } from '../script/run.ts'
import { Variables } from '../script/variables.ts'
import { codes } from './codes.ts'
import { nodeOf } from './compile.ts'
import { readFlowDocument } from './document.ts'

/**
 * Creates the handler of call flows, JSON or YAML. A flow is requested like a script and compiled to one,
 * which the script interpreter runs. Its steps and faults in the log name the node.
 */
export const createFlowHandler = ({ sandbox, documents, ...ids }: ScriptHandlerOptions): Handler => ({
  run: (call, source, given) =>
    untilCallEnds(call.signal, async () => {
      const faults = new FaultEvents(given, call.info, ids)
      const { context } = faults
      const common = { sandbox, ...(documents && { documents }) }
      const variables = new Variables({ call, ids, envs: context.envs, ...common, now: () => context.now() })
      const loaded = await faults.reportingRejection(codes.unreachable, () =>
        loadDocument(source, context, {
          unreachable: () => codes.unreachable,
          request: (url, method, failure) =>
            scriptRequest(url, method, variables, { params: {}, ...(failure && { failure }) }),
          read: ({ text }) => (documents ? documents.flow(text) : readFlowDocument({ text })),
        }),
      )
      const { program, isFlow } = loaded.program
      const named = loaded.document === undefined ? {} : { document: loaded.document }
      for (const warning of program.warnings) context.warn({ ...warning, ...named })
      const runContext = isFlow ? withNodes(context) : context
      const { sections, main } = program
      await new ScriptRun({ call, context: runContext, variables, ids }).run({
        sections,
        steps: main,
        ...named,
      })
    }),
})

/** Returns a context that adds the node to steps and faults. */
const withNodes = (context: HandlerContext): HandlerContext =>
  contextWith(context, {
    warn: (fault) => {
      const node = nodeOf(fault.path)
      context.warn(node === undefined ? fault : { ...fault, message: `${node}: ${fault.message}` })
    },
    step: (step) => {
      const node = nodeOf(step.path)
      context.step(node === undefined ? step : { ...step, node })
    },
  })
