import type { App } from '../../drachtio/app.ts'
import type { SipResponse } from '../../message/message.ts'
import { serialiseMessage } from '../../message/serialise.ts'
import type { ClientFailure } from '../../transaction/invite-client.ts'
import type { Flow } from '../../transport/types.ts'
import { newTag } from '../context.ts'
import { type MadeRequest, makeLocalResponse } from '../requests.ts'
import type { FailoverUser, RequestFailover } from './request-failover.ts'

/** Delivers a response of the network to the application. */
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

/** Delivers and returns a final response of the agent, for a request that got none from the network. */
export const deliverLocal = (
  app: App | undefined,
  txnId: string,
  dialogId: string,
  made: MadeRequest,
  status: number,
  reason: string,
  flow: Flow,
): Buffer => {
  const message = makeLocalResponse(made, status, reason, newTag(), status === 503 ? flow.problem : undefined)
  const from = { protocol: flow.local.protocol, address: '', port: 0 }
  app?.deliver({ source: 'network', size: 0, from, txnId, dialogId, message })
  return message
}

/** Returns the status for a request without a final response (RFC 3261 8.1.3.1). */
export const failureStatus = (why: ClientFailure): readonly [status: number, reason: string] =>
  why === 'timeout' ? [408, 'Request Timeout'] : [503, 'Service Unavailable']

/**
 * Returns whether a response within a call means that the call is gone (RFC 3261 12.2.1.2). A 481 to NOTIFY
 * or SUBSCRIBE ends only the subscription (RFC 5057 5.2). A 481 to PRACK concerns only the acknowledged
 * response, and a 481 to CANCEL only the cancelled request.
 */
export const endsCall = (method: string, status: number): boolean => {
  if (status === 408) return true
  return status === 481 && method !== 'NOTIFY' && method !== 'SUBSCRIBE' && method !== 'PRACK'
}

/** Returns the Reason value of the BYE that follows a response for which {@link endsCall} is true. */
export const goneReason = (status: number): string =>
  status === 408
    ? 'SIP;cause=408;text="Request timeout in the dialog"'
    : 'SIP;cause=481;text="Dialog unknown to the far end"'

/**
 * Outcome of a request: the status delivered to the application, and the response if the network sent one.
 */
export interface Outcome {
  readonly status: number
  readonly response: SipResponse | undefined
  readonly flow: Flow
}

/** Request other than INVITE that an application sends. */
export class OutgoingRequest implements FailoverUser {
  readonly #app: App
  readonly #txnId: string
  readonly #dialogId: string
  readonly #attempts: RequestFailover
  readonly #final: (outcome: Outcome) => void

  constructor(options: {
    app: App
    txnId: string
    /** Id of the dialog; empty outside dialogs. */
    dialogId: string
    attempts: RequestFailover
    /** Called after the final response was delivered. */
    final: (outcome: Outcome) => void
  }) {
    this.#app = options.app
    this.#txnId = options.txnId
    this.#dialogId = options.dialogId
    this.#attempts = options.attempts
    this.#final = options.final
  }

  response(response: SipResponse, flow: Flow, size: number): void {
    if (response.status === 100) return
    deliverResponse(this.#app, this.#txnId, this.#dialogId, response, flow, size)
    if (response.status >= 200) this.#final({ status: response.status, response, flow })
  }

  failed(why: ClientFailure): void {
    const [status, reason] = failureStatus(why)
    const { made, flow } = this.#attempts
    deliverLocal(this.#app, this.#txnId, this.#dialogId, made, status, reason, flow)
    this.#final({ status, response: undefined, flow })
  }
}
