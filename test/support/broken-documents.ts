import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'

/** What a server can do wrong with a document, by path. */
const faults: Readonly<Record<string, (response: ServerResponse) => void>> = {
  '/status': (response) => response.writeHead(500).end(),
  // Never answers; its connection is closed with the server.
  '/silent': () => {},
  '/reset': (response) => response.destroy(),
  '/loop': (response) => response.writeHead(302, { location: '/loop' }).end(),
  '/huge': (response) => response.end(`<Response><!--${'x'.repeat(300_000)}--></Response>`),
  '/large': (response) => response.end(`<Response><!--${'x'.repeat(70_000)}--></Response>`),
  '/garbled': (response) => response.end('<Response><Say>unclosed</Response>'),
  '/picture': (response) => response.writeHead(200, { 'content-type': 'image/png' }).end('png'),
}

/** A customer's web server on which nothing works. */
export class BrokenDocuments {
  readonly #server: Server

  constructor() {
    this.#server = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? '/', 'http://localhost')
      request.resume().on('end', () => (faults[pathname] ?? faults['/status'])?.(response))
    })
  }

  /** Listens on a free port of 127.0.0.1. */
  static async open(): Promise<BrokenDocuments> {
    const broken = new BrokenDocuments()
    broken.#server.listen(0, '127.0.0.1')
    await once(broken.#server, 'listening')
    return broken
  }

  /** The URL of a fault: `/status` (500), `/silent`, `/reset`, `/loop` (of redirects), `/huge` (300 kB), `/large` (70 kB), `/garbled`, `/picture`. */
  urlOf(path: string): string {
    return `http://127.0.0.1:${(this.#server.address() as { port: number }).port}${path}`
  }

  /** Closes it with its connections. */
  async close(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
