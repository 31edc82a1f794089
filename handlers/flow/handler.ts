import { loadDocument } from '../common/documents.ts'
import { untilCallEnds } from '../common/ending.ts'
import type { Handler, HandlerContext } from '../handler.ts'
import type { ScriptHandlerOptions } from '../script/handler.ts'
import { scriptRequest } from '../script/loading.ts'
import { ScriptRun } from '../script/run.ts'
import { Variables } from '../script/variables.ts'
import { codes } from './codes.ts'
import { nodeOf } from './compile.ts'
import { readFlowDocument } from './document.ts'

/**
 * The handler of call flows, JSON or YAML: a flow is compiled to a script, which the interpreter of scripts runs. It is asked for as a script is. What it
 * tells of steps and faults names the node.
 */
export const createFlowHandler = ({ sandbox, ...ids }: ScriptHandlerOptions): Handler => ({
  run: (call, source, context) =>
    untilCallEnds(call.signal, async () => {
      const variables = new Variables({ call, ids, envs: context.envs, sandbox })
      const loaded = await loadDocument(source, context, {
        unreachable: () => codes.unreachable,
        request: (url, method, failure) =>
          scriptRequest(url, method, variables, { params: {}, ...(failure && { failure }) }),
        read: readFlowDocument,
      })
      const { program, isFlow } = loaded.program
      const named = loaded.document === undefined ? {} : { document: loaded.document }
      for (const warning of program.warnings) context.warn({ ...warning, ...named })
      const told = isFlow ? withNodes(context) : context
      const { sections, main } = program
      await new ScriptRun({ call, context: told, variables, ids }).run({ sections, steps: main, ...named })
    }),
})

/** A context that is told the node of each step. */
const withNodes = (context: HandlerContext): HandlerContext => ({
  envs: context.envs,
  fetchDocument: (request) => context.fetchDocument(request),
  notify: (callback) => context.notify(callback),
  request: (request, signal) => context.request(request, signal),
  room: (name) => context.room(name),
  isOwnHost: (host) => context.isOwnHost(host),
  now: () => context.now(),
  warn: (fault) => {
    const node = nodeOf(fault.path)
    context.warn(node === undefined ? fault : { ...fault, message: `${node}: ${fault.message}` })
  },
  step: (step) => {
    const node = nodeOf(step.path)
    context.step(node === undefined ? step : { ...step, node })
  },
})
