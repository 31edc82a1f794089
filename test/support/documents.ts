import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { traceOnFailure } from './failure-report.ts'

/** Request for a document. */
export interface DocumentRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Form fields or query parameters. */
  readonly fields: Readonly<Record<string, string>>
  readonly body: string
}

/** Content of a path: a text, a text made for each request, or a sound as a WAV file. */
export type Document = string | Buffer | ((request: DocumentRequest) => string)

/** Custom answer to a request; may leave the request unanswered. */
export type Answering = (response: ServerResponse, request: IncomingMessage) => void

const typeOf = (content: string | Buffer | undefined): string => {
  if (typeof content !== 'string') return content ? 'audio/wav' : 'text/plain'
  return content.startsWith('<') ? 'application/xml' : 'application/json'
}

/** A customer's web server, with the requests it received. */
export class DocumentServer {
  readonly #server: Server
  readonly #documents = new Map<string, Document>()
  readonly #answering = new Map<string, Answering>()
  readonly requests: DocumentRequest[] = []

  constructor() {
    const trace = traceOnFailure('server of the customer')
    this.#server = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const body = Buffer.concat(chunks).toString()
      const url = new URL(request.url ?? '/', 'http://localhost')
      const form = request.headers['content-type']?.startsWith('application/x-www-form-urlencoded')
      const fields = Object.fromEntries(form ? new URLSearchParams(body) : url.searchParams)
      const received = {
        method: request.method ?? '',
        path: url.pathname,
        headers: request.headers,
        fields,
        body,
      }
      this.requests.push(received)
      trace('received', `${request.method} ${request.url}\n${body}`)
      response.once('close', () =>
        trace('sent', `${response.statusCode} to ${request.method} ${request.url}`),
      )
      const answer = this.#answering.get(url.pathname)
      if (answer) return answer(response, request)
      const document = this.#documents.get(url.pathname)
      const text = typeof document === 'function' ? document(received) : document
      response.statusCode = text === undefined ? 404 : 200
      response.setHeader('content-type', typeOf(text))
      response.end(text ?? 'not here')
    })
  }

  /** Listens on a free port of an IPv4 address. */
  static async open(address = '127.0.0.1'): Promise<DocumentServer> {
    const server = new DocumentServer()
    server.#server.listen(0, address)
    await once(server.#server, 'listening')
    return server
  }

  /** Puts a document at a path, and returns its URL. */
  put(path: string, document: Document): string {
    this.#documents.set(path, document)
    return this.urlOf(path)
  }

  /** Lets `answer` answer the requests for a path, and returns its URL. */
  answers(path: string, answer: Answering): string {
    this.#answering.set(path, answer)
    return this.urlOf(path)
  }

  /** Returns the requests for a path so far. */
  asked(path: string): DocumentRequest[] {
    return this.requests.filter((request) => request.path === path)
  }

  /** Returns the URL of a path, with or without a document. */
  urlOf(path: string): string {
    const { address, port } = this.#server.address() as { address: string; port: number }
    return `http://${address}:${port}${path}`
  }

  /** Closes the server and its connections. */
  async close(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
