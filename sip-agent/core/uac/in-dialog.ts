import type { Dialog } from '../../dialog/dialog.ts'
import { plainAddress } from '../../ip/address.ts'
import { isLoopback } from '../../ip/special-purpose.ts'
import { targetRefreshMethods } from '../../message/methods.ts'
import type { Flow, Hop } from '../../transport/types.ts'
import { type AppHeader, hasHeader, type OwnAddress, ownContact } from '../app-headers.ts'
import { type Context, newBranch } from '../context.ts'
import { type MadeRequest, makeRequest, ownAddressFor } from '../requests.ts'
import { type FlowOrHop, isOwn, openFlow } from './flow-or-hop.ts'
import { noopFailoverUser, type PreparedRequest, RequestFailover } from './request-failover.ts'

/** Values of a request within a dialog. */
export interface InDialogRequest {
  readonly method: string
  /** CSeq number; for an ACK, the number of the INVITE. Default: the next number of the dialog. */
  readonly seq?: number
  readonly body?: Buffer
  /** Returns the headers of the request. `own`: address of the agent on the chosen flow. */
  headers(own: OwnAddress): AppHeader[]
}

/**
 * Finds the flows of a request within a dialog. Without a route set, the request is sent over the peer's own
 * flow. If that connection is closed, it is sent over the flow on which the target has registered since.
 *
 * The peer's flow is also used if the next hop has no address, is this machine, or is not permitted. The same
 * applies if the transport is not bound, or if the peer's address is unverified. The agent never resolves, or
 * connects to, a name that an unverified peer supplied.
 */
const findFlows = (
  context: Context,
  dialog: Dialog,
  method: string,
  nextHop: string,
  done: (ways: readonly FlowOrHop[]) => void,
) =>
  findReturnFlow(context, dialog, (back) => {
    if (dialog.isPeerUnverified) return done([back])
    const isDirect = dialog.routeSet.length === 0
    if (isDirect && !back.isClosed) return done([back])
    const registered = isDirect ? context.registeredFlows.find(nextHop) : undefined
    if (registered) return done([registered])
    const found = context.router.find(nextHop, (hops) => {
      const outside = hops.filter((hop) => !leadsInside(hop, dialog, context))
      context.reach.within(dialog.farEnd, dialog.origin.remote.address, outside, (permitted) => {
        if (permitted.length > 0) return done(permitted)
        // Only hops that are not permitted are reported, not a name without addresses.
        if (hops.length > 0) context.diversions.add(dialog, method, nextHop, back.remote.address)
        done([back])
      })
    })
    if (!found) done([back])
  })

/**
 * Finds the flow over which the peer's messages arrive. The source of a datagram may be spoofed. Therefore,
 * if the flow leads to a different address than the dialog's first flow, it is checked like any other hop.
 */
const findReturnFlow = (context: Context, dialog: Dialog, done: (flow: Flow) => void) => {
  const { flow, origin, farEnd } = dialog
  if (flow.isReliable) return done(flow)
  context.reach.within(farEnd, origin.remote.address, [flow.remote], ([permitted]) =>
    done(permitted ? flow : origin),
  )
}

/**
 * Returns whether a hop is the agent itself, or a service of this machine that remote peers cannot reach. A
 * peer may write anything into Record-Route and Contact.
 */
const leadsInside = (hop: Hop, { origin }: Dialog, context: Context): boolean =>
  isOwn(hop, context) || (isThisMachine(hop.address) && !isThisMachine(origin.remote.address))

const isThisMachine = (address: string): boolean => {
  const plain = plainAddress(address)
  return isLoopback(plain) || plain === '0.0.0.0' || plain === '::'
}

/**
 * Prepares a request of a dialog. Calls `done` at once if the flow is known, otherwise after the next hop was
 * resolved.
 */
export const prepareInDialog = (
  context: Context,
  dialog: Dialog,
  request: InDialogRequest,
  done: (prepared: PreparedRequest) => void,
): void => {
  const { uri, routes, nextHop } = dialog.addressing()
  findFlows(context, dialog, request.method, nextHop, (ways) => {
    const seq = request.seq ?? dialog.nextSeq()
    const make = (flow: Flow): MadeRequest => {
      const own = ownAddressFor(flow, context)
      const headers = request.headers(own)
      if (targetRefreshMethods.has(request.method) && !hasHeader(headers, 'Contact')) {
        headers.push(['Contact', dialog.localContact || ownContact(own)])
      }
      return makeRequest({
        method: request.method,
        uri,
        branch: newBranch(),
        routes,
        from: dialog.localAddress,
        to: dialog.remoteAddress,
        callId: dialog.callId,
        seq,
        own,
        headers,
        body: request.body,
      })
    }
    done({ ways, make, chosenBy: 'peer' })
  })
}

/**
 * Sends a request from the agent itself in a dialog. The response has no effect on the dialog. `sent` is
 * called after the request was sent to the first hop.
 */
export const sendInDialog = (
  context: Context,
  dialog: Dialog,
  request: InDialogRequest,
  sent: (attempts: RequestFailover) => void = () => {},
): void =>
  prepareInDialog(context, dialog, request, (prepared) => {
    const attempts = new RequestFailover(context, prepared)
    attempts.start(noopFailoverUser)
    sent(attempts)
  })

/**
 * Acknowledges the 2xx with the CSeq number of `ack` (RFC 3261 13.2.2.4), and keeps the ACK for
 * retransmissions of the 2xx. `sent` receives the ACK and its flow. `around` runs the code that builds and
 * sends the ACK, and handles the error of malformed headers. A malformed ACK is not sent. Unless the
 * application then sends a correct ACK, the call ends.
 */
export const sendAck = (
  context: Context,
  dialog: Dialog,
  ack: InDialogRequest & { readonly seq: number },
  sent: (bytes: Buffer, flow: Flow) => void = () => {},
  around: (run: () => void) => void = (run) => run(),
): void =>
  prepareInDialog(context, dialog, ack, ({ ways, make }) =>
    around(() => {
      const flow = openFlow(ways[0], context, 'peer')
      const { bytes } = make(flow)
      if (dialog.answeredSeq === ack.seq) dialog.answeredSeq = undefined
      dialog.keepAck(ack.seq, bytes, flow)
      flow.send(bytes)
      sent(bytes, flow)
    }),
  )
