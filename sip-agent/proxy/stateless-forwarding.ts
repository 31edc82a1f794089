import { createHmac, randomBytes } from 'node:crypto'
import type { AppHeader } from '../core/app-headers.ts'
import type { Context } from '../core/context.ts'
import { loopMark } from '../core/loops.ts'
import { makeVia, ownAddressFor } from '../core/requests.ts'
import { type FlowOrHop, isHop, openFlow } from '../core/uac/flow-or-hop.ts'
import { retryAfter } from '../core/uas/incoming-requests.ts'
import { makeResponse, responseTemplate } from '../core/uas/responses.ts'
import { type Addressing, addressing } from '../dialog/addressing.ts'
import type { SipRequest, SipResponse } from '../message/message.ts'
import { serialiseMessage } from '../message/serialise.ts'
import { splitOutside } from '../message/text.ts'
import { magicCookie, parseVia, type Via } from '../message/via.ts'
import type { Flow, Protocol } from '../transport/types.ts'
import { forwardedRequest, forwardedResponse, hopsLeft, nextVia } from './forward.ts'
import type { OwnRoutes } from './own-routes.ts'

/** Beginning of the branches of requests that are forwarded statelessly. */
const stateless = `${magicCookie}-p`
const key = randomBytes(32)
const protocols: ReadonlySet<string> = new Set(['udp', 'tcp', 'tls', 'ws', 'wss'])

/**
 * Returns the branch for a request whose previous top Via is `below`. Every copy of the request gets the same
 * branch, so that the far end recognises a retransmission (RFC 3261 16.11). The branch cannot be forged, so
 * that no peer can have a response forwarded to an address of its choice.
 */
const branchFor = (below: Via, callId: string, seq: number): string => {
  const { transport, branch, host, port, params } = below
  const facts = [transport, branch, host, port, params.get('received'), params.get('rport'), callId, seq]
  return `${stateless}${createHmac('sha256', key).update(facts.join('\n')).digest('hex').slice(0, 32)}`
}

/**
 * Forwards the requests of dialogs that were created through the agent as a proxy in the path. The requests
 * and their responses pass without a transaction, and the application does not see them (RFC 3261 16.11).
 */
export class StatelessForwarding {
  readonly #context: Context
  readonly #routes: OwnRoutes
  readonly #fault: (error: unknown) => void

  /**
   * `fault` receives errors of the attempt at a next hop, which runs in an event of a socket. An uncaught
   * error there would end the thread.
   */
  constructor(context: Context, routes: OwnRoutes, fault: (error: unknown) => void) {
    this.#context = context
    this.#routes = routes
    this.#fault = fault
  }

  /** Forwards a request along its route. Returns false if the request is not the agent's to forward. */
  request(request: SipRequest, flow: Flow): boolean {
    if (request.toTag === '') return false
    const behind = this.#routes.nextHop(request)
    if (!behind) return false
    if (!this.#routes.admits(request.callId)) this.#refuse(request, flow, 503, [retryAfter])
    else if (hopsLeft(request) === undefined) this.#refuse(request, flow, 483)
    else this.#forward(request, flow, addressing(behind.uri, behind.routes))
    return true
  }

  #forward(request: SipRequest, flow: Flow, { uri, routes, nextHop }: Addressing): void {
    const [top = ''] = splitOutside(request.headers.first('via') ?? '', ',', 'Via')
    const branch = branchFor(parseVia(top), request.callId, request.seq) + loopMark(uri)
    const send = (way: Flow, failed: () => void) => {
      const via = makeVia(ownAddressFor(way, this.#context), branch)
      const onto = { uri, branch, via, recordRoutes: [], routes, extra: [] }
      way.send(forwardedRequest(request, onto).bytes, failed)
    }
    const over = (ways: readonly FlowOrHop[]) => this.#try(ways, send, () => this.#refuse(request, flow, 480))
    const { registeredFlows, router } = this.#context
    // The contact of a browser names no real host, so the browser is reached over the connection on which it
    // has registered.
    const registered = routes.length === 0 ? registeredFlows.find(nextHop) : undefined
    if (registered) over([registered])
    else if (!router.find(nextHop, over)) over([])
  }

  /** Tries the hops in order until the request can be sent to one of them (RFC 3263 4.3). */
  #try(ways: readonly FlowOrHop[], send: (way: Flow, failed: () => void) => void, nowhere: () => void): void {
    const [way, ...left] = ways
    if (!way) nowhere()
    // Route and request-URI name the destination. A party of the call may write anything into them, so it
    // counts as chosen by the peer.
    else
      send(openFlow(way, this.#context, 'peer'), () => {
        try {
          if (isHop(way)) this.#context.router.failed(way)
          this.#try(left, send, nowhere)
        } catch (error) {
          this.#fault(error)
        }
      })
  }

  /** Rejects a request statelessly. An ACK gets no response. */
  #refuse(request: SipRequest, flow: Flow, status: number, headers: readonly AppHeader[] = []): void {
    if (request.method === 'ACK') return
    this.#context.refusals.add(status, request, flow.remote.address)
    flow.send(makeResponse(responseTemplate(request), { status, tag: 'passed', headers }))
  }

  /** Forwards a response to the sender of its request. Returns false if the request did not pass here. */
  response(response: SipResponse): boolean {
    if (!response.via.branch.startsWith(stateless)) return false
    const below = nextVia(response)
    if (below === undefined) return false
    const via = parseVia(below)
    if (!response.via.branch.startsWith(branchFor(via, response.callId, response.seq))) return false
    const protocol = via.transport.toLowerCase()
    const address = via.params.get('received') ?? via.host
    const port = Number(via.params.get('rport') || (via.port ?? 5060))
    if (!protocols.has(protocol) || !(port > 0 && port < 65_536)) return false
    const way = this.#context.transports.backTo({ protocol: protocol as Protocol, address, port }, via)
    way?.send(serialiseMessage(forwardedResponse(response)))
    return true
  }
}
