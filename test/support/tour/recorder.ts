import type { ApiExamples, OperationExamples } from '../../../gateway/http/requests/openapi-examples.ts'
import type { Gateway } from '../gateway.ts'
import { authorization } from '../recorded.ts'
import type { RestAnswer } from '../rest.ts'
import { Stable } from './stable.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

interface Operation {
  readonly id: string
  readonly method: string
  /** Template of the path, in parts such as `{id}`. */
  readonly path: readonly string[]
  /** Declared statuses. */
  readonly statuses: readonly string[]
}

interface DocumentedOperation {
  readonly operationId: string
  readonly responses: object
}

/** Reads the operations of an OpenAPI document. */
const operationsOf = (document: {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>
}): readonly Operation[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, responses }]) => ({
      id: operationId,
      method: method.toUpperCase(),
      path: path.split('/'),
      statuses: Object.keys(responses),
    })),
  )

/** Returns the name of a request among the examples of its operation. */
const nameOf = (body: unknown): string => {
  const { command, method } = body as { readonly command?: string; readonly method?: string }
  return command ?? method ?? 'request'
}

const isParameter = (part: string): boolean => part.startsWith('{')

/** Sends requests to the REST API of a gateway, and keeps them with their responses as examples. */
export class ApiRecorder {
  readonly gateway: Gateway
  /** Replaces what differs from run to run. */
  readonly stable = new Stable()
  readonly #operations: readonly Operation[]
  readonly #examples: Record<string, OperationExamples> = {}

  constructor(gateway: Gateway, operations: readonly Operation[]) {
    this.gateway = gateway
    this.#operations = operations
    this.stable.rename(`https://gw.localhost:${gateway.tlsPort}`, 'https://gw.example.com')
    this.stable.rename(`127.0.0.1:${gateway.httpPort}`, 'gw.example.com')
    this.stable.rename(`http://127.0.0.1:${gateway.httpPort}`, 'https://gw.example.com')
  }

  /** Reads the operations from the document that the gateway serves. */
  static async open(gateway: Gateway): Promise<ApiRecorder> {
    const answer = await fetch(`${gateway.url}/openapi.json`)
    return new ApiRecorder(gateway, operationsOf((await answer.json()) as Parameters<typeof operationsOf>[0]))
  }

  /** Ids of all operations. */
  get operationIds(): readonly string[] {
    return this.#operations.map(({ id }) => id)
  }

  /** Examples so far, in the order of the document. */
  get examples(): ApiExamples {
    const recorded = this.operationIds.filter((id) => this.#examples[id])
    return Object.fromEntries(recorded.map((id) => [id, this.#examples[id]!]))
  }

  /** Sends a request with a JSON body. Throws if the status is not `status`, by default 200 to 299. */
  async json(
    method: Method,
    path: string,
    body?: object,
    { status, credentials }: { readonly status?: number; readonly credentials?: string } = {},
  ): Promise<RestAnswer['body']> {
    const type = 'application/json'
    const sent = body && { body: JSON.stringify(body), type }
    return this.#ask(method, path, body, sent, status, credentials)
  }

  /** Sends a request with a form, as the XML family expects it. */
  async form(
    method: Method,
    path: string,
    fields?: Readonly<Record<string, string | boolean>>,
    status?: number,
  ): Promise<RestAnswer['body']> {
    const texts = Object.entries(fields ?? {}).map(([name, value]) => [name, String(value)] as const)
    const type = 'application/x-www-form-urlencoded'
    const sent = fields && { body: new URLSearchParams(Object.fromEntries(texts)).toString(), type }
    return this.#ask(method, path, fields, sent, status)
  }

  async #ask(
    method: Method,
    path: string,
    body: unknown,
    sent: { readonly body: string; readonly type: string } | undefined,
    wanted: number | undefined,
    credentials = authorization,
  ): Promise<RestAnswer['body']> {
    const answer = await fetch(`${this.gateway.url}${path}`, {
      method,
      headers: { authorization: credentials, ...(sent && { 'content-type': sent.type }) },
      ...(sent && { body: sent.body }),
    })
    const { status } = answer
    const isJson = answer.headers.get('content-type')?.startsWith('application/json')
    const received = isJson ? await answer.json() : await answer.arrayBuffer()
    if (wanted === undefined ? !answer.ok : status !== wanted)
      throw new Error(`${method} ${path}: ${status} ${JSON.stringify(received)}`)
    this.#keep(method, path, body, status, isJson ? received : null)
    return received
  }

  #keep(method: Method, path: string, body: unknown, status: number, received: unknown): void {
    const { pathname, searchParams } = new URL(path, 'http://gw')
    const operation = this.#operationOf(method, pathname)
    if (!operation) throw new Error(`${method} ${pathname} is no operation of the document`)
    if (!operation.statuses.includes(String(status)))
      throw new Error(`${method} ${pathname}: the operation does not declare ${status}.`)
    const isGood = status < 400
    const { requests, parameters, responses } = this.#examples[operation.id] ?? { responses: {} }
    const inPath = { ...this.#valuesOf(operation, pathname), ...Object.fromEntries(searchParams) }
    // The first request of a POST is shown with its response. Later reads show a finished object.
    const isShown = method === 'POST' && status in responses
    const hasValues = isGood && !isShown && Object.keys(inPath).length > 0
    const values = hasValues ? this.stable.texts(inPath) : parameters
    const isNew = isGood && body !== undefined && !(isShown && nameOf(body) in (requests ?? {}))
    const bodies = isNew ? { ...requests, [nameOf(body)]: this.stable.request(body) } : requests
    this.#examples[operation.id] = {
      ...(values && { parameters: values }),
      ...(bodies && { requests: bodies }),
      responses: isShown ? responses : { ...responses, [status]: this.stable.response(received) },
    }
  }

  /** Finds the operation of a path. A literal part comes before a parameter. */
  #operationOf(method: string, pathname: string): Operation | undefined {
    const parts = pathname.split('/')
    const matches = this.#operations.filter(
      ({ method: its, path }) =>
        its === method &&
        path.length === parts.length &&
        path.every((part, at) => isParameter(part) || part === parts[at]),
    )
    const literals = ({ path }: Operation) => path.filter((part) => !isParameter(part)).length
    return matches.sort((a, b) => literals(b) - literals(a))[0]
  }

  #valuesOf({ path }: Operation, pathname: string): Record<string, string> {
    const parts = pathname.split('/')
    return Object.fromEntries(
      path.flatMap((part, at) => (isParameter(part) ? [[part.slice(1, -1), parts[at] ?? '']] : [])),
    )
  }
}
