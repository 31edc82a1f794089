import type {
  DocumentFault,
  DocumentRequest,
  FetchedDocument,
  HandlerContext,
  HttpRequest,
  HttpResponse,
  StatusCallback,
} from '../handler.ts'

/**
 * Handler context for tests: serves documents by URL (an error as document is thrown), and records requests
 * and warnings.
 */
export class FakeContext implements HandlerContext {
  readonly documents: Record<string, string | Error>
  readonly contentType: string
  readonly requests: DocumentRequest[] = []
  readonly warnings: DocumentFault[] = []
  readonly callbacks: StatusCallback[] = []
  readonly outside: HttpRequest[] = []
  /** Responses of {@link request}, in order; without one the request fails. */
  readonly answers: HttpResponse[] = []
  readonly steps: { readonly path: string; readonly method: string; readonly node?: string }[] = []
  envs: Readonly<Record<string, string>> = {}
  status?: { readonly url: string; readonly method: 'GET' | 'POST' }
  /** Time that {@link now} returns. */
  time = Date.UTC(2026, 0, 5, 12)

  constructor(documents: Record<string, string | Error> = {}, contentType = '') {
    this.documents = documents
    this.contentType = contentType
  }

  /** Returns the form or query of a request as an object. */
  fields(index: number): Record<string, string> {
    const request = this.requests[index]
    const text = request?.method === 'GET' ? new URL(request.url).search : request?.body?.text
    return Object.fromEntries(new URLSearchParams(text))
  }

  async fetchDocument(request: DocumentRequest): Promise<FetchedDocument> {
    this.requests.push(request)
    const url = request.url.split('?', 1)[0] ?? ''
    const text = this.documents[url]
    if (text === undefined) throw new Error(`404 for ${url}`)
    if (text instanceof Error) throw text
    return { url: request.url, contentType: this.contentType, text }
  }

  notify(callback: StatusCallback): void {
    this.callbacks.push(callback)
  }

  async request(request: HttpRequest): Promise<HttpResponse> {
    this.outside.push(request)
    const answer = this.answers.shift()
    if (!answer) throw new Error(`no answer of ${request.url}`)
    return answer
  }

  warn(fault: DocumentFault): void {
    this.warnings.push(fault)
  }

  step(step: { readonly path: string; readonly method: string; readonly node?: string }): void {
    this.steps.push(step)
  }

  isOwnHost(host: string): boolean {
    return host === 'gw.example'
  }

  now(): number {
    return this.time
  }
}
