import { contextWith } from '../common/contexts.ts'
import type { Handler, HandlerContext } from '../handler.ts'
import { createSectionHandler, type ScriptHandlerOptions } from '../script/handler.ts'
import { loadSection, type ScriptReader } from '../script/loading.ts'
import { codes } from './codes.ts'
import { nodeOf } from './compile.ts'
import { type FlowProgram, readFlowDocument } from './document.ts'

/** Options of {@link createFlowHandler}. */
export interface FlowHandlerOptions extends ScriptHandlerOptions {
  /** Reads the documents of all calls; default immediately, in the current thread. */
  readonly documents?: ScriptReader & { flow(text: string): Promise<FlowProgram> }
}

/**
 * Creates the handler of call flows, JSON or YAML. A flow is requested like a script and compiled to one,
 * which the script interpreter runs. Its steps and faults in the log name the node.
 */
export const createFlowHandler = (options: FlowHandlerOptions): Handler =>
  createSectionHandler(options, codes.unreachable, async (source, load) => {
    const read = async (text: string) => {
      const { program, isFlow } = (await options.documents?.flow(text)) ?? readFlowDocument({ text })
      return { ...program, isFlow }
    }
    const { section, program } = await loadSection(source, load, codes.unreachable, read)
    return { section, ...(program.isFlow && { context: withNodes(load.context) }) }
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
