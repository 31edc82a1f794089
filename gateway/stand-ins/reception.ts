import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { WebSocketServer } from 'ws'
import { readJsonObject } from '../core/json.ts'
import type { Journal } from './journal.ts'
import { wait } from './perform.ts'
import type { EngineName, ErrorKind } from './script-types.ts'
import { httpEngines, socketEngines } from './served-engines.ts'
import { errorFacts, type HttpCall, type Stand, sendError } from './stand.ts'
import { StandInSocket } from './stand-in-socket.ts'

/** Options of a {@link Reception}. */
export interface ReceptionOptions {
  readonly stand: Stand
  readonly log: Journal
  /** Texts that the next recogniser understands. */
  readonly shared: string[]
  /** Key that clients must present; default any. */
  readonly key?: string
}

/** Maximum size of a WebSocket message, the limit of OpenAI's server. */
const maxPayload = 15 * 1024 * 1024

/** Decision of the rules about a connection. */
type Verdict = 'accept' | 'close' | 'ignore' | ErrorKind

/**
 * Entrance of the stand-ins: finds the engine of a path, checks the key, and applies the rules for
 * `connect`.
 */
export class Reception {
  readonly #options: ReceptionOptions
  readonly #sockets = new WebSocketServer({ noServer: true, maxPayload })
  readonly #closing = new AbortController()
  readonly #open = new Set<Duplex>()

  constructor(options: ReceptionOptions) {
    this.#options = options
  }

  /** Closes all WebSockets, and gives up connections that wait. */
  close(): void {
    this.#closing.abort()
    for (const client of this.#sockets.clients) client.terminate()
    for (const socket of this.#open) socket.destroy()
  }

  /** Serves a request for a WebSocket. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => {})
    this.#open.add(socket)
    socket.once('close', () => this.#open.delete(socket))
    void this.#upgrade(request, socket, head)
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const url = urlOf(request)
    const engine = socketEngines.find((each) => each.serves(url.pathname))
    if (!engine) return refuse(socket, 404)
    const journal = this.#options.log.open(engine.name, `${url.pathname}${url.search}`)
    const verdict = await this.#judge(engine.name, request, url)
    if (verdict === 'ignore') return
    if (verdict !== 'accept') journal.closed(verdict)
    if (verdict === 'close') return void socket.destroy()
    if (verdict !== 'accept') return refuse(socket, errorFacts[verdict].status)
    this.#sockets.handleUpgrade(request, socket, head, (client) =>
      engine.open({
        stand: this.#options.stand,
        socket: new StandInSocket(client, journal),
        url,
        headers: request.headers,
      }),
    )
  }

  /** Serves an HTTP request. */
  request(request: IncomingMessage, response: ServerResponse): void {
    void this.#request(request, response).catch((error: unknown) => {
      if (response.headersSent) return response.destroy()
      response.writeHead(500, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: { message: String(error), type: 'server_error' } }))
    })
  }

  async #request(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = urlOf(request)
    if (url.pathname.startsWith('/_stand-ins/')) return this.#control(request, response, url)
    const engine = httpEngines.find((each) => each.method === request.method && each.serves(url.pathname))
    if (!engine) {
      response.writeHead(404, { 'content-type': 'application/json' })
      return void response.end(JSON.stringify({ error: { message: `No stand-in at ${url.pathname}.` } }))
    }
    const journal = this.#options.log.open(engine.name, `${url.pathname}${url.search}`)
    const ended = new AbortController()
    response.on('close', () => {
      journal.closed(response.writableFinished ? 'end' : 'broken')
      ended.abort()
    })
    const body = await buffer(request)
    journal.received(engine.method, bodyOf(request, body))
    const { stand } = this.#options
    const call: HttpCall = { stand, url, request, response, body, journal, signal: ended.signal }
    const verdict = await this.#judge(engine.name, request, url)
    if (verdict === 'close') response.destroy()
    else if (verdict === 'accept') await engine.answer(call)
    else if (verdict !== 'ignore') sendError(call, verdict)
  }

  /** Checks the key, and applies the rule for `connect`. */
  async #judge(engine: EngineName, request: IncomingMessage, url: URL): Promise<Verdict> {
    const { stand, key } = this.#options
    if (key !== undefined && !keysOf(request, url).includes(key)) return 'unauthorised'
    for (const action of stand.dialogue.choose(engine, { on: 'connect' })?.actions ?? []) {
      if (action.kind === 'after') await wait(stand.clock, action.ms, this.#closing.signal)
      if (action.kind === 'error') return action.error
      if (action.kind === 'close') return 'close'
      if (action.kind === 'stall' || (action.kind === 'quirk' && action.name === 'half-open')) return 'ignore'
    }
    return 'accept'
  }

  async #control(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const { log, shared } = this.#options
    const route = `${request.method} ${url.pathname.slice('/_stand-ins'.length)}`
    const after = Number(url.searchParams.get('after') ?? 0)
    if (route === 'GET /log')
      return answer(
        response,
        200,
        log.entries.filter(({ number }) => number > after),
      )
    if (route === 'DELETE /log') {
      log.clear()
      return answer(response, 204)
    }
    if (route !== 'POST /hear')
      return answer(response, 404, { error: 'GET or DELETE /log, POST /hear expected' })
    const { text } = objectOf(await buffer(request)) ?? {}
    if (typeof text !== 'string') return answer(response, 400, { error: 'text: a text expected' })
    shared.push(text)
    answer(response, 204)
  }
}

const answer = (response: ServerResponse, status: number, body?: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(body === undefined ? undefined : JSON.stringify(body))
}

const refuse = (socket: Duplex, status: number): void => {
  const text = status === 401 ? 'Unauthorized' : status === 429 ? 'Too Many Requests' : 'Error'
  socket.end(`HTTP/1.1 ${status} ${text}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
}

const urlOf = (request: IncomingMessage): URL => {
  const url = URL.parse(request.url ?? '/', 'http://stand-ins')
  if (!url) return new URL('http://stand-ins/')
  // Some clients join their base address and the path with two slashes.
  url.pathname = url.pathname.replace(/\/{2,}/g, '/')
  return url
}

/** Returns every text of a request that may be its key. */
const keysOf = ({ headers }: IncomingMessage, url: URL): readonly string[] => {
  const [, given] = /^(?:bearer|token)\s+(\S.*)$/i.exec(headers.authorization ?? '') ?? []
  const named = ['api-key', 'x-api-key', 'xi-api-key', 'x-goog-api-key'].map((name) => headers[name])
  const protocols = (headers['sec-websocket-protocol'] ?? '').split(',').map((each) => each.trim())
  const all = [given, ...named, url.searchParams.get('key'), ...protocols]
  return all.filter((each) => typeof each === 'string')
}

const objectOf = (body: Buffer): Record<string, unknown> | undefined => {
  try {
    return readJsonObject(body.toString())
  } catch {
    return undefined
  }
}

const bodyOf = (request: IncomingMessage, body: Buffer): unknown =>
  objectOf(body) ?? { contentType: request.headers['content-type'] ?? '', bytes: body.length }
