import type { Dialog } from '../../dialog/dialog.ts'
import type { Hop } from '../../route/types.ts'
import { plainAddress } from '../../shield/addresses.ts'
import { isLoopback } from '../../transport/own-addresses.ts'
import type { Flow } from '../../transport/types.ts'
import { type AppHeader, hasHeader, type OwnAddress, ownContact } from '../app-headers.ts'
import { type Context, newBranch } from '../context.ts'
import { type MadeRequest, makeRequest, ownAddressFor } from '../requests.ts'
import { type FlowOrHop, isOwn, openFlow } from './flow-or-hop.ts'
import { noopFailoverUser, type PreparedRequest, RequestFailover } from './request-failover.ts'

/** The methods that refresh the remote target, and so must carry a Contact (RFC 3261 12.2, RFC 3311, RFC 6665, RFC 3515). */
export const carriesContact: ReadonlySet<string> = new Set([
  'INVITE',
  'UPDATE',
  'SUBSCRIBE',
  'REFER',
  'NOTIFY',
])

/** A request within a dialog, before it is made. */
export interface InDialogRequest {
  readonly method: string
  /** The number of the INVITE, for an ACK; others take the next one. */
  readonly seq?: number
  readonly body?: Buffer
  /** Its headers, once the way and with it our own address is known. */
  headers(own: OwnAddress): AppHeader[]
}

/**
 * Finds the ways of a request within a dialog. Without a route set it goes back to where the peer's own messages come from; where that
 * connection is gone, over the one on which the target has registered since. Where the route leads nowhere, to this machine, to a place
 * that this dialog may not reach, or needs a transport that is not bound, the request goes back over the peer's flow. So it does while the
 * peer may have forged its address: nothing that it wrote is followed, looked up or connected to.
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
        // A place that was found and is forbidden; a name that leads nowhere is no such place.
        if (hops.length > 0) context.diversions.add(dialog, method, nextHop, back.remote.address)
        done([back])
      })
    })
    if (!found) done([back])
  })

/**
 * Finds the flow back to the peer: the one that its messages come by. The source of a datagram may be forged, so one that leads to another
 * address than the dialog began at is judged like any other place.
 */
const findReturnFlow = (context: Context, dialog: Dialog, done: (flow: Flow) => void) => {
  const { flow, origin, farEnd } = dialog
  if (flow.isReliable) return done(flow)
  context.reach.within(farEnd, origin.remote.address, [flow.remote], ([permitted]) =>
    done(permitted ? flow : origin),
  )
}

/**
 * True for a way to the agent itself, or to a service of this machine that peers elsewhere cannot reach: a peer writes Record-Route and
 * Contact as it likes.
 */
const leadsInside = (hop: Hop, { origin }: Dialog, context: Context): boolean =>
  isOwn(hop, context) || (isThisMachine(hop.address) && !isThisMachine(origin.remote.address))

const isThisMachine = (address: string): boolean => {
  const plain = plainAddress(address)
  return isLoopback(plain) || plain === '0.0.0.0' || plain === '::'
}

/** Prepares a request of a dialog; `done` is called at once where the way is known, later where a name is to be looked up. */
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
      if (carriesContact.has(request.method) && !hasHeader(headers, 'Contact')) {
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

/** Sends a request of the agent's own in a dialog; its answer changes nothing. `sent` sees it as it went out first. */
export const sendInDialog = (
  context: Context,
  dialog: Dialog,
  request: InDialogRequest,
  sent: (attempts: RequestFailover) => void = () => {},
): void =>
  prepareInDialog(context, dialog, request, (prepared) => {
    const attempts = new RequestFailover(context, prepared, false)
    attempts.start(noopFailoverUser)
    sent(attempts)
  })

/**
 * Acknowledges a 2xx with this number (RFC 3261 13.2.2.4), and keeps the ACK for when the 2xx is repeated. `sent` is given the ACK and
 * the way that it took. `around` runs what makes and sends it, perhaps later, where a name is to be looked up: it hears of faulty headers.
 * Such an ACK never was: the application may send another one, or the call ends for want of it.
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
