import type { FunctionDefinition, Json } from './document-types.ts'
import type { Hook } from './function-names.ts'
import { argumentsFor, functionRequest } from './function-request.ts'
import type { FunctionRunner } from './session-functions.ts'
import { sendLater } from './session-notify.ts'
import { requestFacts } from './session-requests.ts'
import type { SessionState } from './session-state.ts'

/**
 * Functions that a document has for the end of the conversation. Webhooks are delivered in the background, as
 * the report is; data maps and tools of other servers run at once. Nothing acts on their replies.
 */
export class EndHooks {
  readonly #state: SessionState
  readonly #runner: FunctionRunner
  readonly #running: Promise<void>[] = []

  constructor(state: SessionState, runner: FunctionRunner) {
    this.#state = state
    this.#runner = runner
  }

  /** Calls the function that the document has for an occasion; has no effect without one. Never throws. */
  call(hook: Hook, args: Json): void {
    const of = this.#state.functions.hook(hook)
    if (!of) return
    if (this.#runner.isByWebhook(of)) this.#post(of, args)
    else this.#running.push(this.#runner.afterEnd(of, args))
  }

  /** Resolves when no function runs any more. */
  async done(): Promise<void> {
    await Promise.all(this.#running)
  }

  #post(of: FunctionDefinition, args: Json): void {
    const state = this.#state
    const target = of.webhook ?? state.document.defaultWebhook
    if (!target) {
      state.host.warn(`The function ${of.name} has neither a web_hook_url nor a data_map.`)
      return
    }
    const given = argumentsFor(args)
    const body = functionRequest(of, given, requestFacts(state, of))
    sendLater(state, { kind: 'agent-function', url: target.url, body })
  }
}
