import type { Dialog } from '../dialog/dialog.ts'
import type { App } from '../drachtio/app.ts'
import type { SipResponse } from '../message/message.ts'
import { serialiseMessage } from '../message/serialise.ts'
import type { ClientFailure } from '../transaction/invite-client.ts'
import type { ClientUser } from '../transaction/transactions.ts'
import type { Flow } from '../transport/types.ts'
import { newTag } from './context.ts'
import { type MadeRequest, makeLocalResponse } from './requests.ts'

/** Hands a response of the network to the application. */
export const deliverResponse = (
  app: App | undefined,
  txnId: string,
  dialogId: string,
  response: SipResponse,
  flow: Flow,
  size: number,
): void => {
  const message = serialiseMessage(response)
  app?.deliver({ source: 'network', size, from: flow.remote, txnId, dialogId, message })
}

/** Hands over a final response in place of the one that never came. */
export const deliverLocal = (
  app: App | undefined,
  txnId: string,
  dialogId: string,
  made: MadeRequest,
  status: number,
  reason: string,
  protocol: string,
): void => {
  const message = makeLocalResponse(made, status, reason, newTag())
  const from = { protocol, address: '', port: 0 }
  app?.deliver({ source: 'network', size: 0, from, txnId, dialogId, message })
}

/** The status for a request that got no final response (RFC 3261 8.1.3.1). */
export const failureStatus = (why: ClientFailure): [status: number, reason: string] =>
  why === 'timeout' ? [408, 'Request Timeout'] : [503, 'Service Unavailable']

/** A request other than INVITE that the application sends. */
export class OutgoingRequest implements ClientUser {
  readonly #app: App
  readonly #txnId: string
  readonly #dialogId: string
  readonly #made: MadeRequest
  readonly #flow: Flow
  readonly #final: (response: SipResponse | undefined, flow: Flow) => void

  constructor(options: {
    app: App
    txnId: string
    /** Empty outside dialogs. */
    dialogId: string
    made: MadeRequest
    flow: Flow
    /** Called before the final response is handed over; without a response where the agent makes one. */
    final: (response: SipResponse | undefined, flow: Flow) => void
  }) {
    this.#app = options.app
    this.#txnId = options.txnId
    this.#dialogId = options.dialogId
    this.#made = options.made
    this.#flow = options.flow
    this.#final = options.final
  }

  response(response: SipResponse, flow: Flow, size: number): void {
    if (response.status === 100) return
    if (response.status >= 200) this.#final(response, flow)
    deliverResponse(this.#app, this.#txnId, this.#dialogId, response, flow, size)
  }

  failed(why: ClientFailure): void {
    this.#final(undefined, this.#flow)
    const [status, reason] = failureStatus(why)
    const { protocol } = this.#flow.local
    deliverLocal(this.#app, this.#txnId, this.#dialogId, this.#made, status, reason, protocol)
  }
}

/**
 * What an application's in-dialog request does to its dialog when it is answered. `challenged`: a BYE got 401 or 407, and
 * the application may send it again with credentials.
 */
export const afterInDialog = (
  method: string,
  dialog: Dialog,
  end: (dialog: Dialog) => void,
  challenged: (dialog: Dialog) => void,
): ((response: SipResponse | undefined, flow: Flow) => void) => {
  return (response, flow) => {
    const status = response?.status ?? 0
    // Any other answer, or none, ends the dialog (RFC 3261 15.1.1).
    if (method === 'BYE') (status === 401 || status === 407 ? challenged : end)(dialog)
    if (method === 'UPDATE' && response && status < 300) dialog.refresh(response, flow)
  }
}
