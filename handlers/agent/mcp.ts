import type { HttpRequest, HttpResponse } from '../handler.ts'
import type { AgentFault, FunctionDefinition, Json, McpServer } from './document-types.ts'
import { Findings, Section } from './section.ts'
import { readFunctions } from './swaig.ts'
import { dataLimits, isObject, sizeFault, textOf } from './values.ts'

/** Version of the Model Context Protocol that the client asks for. */
const protocolVersion = '2025-06-18'

/** Maximum number of pages of a list, of tools, and of resources. */
const maxPages = 8
const maxTools = 128
const maxResources = 32

/** Error of a server of the Model Context Protocol; its message describes the failure. */
export class McpFailed extends Error {}

/** Sends a request. Throws if there is no response. */
export type SendRequest = (request: HttpRequest, signal?: AbortSignal) => Promise<HttpResponse>

/** Result of a tool. */
export interface McpResult {
  readonly text: string
  readonly isError: boolean
}

/** Returns the messages of a body: JSON, or the data of server-sent events. */
const messagesOf = ({ headers, text }: HttpResponse): readonly unknown[] => {
  if (!headers['content-type']?.startsWith('text/event-stream')) return [parse(text)].flat()
  const messages: unknown[] = []
  let data: string[] = []
  for (const line of [...text.split(/\r\n|\n|\r/), '']) {
    if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5))
    else if (line === '' && data.length > 0) {
      messages.push(parse(data.join('\n')))
      data = []
    }
  }
  return messages.flat()
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Session with a server of the Model Context Protocol (revision 2025-06-18, streamable HTTP). The client
 * opens no stream of its own, so it receives no requests of the server.
 */
export class McpSession {
  readonly #server: McpServer
  readonly #send: SendRequest
  #lastId = 0
  #sessionId: string | undefined
  #version: string | undefined

  constructor(server: McpServer, send: SendRequest) {
    this.#server = server
    this.#send = send
  }

  /** Opens the session. Throws {@link McpFailed}. */
  async open(signal?: AbortSignal): Promise<void> {
    const clientInfo = { name: 'trunkline', version: '1' }
    const result = await this.#call('initialize', { protocolVersion, capabilities: {}, clientInfo }, signal)
    this.#version = textOf(result.protocolVersion) ?? protocolVersion
    await this.#post({ method: 'notifications/initialized' }, signal)
  }

  /** Returns the tools of the server as entries of functions. Throws {@link McpFailed}. */
  async tools(signal?: AbortSignal): Promise<readonly Json[]> {
    const tools = await this.#list('tools/list', 'tools', maxTools, signal)
    return tools.map(({ name, title, description, inputSchema }) => ({
      function: name,
      description: textOf(description) ?? textOf(title) ?? textOf(name),
      parameters: inputSchema,
    }))
  }

  /** Runs a tool. Throws {@link McpFailed} if the server does not answer with a result. */
  async callTool(name: string, args: Json, signal?: AbortSignal): Promise<McpResult> {
    const result = await this.#call('tools/call', { name, arguments: args }, signal)
    const content = Array.isArray(result.content) ? result.content.filter(isObject) : []
    const texts = content.flatMap((part) => textOf(part.text) ?? embeddedText(part) ?? [])
    const structured = result.structuredContent === undefined ? '' : JSON.stringify(result.structuredContent)
    return { text: texts.join('\n') || structured, isError: result.isError === true }
  }

