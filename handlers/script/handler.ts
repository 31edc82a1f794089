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

/** Options of {@link createScriptHandler}. */
export interface ScriptHandlerOptions extends ScriptIds {
  /** Evaluates the expressions of all calls. Its creator must close it. */
  readonly sandbox: Pick<Sandbox, 'evaluate'>
  /** Reads the documents of all calls; default immediately, in the current thread. */
  readonly documents?: Pick<DocumentReader, 'script' | 'flow'>
}

/**
 * Creates the handler of script documents, JSON or YAML. A document is requested by a POST whose JSON body
 * describes the call. It is checked as a whole before its first step runs.
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
