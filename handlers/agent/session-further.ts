import { redactedUrl } from '../common/urls.ts'
import type { FunctionInclude, FunctionReply, Json, McpServer } from './document-types.ts'
import { includeRequest, readInclude } from './includes.ts'
import { type McpFunctions, openMcp, type SendRequest } from './mcp.ts'
import { failedReply } from './session-failure.ts'
import type { FurtherFunctions } from './session-functions.ts'
import type { SessionState } from './session-state.ts'

/** Functions that other servers describe. Servers of the Model Context Protocol also run them. */
export class FurtherServers implements FurtherFunctions {
  readonly #state: SessionState
  /** Servers by the names of their functions. */
  readonly #byName = new Map<string, McpFunctions>()
  readonly #opened: McpFunctions[] = []

  constructor(state: SessionState) {
    this.#state = state
  }

  /** Asks every server of the document for its functions. Never rejects. */
  async load(): Promise<void> {
    const { includes, mcpServers } = this.#state.document
    await Promise.all([
      ...includes.map((include) => this.#include(include)),
      ...mcpServers.map((server) => this.#open(server)),
    ])
  }

  has(name: string): boolean {
    return this.#byName.has(name)
  }

  run(name: string, args: Json, signal: AbortSignal): Promise<FunctionReply> | undefined {
    const server = this.#byName.get(name)
    return server && this.#call(server, name, args, signal)
  }

  /** Ends the sessions with the servers. Never rejects. */
  async close(): Promise<void> {
    await Promise.all(this.#opened.map((server) => server.close()))
  }

  async #call(server: McpFunctions, name: string, args: Json, signal: AbortSignal): Promise<FunctionReply> {
    try {
      const { text } = await server.call(name, args, signal)
      return { response: text || 'Done.', effects: [], postProcess: false, warnings: [] }
    } catch (error) {
      return failedReply((error as Error).message)
    }
  }

  async #open(server: McpServer): Promise<void> {
    const state = this.#state
    const { host, over } = state
    const headers = Object.entries(server.headers).map(([name, value]) => [name, state.fill(value)])
    const filled = { ...server, url: state.fill(server.url), headers: Object.fromEntries(headers) }
    // Requests of the running agent are those of functions.
    const send: SendRequest = (request, signal) =>
      host.context.request({ ...request, ...state.functionTimeout }, signal)
    const opened = await openMcp(filled, send, over)
    if (state.isOver) return opened.close()
    this.#warn(filled.url, opened.warnings)
    this.#opened.push(opened)
    for (const { name } of opened.functions) if (!state.functions.get(name)) this.#byName.set(name, opened)
    // The data of the document counts more than a resource of the same name.
    state.setGlobalData({ ...opened.resources, ...state.globalData })
    this.#add(opened.functions)
  }

  async #include(include: FunctionInclude): Promise<void> {
    const state = this.#state
    const { host } = state
    const url = state.fill(include.target.url)
    const { projectId } = host.call.info
    const ids = { projectId, spaceId: host.spaceId }
    try {
      const text = JSON.stringify(includeRequest(include, ids))
      const body = { contentType: 'application/json', text }
      const reply = await host.context.fetchDocument({ url, method: 'POST', body })
      const { functions, warnings } = readInclude(JSON.parse(reply.text), include)
      this.#warn(url, warnings)
      this.#add(functions)
    } catch (error) {
      if (host.call.signal.aborted) return
      const reason = error instanceof SyntaxError ? 'the reply is not JSON' : (error as Error).message
      host.warn(`The functions of ${redactedUrl(url)} are not known: ${reason}`)
    }
  }

  #add(functions: McpFunctions['functions']): void {
    const state = this.#state
    if (state.isOver) return
    state.addFunctions(functions)
    state.refresh()
  }

  #warn(url: string, warnings: McpFunctions['warnings']): void {
    for (const { path, message } of warnings)
      this.#state.host.warn(`${redactedUrl(url)}: ${path || '/'} ${message}.`)
  }
}
