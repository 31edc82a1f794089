import type { Dialog } from '../dialog/dialog.ts'
import type { Flow } from '../transport/types.ts'
import { type AppHeader, type Own, ownContact } from './app-headers.ts'
import { type Context, newBranch } from './context.ts'
import { findFlow, type MadeRequest, makeRequest, ownOf } from './requests.ts'

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
  headers(own: Own): AppHeader[]
}

/**
 * Makes a request of a dialog and finds the way for it. Where the route names a transport that is not bound, the request
 * goes back to where the peer's own messages come from: better than no BYE at all.
 */
export const makeInDialog = (
  context: Context,
  dialog: Dialog,
  request: InDialogRequest,
  done: (made: MadeRequest, flow: Flow) => void,
) => {
  const { uri, routes, nextHop } = dialog.addressing()
  const build = (flow: Flow) => {
    const own = ownOf(flow, context)
    const headers = request.headers(own)
    if (carriesContact.has(request.method) && !headers.some(([name]) => name === 'Contact')) {
      headers.push(['Contact', dialog.localContact || ownContact(own)])
    }
    const made = makeRequest({
      method: request.method,
      uri,
      branch: newBranch(),
      routes,
      from: dialog.localAddress,
      to: dialog.remoteAddress,
      callId: dialog.callId,
      seq: request.seq ?? dialog.nextSeq(),
      own,
      headers,
      body: request.body,
    })
    done(made, flow)
  }
  if (dialog.returnPath()) return build(dialog.flow)
  if (!findFlow(nextHop, context, build)) build(dialog.flow)
}
