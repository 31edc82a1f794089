import type { RunAgentRequest } from '../agent/agent-runner.ts'
import { CallEnded } from '../verbs.ts'
import { codes } from './codes.ts'
import type { ScriptHandlerOptions } from './handler.ts'
import { ScriptRun } from './run.ts'
import { StepList } from './steps.ts'
import { Variables } from './variables.ts'

/** Makes the runner of voice agents outside of scripts: each is the only step of a script of its own. */
export const createAgentRunner =
  ({ sandbox, documents, timers, ...ids }: ScriptHandlerOptions): RunAgentRequest =>
  async (call, context, { method, document, path, stop, onTranscript }) => {
    const variables = new Variables({ call, ids, envs: context.envs, sandbox, now: () => context.now() })
    const run = new ScriptRun({
      call,
      context,
      variables,
      documents,
      ids,
      timers,
      ...(stop && { stopAgents: stop }),
      ...(onTranscript && { onTranscript }),
    })
    const steps = new StepList([{ method, parameters: { agent: document }, path }])
    try {
      const hasLeft = await run.run({ sections: new Map(), steps })
      if (hasLeft) return { kind: 'left' }
    } catch (error) {
      if (!(error instanceof CallEnded)) throw error
      return { kind: 'over' }
    }
    if (variables.lookup('vars.ai_result') === 'success') return { kind: 'over' }
    return { kind: 'failed', code: String(variables.lookup('vars.script_error') ?? codes.methodFailed) }
  }
