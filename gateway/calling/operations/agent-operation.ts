import type { AgentRequest, AgentRequestEnd } from '../../../handlers/agent/agent-runner.ts'
import { readBedrock } from '../../../handlers/agent/bedrock.ts'
import { readAgent } from '../../../handlers/agent/document.ts'
import type { CallControl } from '../../../handlers/verbs.ts'
import { type Fields, Refusal } from './command-fields.ts'
import { failureCode, type OperationCall } from './operation-types.ts'
import { VerbOperation } from './verb-operation.ts'

/** Runs a voice agent on a call; see `RunAgentRequest`. */
export type RunAgent = (control: CallControl, request: AgentRequest) => Promise<AgentRequestEnd>

const readers = { ai: readAgent, amazon_bedrock: readBedrock }

/**
 * Reads the params of `calling.ai` and `calling.amazon_bedrock`: the document of an agent besides the ids.
 * Throws 400 for a document that cannot run, and 422 for an agent by its name.
 */
export const readAgentRequest = (params: Fields, method: AgentRequest['method']): AgentRequest => {
  const { node_id, call_id, control_id, agent, ...document } = params.all
  if (agent !== undefined && agent !== null)
    throw new Refusal('422', 'agent: an agent by its name is not available; send its document')
  const [fault] = readers[method](document).faults
  if (fault) throw new Refusal('400', `${fault.path.slice(1).replaceAll('/', '.')}: ${fault.message}`)
  return { method, document, path: '' }
}

/** `calling.ai` and `calling.amazon_bedrock`: states finished and error. */
export class AgentOperation extends VerbOperation {
  readonly kind = 'ai'
  readonly #request: AgentRequest
  readonly #run: RunAgent

  constructor(call: OperationCall, id: string, request: AgentRequest, run: RunAgent) {
    super(call, id)
    this.#request = request
    this.#run = run
  }

  async run(): Promise<void> {
    try {
      const end = await this.#run(this.call.control, { ...this.#request, stop: this.abort.signal })
      this.#send(end.kind === 'failed' ? end.code : undefined)
    } catch (error) {
      this.#send(failureCode(error))
    }
  }

  #send(code: string | undefined): void {
    const state = code === undefined ? 'finished' : 'error'
    this.sendEvent('ai', { state, ...(code !== undefined && { error: code }) })
  }
}
