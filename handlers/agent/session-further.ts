import { redactedUrl } from '../common/urls.ts'
import type { FunctionInclude, FunctionReply, Json } from './document-types.ts'
import { includeRequest, readInclude } from './includes.ts'
import type { FurtherFunctions } from './session-functions.ts'
import type { SessionState } from './session-state.ts'

/** Functions that other servers describe. */
export class FurtherServers implements FurtherFunctions {
  readonly #state: SessionState

  constructor(state: SessionState) {
    this.#state = state
  }

  /** Asks every server of the document for its functions. Never rejects. */
  async load(): Promise<void> {
    const { document } = this.#state
    await Promise.all(document.includes.map((include) => this.#include(include)))
  }

  run(_name: string, _args: Json, _signal: AbortSignal): Promise<FunctionReply> | undefined {
    return undefined
  }

  async #include(include: FunctionInclude): Promise<void> {
    const state = this.#state
    const { host } = state
    const url = state.fill(include.target.url)
    const { projectId } = host.call.info
    try {
      const body = includeRequest(include, {
        projectId,
        ...(host.spaceId !== '' && { spaceId: host.spaceId }),
      })
      const { text } = await host.context.fetchDocument({
        url,
        method: 'POST',
        body: { contentType: 'application/json', text: JSON.stringify(body) },
      })
      const { functions, warnings } = readInclude(JSON.parse(text), include)
      for (const { path, message } of warnings) host.warn(`${redactedUrl(url)}: ${path || '/'} ${message}.`)
      if (state.isOver) return
      state.addFunctions(functions)
      state.refresh()
    } catch (error) {
      if (host.call.signal.aborted) return
      const reason = error instanceof SyntaxError ? 'the reply is not JSON' : (error as Error).message
      host.warn(`The functions of ${redactedUrl(url)} are not known: ${reason}`)
    }
  }
}
