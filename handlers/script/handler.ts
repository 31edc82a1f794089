import type { Timers } from '../common/timers.ts'
import { untilCallEnds } from '../common/until-call-ends.ts'
import type { DocumentSource, Handler, HandlerContext } from '../handler.ts'
import type { ScriptIds } from './call-object.ts'
import { codes } from './codes.ts'
import { FaultEvents } from './fault-events.ts'
import { type LoadScriptOptions, loadScript, type ScriptReader } from './loading.ts'
import type { Section } from './method.ts'
import { ScriptRun } from './run.ts'
import type { Sandbox } from './sandbox/sandbox.ts'
import { Variables } from './variables.ts'

/** Options of {@link createScriptHandler}. */
export interface ScriptHandlerOptions extends ScriptIds {
  /** Evaluates the expressions of all calls. Its creator must close it. */
  readonly sandbox: Pick<Sandbox, 'evaluate'>
  /** Reads the documents of all calls; default immediately, in the current thread. */
  readonly documents?: ScriptReader
  readonly timers: Timers
}

/** Section to run, with the context of its run if that differs from the one of its loading. */
export interface LoadedSection {
  readonly section: Section
  readonly context?: HandlerContext
}

/**
 * Creates a handler that runs documents as scripts. `load` turns a document into a section; `unreachable` is
 * the code of a failed fetch.
 */
export const createSectionHandler = (
  { sandbox, documents, timers, ...ids }: ScriptHandlerOptions,
  unreachable: string,
  load: (source: DocumentSource, options: LoadScriptOptions) => Promise<LoadedSection>,
): Handler => ({
  run: (call, source, given) =>
    untilCallEnds(call.signal, async () => {
      const faults = new FaultEvents(given, call.info, ids)
      const { context } = faults
      const variables = new Variables({ call, ids, envs: context.envs, sandbox, now: () => context.now() })
      const { section, context: runContext = context } = await faults.reportingRejection(unreachable, () =>
        load(source, { context, variables, documents }),
      )
      await new ScriptRun({ call, context: runContext, variables, documents, ids, timers }).run(section)
    }),
})

/**
 * Creates the handler of script documents, JSON or YAML. A document is requested by a POST whose JSON body
 * describes the call. It is checked as a whole before its first step runs.
 */
export const createScriptHandler = (options: ScriptHandlerOptions): Handler =>
  createSectionHandler(options, codes.unreachable, async (source, load) => ({
    section: await loadScript(source, load),
  }))
