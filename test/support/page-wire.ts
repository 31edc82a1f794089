import type { Page } from 'playwright-core'
import { until } from './until.ts'

// biome-ignore lint/suspicious/noExplicitAny: the shapes of frames are what is tested.
type Fields = Record<string, any>

/** A JSON-RPC frame, as it went over a page's WebSocket. */
export interface WireFrame extends Fields {
  readonly id?: unknown
  readonly method?: string
}

/** A request of a page over HTTP, by its own scripts. */
export interface WireRequest {
  readonly method: string
  readonly url: string
  readonly token: string | undefined
}

/** Frames between a page and the gateway, captured by the browser without the page's help. */
export class PageWire {
  readonly sent: WireFrame[] = []
  readonly received: WireFrame[] = []
  readonly requests: WireRequest[] = []
  /** URLs of the WebSockets so far. */
  readonly sockets: string[] = []

  /** Listens to a page, which has not been opened yet. */
  constructor(page: Page) {
    page.on('websocket', (socket) => {
      this.sockets.push(socket.url())
      socket.on('framesent', ({ payload }) => this.sent.push(JSON.parse(String(payload))))
      socket.on('framereceived', ({ payload }) => this.received.push(JSON.parse(String(payload))))
    })
    page.on('request', (request) => {
      if (!['fetch', 'xhr'].includes(request.resourceType())) return
      const token = request.headers().authorization?.replace('Bearer ', '')
      this.requests.push({ method: request.method(), url: request.url(), token })
    })
  }

  /** Requests of the page by this method; verto's by that of its message. */
  asked(method: string): WireFrame[] {
    return this.sent.filter((frame) => methodOf(frame) === method)
  }

  /** Results and errors of {@link asked}. */
  answers(method: string): WireFrame[] {
    const ids = new Set(this.asked(method).map(({ id }) => id))
    return this.received.filter((frame) => frame.method === undefined && ids.has(frame.id))
  }

  /**
   * Parameters of the gateway's events of a type. The type is a verto method for verto's events; default all
   * events. With `from`, only those after the first `from` frames.
   */
  events(type: string, from = 0): Fields[] {
    return this.received.slice(from).flatMap(({ params }) => {
      if (params?.event_type === type) return [params.params]
      return params?.params?.method === type ? [params.params.params] : []
    })
  }

  /** Waits until there are so many more events of this type than there were, and gives the last. */
  async event(type: string, before: number): Promise<Fields> {
    const count = () => this.events(type).length
    await until(`the event ${type}`, count, (now) => now > before)
    return this.events(type).at(-1) ?? {}
  }
}

const methodOf = ({ method, params }: WireFrame): string | undefined =>
  method === 'webrtc.verto' ? params.message.method : method
