import { untilCallEnds } from '../common/until-call-ends.ts'
import type { Handler } from '../handler.ts'
import type { DocumentReader } from '../reading/reader.ts'
import type { ScriptIds } from './call-object.ts'
import { codes } from './codes.ts'
import { FaultEvents } from './fault-events.ts'
import { loadScript } from './loading.ts'
import { ScriptRun } from './run.ts'
import type { Sandbox } from './sandbox/sandbox.ts'
import { Variables } from './variables.ts'

/** What the handler needs of the gateway. */
export interface ScriptHandlerOptions extends ScriptIds {
  /** Evaluates expressions, for all calls; whoever made it closes it. */
  readonly sandbox: Pick<Sandbox, 'evaluate'>
  /** Reads documents, for all calls; default at once, in the thread of the caller. */
  readonly documents?: Pick<DocumentReader, 'script' | 'flow'>
}

/**
 * The handler of script documents, JSON or YAML. The document is asked for by a POST whose JSON body describes the call, and is checked
 * whole before its first step runs.
 */
export const createScriptHandler = ({ sandbox, documents, ...ids }: ScriptHandlerOptions): Handler => ({
  run: (call, source, given) =>
    untilCallEnds(call.signal, async () => {
      const faults = new FaultEvents(given, call.info, ids)
      const { context } = faults
      const common = { sandbox, ...(documents && { documents }) }
      const variables = new Variables({ call, ids, envs: context.envs, ...common, now: () => context.now() })
      const section = await faults.reportingRejection(codes.unreachable, () =>
        loadScript(source, { context, variables }),
      )
      await new ScriptRun({ call, context, variables, ids }).run(section)
    }),
})
