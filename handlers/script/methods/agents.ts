import { readBedrock } from '../../agent/bedrock.ts'
import { readAgent } from '../../agent/document.ts'
import { agentSchema } from '../../agent/schema.ts'
import { CallEnded, VerbFailed } from '../../verbs.ts'
import { codes } from '../codes.ts'
import type { Method, ScriptContext } from '../method.ts'
import { anyObject, type Schema } from '../schema-builders.ts'
import type { Values } from '../values.ts'
import { ScriptAgentHost } from './agents-host.ts'
import { resolveAgent } from './agents-placeholders.ts'

/** Form of a document: that of `ai`, or of `amazon_bedrock`. */
type Form = 'swaig' | 'bedrock'

const readers = { swaig: readAgent, bedrock: readBedrock }

const run = (form: Form) => async (values: Values, script: ScriptContext) => {
  const given = await resolveAgent(values.parameters[whole], script, values.path)
  const { document, faults } = readers[form](given)
  const [fault] = faults
  if (!document) throw new VerbFailed(codes.parameterInvalid, `${fault?.path} ${fault?.message}.`)
  // Loaded with the first agent: a gateway without agents, and the threads that check documents, do without.
  const { runAgent } = await import('../../agent/session.ts')
  const host = new ScriptAgentHost(script, values.path, form)
  const { end, hasLeft } = await runAgent(document, host)
  if (script.call.signal.aborted) throw new CallEnded()
  if (end.kind === 'failed' && !hasLeft) throw new VerbFailed(end.code, end.reason)
  script.variables.assign({ ai_result: 'success', return_value: 'success' })
  return hasLeft ? host.outcome : undefined
}

/** Name of the parameter that the whole object stands for. */
const whole = 'agent'

const agentMethod = (form: Form, description: string, properties: Schema): Method => ({
  description,
  properties: { [whole]: properties },
  required: [whole],
  wholeParameter: whole,
  plain: [whole],
  check: readers[form],
  failed: { ai_result: 'failed', return_value: 'failed' },
  run: run(form),
})

/** Methods that hand the call to a voice agent. */
export const agents: Readonly<Record<string, Method>> = {
  ai: agentMethod(
    'swaig',
    'Hands the call to a voice agent, and continues when the conversation ends.',
    agentSchema,
  ),
  amazon_bedrock: agentMethod(
    'bedrock',
    'Hands the call to a voice agent, by a smaller document and other requests than ai.',
    anyObject('Document of the agent.'),
  ),
}
