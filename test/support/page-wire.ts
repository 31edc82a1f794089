import type { Page } from 'playwright-core'
import { traceOnFailure } from './failure-report.ts'
import { until } from './until.ts'

// biome-ignore lint/suspicious/noExplicitAny: the shapes of frames are what is tested.
type Fields = Record<string, any>

/** JSON-RPC frame on a page's WebSocket. */
export interface WireFrame extends Fields {
  readonly id?: unknown
  readonly method?: string
}

/** HTTP request of a page's own scripts. */
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

  /** Captures the frames of a page; must be called before the page is opened. */
  constructor(page: Page) {
    const trace = traceOnFailure('frames of the page')
    const keep =
      (direction: 'sent' | 'received') =>
      ({ payload }: { payload: string | Buffer }): void => {
        trace(direction, payload)
        this[direction].push(JSON.parse(String(payload)))
      }
    page.on('websocket', (socket) => {
      this.sockets.push(socket.url())
      socket.on('framesent', keep('sent'))
      socket.on('framereceived', keep('received'))
    })
    page.on('request', (request) => {
      if (!['fetch', 'xhr'].includes(request.resourceType())) return
      const token = request.headers().authorization?.replace('Bearer ', '')
      this.requests.push({ method: request.method(), url: request.url(), token })
    })
  }

  /**
   * Returns the page's requests with this method; for `webrtc.verto`, the method of the inner message counts.
   */
  asked(method: string): WireFrame[] {
    return this.sent.filter((frame) => methodOf(frame) === method)
  }

  /** Returns the results and errors of the requests that {@link asked} returns. */
  answers(method: string): WireFrame[] {
    const ids = new Set(this.asked(method).map(({ id }) => id))
    return this.received.filter((frame) => frame.method === undefined && ids.has(frame.id))
  }

  /**
   * Returns the parameters of the gateway's events of a type; for verto's events, the type is the verto
   * method. With `from`, only events after the first `from` frames count.
   */
  events(type: string, from = 0): Fields[] {
    return this.received.slice(from).flatMap(({ params }) => {
      if (params?.event_type === type) return [params.params]
      return params?.params?.method === type ? [params.params.params] : []
    })
  }

  /** Waits for an event of this type beyond the first `before` ones, and returns the last. */
  async event(type: string, before: number): Promise<Fields> {
    const count = () => this.events(type).length
    await until(`the event ${type}`, count, (now) => now > before)
    return this.events(type).at(-1) ?? {}
  }
}

const methodOf = ({ method, params }: WireFrame): string | undefined =>
  method === 'webrtc.verto' ? params.message.method : method
