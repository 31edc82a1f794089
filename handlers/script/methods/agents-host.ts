import type { Json } from '../../agent/document-types.ts'
import { matchPattern } from '../../agent/patterns.ts'
import type { ActionResult, AgentHost } from '../../agent/session.ts'
import { codes } from '../codes.ts'
import type { Outcome, ScriptContext } from '../method.ts'

/** Surroundings of an agent in a script. */
export class ScriptAgentHost implements AgentHost {
  readonly form: 'swaig' | 'bedrock'
  readonly #script: ScriptContext
  readonly #path: string
  /** Continuation of the script after an agent that was left. */
  outcome: Outcome

  constructor(script: ScriptContext, path: string, form: 'swaig' | 'bedrock') {
    this.#script = script
    this.#path = path
    this.form = form
  }

  get call() {
    return this.#script.call
  }

  get context() {
    return this.#script.context
  }

  get timers() {
    return this.#script.timers
  }

  get stop() {
    return this.#script.stopAgents
  }

  get onTranscript() {
    return this.#script.onTranscript
  }

  get memory() {
    return this.#script.agents
  }

  get spaceId(): string {
    const { space_id: spaceId } = this.#script.variables.all.call
    return spaceId ? String(spaceId) : this.call.info.projectId
  }

  get variables(): { readonly vars: Json; readonly call: Json } {
    const { vars, call } = this.#script.variables.all
    return { vars, call }
  }

  warn(message: string): void {
    this.context.warn({ code: codes.agent, message, path: this.#path })
  }

  matches(pattern: string, ignoreCase: boolean, text: string): Promise<boolean> {
    const { variables } = this.#script
    const evaluate = (expression: string, of: Json) => variables.evaluateWith(expression, of)
    return matchPattern(evaluate, { source: pattern, ignoreCase }, text)
  }

  async run(document: unknown): Promise<ActionResult> {
    const { variables } = this.#script
    variables.assign({ ai_response: undefined })
    let { outcome } = await this.#script.perform(textOf(document))
    // A transfer inside the action is temporary: the conversation goes on after it.
    while (outcome?.kind === 'transfer')
      ({ outcome } = await this.#script.execute(outcome.to, outcome.params))
    if (outcome) {
      this.outcome = outcome
      return { hasLeft: true }
    }
    const response = variables.lookup('ai_response')
    return { hasLeft: false, ...(response !== undefined && { response: asResponse(response) }) }
  }

  async leave(to: unknown, params: Json): Promise<void> {
    this.outcome = { kind: 'transfer', to: await this.#script.find(textOf(to), params), params }
  }
}

/** Returns a document or destination as a text. */
const textOf = (document: unknown): string =>
  typeof document === 'string' ? document : JSON.stringify(document)

const asResponse = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
