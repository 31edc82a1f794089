import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { formatHost } from '@trunkline/sip-agent/message'
import type { SteadyClock } from '../../core/clock.ts'
import { isJsonObject, readJsonObject } from '../../core/json.ts'
import type { FunctionReply } from '../scenario/scenario.ts'
import { wait } from '../wait.ts'

type Json = Readonly<Record<string, unknown>>

/** Maximum size of a request, in bytes. */
const maxBytes = 16 << 20

/** Request of a function that the test's server has answered. */
export interface ServedCall {
  readonly name: string
  readonly args: Json
  readonly result: unknown
  /** Time of the request, of the monotonic clock in ms. */
  readonly at: number
}

/** Requests about one call. */
export class CallWebhooks {
  readonly served: ServedCall[] = []
  readonly #reports: Json[] = []
  readonly #from: string | undefined
  #onReport: () => void = () => {}

  /** `from`: the caller's number; requests about another one are of an earlier call. */
  constructor(from?: string) {
    this.#from = from
  }

  /** Whether a request about a number can be about this call. */
  isAbout(number: string): boolean {
    return this.#from === undefined || number === '' || number === this.#from
  }

  /** Reports so far, in order of arrival: one of each agent of the document. */
  get reports(): readonly Json[] {
    return this.#reports
  }

  /** Sets the one listener, which is called after each report. */
  onReport(listener: () => void): void {
    this.#onReport = listener
  }

  /** Takes a report. One that was repeated has no effect. */
  reported(body: Json): void {
    const { ai_session_id: id } = body
    if (id !== undefined && this.#reports.some((each) => each.ai_session_id === id)) return
    this.#reports.push(body)
    this.#onReport()
  }
}

/** Address of a {@link FunctionServer}. */
export interface ServerAddress {
  readonly host: string
  readonly port: number
}

/**
 * Server of a test: answers functions by the scenario, and takes the reports of agents. Its paths are
 * `/functions` and `/report`, also below `/<caller>/`. Without a caller in the path, the caller's number
 * decides; without that, the only call in progress.
 */
export class FunctionServer {
  readonly #server: Server
  readonly #clock: SteadyClock
  readonly #functions: ReadonlyMap<string, FunctionReply>
  /** Calls in progress by the number of the caller. */
  readonly #calls = new Map<string, CallWebhooks>()

  private constructor(server: Server, functions: ReadonlyMap<string, FunctionReply>, clock: SteadyClock) {
    this.#clock = clock
    this.#server = server
    this.#functions = functions
    server.on('request', (request, response) => void this.#answer(request, response))
  }

  /** Opens the port; default a free one of 127.0.0.1. Rejects with an Error of Node. */
  static async open(
    functions: ReadonlyMap<string, FunctionReply>,
    clock: SteadyClock,
    { host, port }: ServerAddress = { host: '127.0.0.1', port: 0 },
  ): Promise<FunctionServer> {
    const server = createServer()
    server.listen(port, host)
    await once(server, 'listening')
    return new FunctionServer(server, functions, clock)
  }

  /** IP address that the server listens on. */
  get address(): string {
    return (this.#server.address() as AddressInfo).address
  }

  /** Base URL. */
  get url(): string {
    const { address, port } = this.#server.address() as AddressInfo
    return `http://${formatHost(address)}:${port}`
  }

  /**
   * Begins to take requests about a call. `key`: the caller's number, or its name in the path. `from`: the
   * caller's number; requests about others are refused. Default: any.
   */
  begin(key: string, from?: string): CallWebhooks {
    const webhooks = new CallWebhooks(from)
    this.#calls.set(key, webhooks)
    return webhooks
  }

  /** Ends a call: later requests about it are refused. */
  end(key: string): void {
    this.#calls.delete(key)
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = this.#clock.uptime()
    try {
      const body = await bodyOf(request)
      const [kind = '', key] = (request.url ?? '').split('?', 1)[0]!.split('/').filter(Boolean).reverse()
      const call = this.#callOf(key, body)
      if (!call) send(response, 404, { error: 'no call of this test' })
      else if (kind === 'report') takeReport(call, body, response)
      else if (kind === 'functions') await this.#run(call, body, at, response)
      else send(response, 404, { error: 'the paths are /functions and /report' })
    } catch (error) {
      send(response, 400, { error: error instanceof Error ? error.message : String(error) })
    }
  }

  async #run(call: CallWebhooks, body: Json, at: number, response: ServerResponse): Promise<void> {
    const name = String(body.function)
    const reply = this.#functions.get(name)
    if (!reply) {
      send(response, 404, { error: `the scenario has no reply for ${name}` })
      return
    }
    call.served.push({ name, args: argumentsOf(body), result: reply.body.response, at })
    await wait(this.#clock, reply.delayMs)
    send(response, 200, reply.body)
  }

  #callOf(key: string | undefined, body: Json): CallWebhooks | undefined {
    const number = String(body.caller_id_num ?? body.caller_id_number ?? '')
    const [only] = this.#calls.values()
    const unnamed = this.#calls.get(number) ?? (this.#calls.size === 1 ? only : undefined)
    const call = key === undefined ? unnamed : this.#calls.get(key)
    return call?.isAbout(number) ? call : undefined
  }
}

const bodyOf = async (request: IncomingMessage): Promise<Json> => {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new Error(`at most ${maxBytes} bytes expected`)
    chunks.push(chunk)
  }
  return readJsonObject(Buffer.concat(chunks).toString())
}

/**
 * Takes a report. An agent that saves conversations first asks its URL for the earlier ones, and gets no
 * summary of any.
 */
const takeReport = (call: CallWebhooks, body: Json, response: ServerResponse): void => {
  const { action } = body
  if (action === 'post_conversation') call.reported(body)
  else if (action !== 'fetch_conversation') {
    send(response, 400, { error: 'the action of a report is post_conversation' })
    return
  }
  send(response, 200, {})
}

const argumentsOf = ({ argument }: Json): Json => {
  const parsed = isJsonObject(argument) ? argument.parsed : undefined
  const [first] = Array.isArray(parsed) ? (parsed as readonly unknown[]) : []
  return isJsonObject(first) ? first : {}
}

const send = (response: ServerResponse, status: number, body: Json): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
