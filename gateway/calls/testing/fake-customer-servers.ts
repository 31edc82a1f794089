import type {
  FetchedDocument,
  HttpRequest,
  HttpResponse,
  SocketListener,
  SocketRequest,
  StatusCallback,
} from '../../../handlers/handler.ts'
import type { Callbacks } from '../../callbacks/callback-outbox.ts'
import type { CustomerHttp } from '../../callbacks/customer-http.ts'

/**
 * Customers' servers for tests: prepared documents and answers, with the requests and callbacks that they
 * have received.
 */
export class FakeCustomerServers {
  /** Documents by URL; any other URL fails. */
  readonly files = new Map<string, FetchedDocument>()
  readonly requests: HttpRequest[] = []
  /** WebSockets that were opened. */
  readonly sockets: {
    readonly request: SocketRequest
    readonly projectId: string
    readonly listener: SocketListener
  }[] = []
  readonly received: {
    readonly projectId: string
    readonly callId: string
    readonly callback: StatusCallback
  }[] = []

  readonly documents: { -readonly [K in 'document' | 'request' | 'openSocket']: CustomerHttp[K] } = {
    document: async ({ url }) => this.files.get(url) ?? Promise.reject(new Error(`404 for ${url}`)),
    request: async (request): Promise<HttpResponse> => {
      this.requests.push(request)
      return { status: 200, headers: {}, text: '' }
    },
    openSocket: (request, projectId, listener) => {
      this.sockets.push({ request, projectId, listener })
      return { send: () => {}, close: () => {} }
    },
  }

  readonly callbacks: Callbacks = {
    notify: (from, callback) => this.received.push({ ...from, callback }),
  }
}