  /** Returns the contents of the server's resources by name. Throws {@link McpFailed}. */
  async resources(signal?: AbortSignal): Promise<Json> {
    const plain = await this.#list('resources/list', 'resources', maxResources, signal)
    const templates =
      Object.keys(this.#server.resourceVars).length === 0
        ? []
        : await this.#list('resources/templates/list', 'resourceTemplates', maxResources, signal)
    const entries: [string, unknown][] = []
    for (const resource of [...plain, ...templates].slice(0, maxResources)) {
      const uri =
        textOf(resource.uri) ?? expand(textOf(resource.uriTemplate) ?? '', this.#server.resourceVars)
      if (uri) entries.push([textOf(resource.name) ?? uri, await this.#read(uri, signal)])
    }
    return Object.fromEntries(entries)
  }

  /** Ends the session. Never throws. */
  async close(): Promise<void> {
    if (this.#sessionId === undefined) return
    await this.#send({ url: this.#server.url, method: 'DELETE', headers: this.#headers() }).catch(
      () => undefined,
    )
    this.#sessionId = undefined
  }

  async #read(uri: string, signal?: AbortSignal): Promise<unknown> {
    const { contents } = await this.#call('resources/read', { uri }, signal)
    const parts = Array.isArray(contents) ? contents.filter(isObject) : []
    const text = parts.flatMap((part) => textOf(part.text) ?? []).join('\n')
    const value = parse(text)
    return value === undefined || sizeFault(value, dataLimits) !== undefined ? text : value
  }

  async #list(method: string, key: string, max: number, signal?: AbortSignal): Promise<readonly Json[]> {
    const items: Json[] = []
    let cursor: string | undefined
    for (let page = 0; page < maxPages && items.length < max; page++) {
      const result = await this.#call(method, cursor === undefined ? {} : { cursor }, signal)
      const found = result[key]
      if (Array.isArray(found)) for (const item of found.filter(isObject)) items.push(item)
      cursor = textOf(result.nextCursor)
      if (!cursor) break
    }
    return items.slice(0, max)
  }

  /** Sends a request of JSON-RPC and returns its result. */
  async #call(method: string, params: Json, signal?: AbortSignal): Promise<Json> {
    this.#lastId += 1
    const id = this.#lastId
    const response = await this.#post({ id, method, params }, signal)
    const answer = messagesOf(response).find((message) => isObject(message) && message.id === id)
    if (!isObject(answer)) throw new McpFailed(`${method}: the response is not valid, or longer than 64 kB`)
    if (isObject(answer.error))
      throw new McpFailed(
        `${method}: ${textOf(answer.error.message)?.slice(0, 200) ?? 'the server reports an error'}`,
      )
    if (!isObject(answer.result)) throw new McpFailed(`${method}: the response has no result`)
    const size = sizeFault(answer.result, dataLimits)
    if (size !== undefined) throw new McpFailed(`${method}: the response ${size}`)
    return answer.result
  }

  async #post(message: Json, signal?: AbortSignal): Promise<HttpResponse> {
    const body = { contentType: 'application/json', text: JSON.stringify({ jsonrpc: '2.0', ...message }) }
    const request: HttpRequest = { url: this.#server.url, method: 'POST', headers: this.#headers(), body }
    const response = await this.#send(request, signal).catch((error: unknown) => {
      throw new McpFailed(error instanceof Error ? error.message : 'there was no response')
    })
    if (response.status >= 400) throw new McpFailed(`${message.method}: status ${response.status}`)
    this.#sessionId ??= response.headers['mcp-session-id']
    return response
  }

  #headers(): Readonly<Record<string, string>> {
    return {
      ...this.#server.headers,
      accept: 'application/json, text/event-stream',
      ...(this.#sessionId !== undefined && { 'mcp-session-id': this.#sessionId }),
      ...(this.#version !== undefined && { 'mcp-protocol-version': this.#version }),
    }
  }
}

/** Returns the text of a resource inside of a tool's result. */
const embeddedText = (part: Json): string | undefined =>
  isObject(part.resource) ? textOf(part.resource.text) : undefined

/** Replaces the variables of a template such as `crm://{customer}`. Undefined if one of them is absent. */
const expand = (template: string, variables: Json): string | undefined => {
  let isComplete = true
  const uri = template.replace(/\{([A-Za-z0-9_]{1,64})\}/g, (_all, name: string) => {
    const value = Object.hasOwn(variables, name) ? textOf(variables[name]) : undefined
    if (value === undefined) isComplete = false
    return encodeURIComponent((value ?? '').toWellFormed())
  })
  return isComplete ? uri : undefined
}

/** Functions and data of one server. */
export interface McpFunctions {
  readonly functions: readonly FunctionDefinition[]
  /** Contents of the server's resources by name; empty unless the document asks for them. */
  readonly resources: Json
  readonly warnings: readonly AgentFault[]
  /** Runs a function. Throws {@link McpFailed}. */
  call(name: string, args: Json, signal?: AbortSignal): Promise<McpResult>
  /** Ends the session. Never throws. */
  close(): Promise<void>
}

/**
 * Opens a session with a server, and reads its tools as functions. Never rejects: a faulty server has no
 * functions and a warning.
 */
export const openMcp = async (
  server: McpServer,
  send: SendRequest,
  signal?: AbortSignal,
): Promise<McpFunctions> => {
  const session = new McpSession(server, send)
  const findings = new Findings()
  const attempt = async <T>(run: () => Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await run()
    } catch (error) {
      findings.warn('', error instanceof Error ? error.message : 'the server has failed')
      return otherwise
    }
  }
  const isOpen = await attempt(async () => {
    await session.open(signal)
    return true
  }, false)
  const tools = isOpen ? await attempt(() => session.tools(signal), []) : []
  const sections = tools.map((tool, index) => new Section(tool, `/tools/${index}`, findings))
  return {
    functions: readFunctions(sections, {}),
    resources: isOpen && server.resources ? await attempt(() => session.resources(signal), {}) : {},
    warnings: findings.warnings,
    call: (name, args, callSignal) => session.callTool(name, args, callSignal),
    close: () => session.close(),
  }
}
