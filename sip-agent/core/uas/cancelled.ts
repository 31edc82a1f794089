import { Headers } from '../../message/headers.ts'
import type { SipRequest } from '../../message/message.ts'
import { serialiseMessage } from '../../message/serialise.ts'
import type { Flow } from '../../transport/types.ts'
import type { PendingRequest } from './pending-requests.ts'

/**
 * Builds the CANCEL that the sender of `request` would send. `reason`: value of its Reason header (RFC 3326).
 */
export const cancelOf = (request: SipRequest, reason: string | undefined): SipRequest => {
  const headers = new Headers()
  for (const { name, value } of request.headers.list()) headers.append(name, value)
  headers.replace('CSeq', `${request.seq} CANCEL`)
  headers.remove('reason')
  if (reason !== undefined) headers.append('Reason', reason)
  return { ...request, method: 'CANCEL', headers, body: Buffer.alloc(0) }
}

/** Delivers a CANCEL to the application of a pending request. */
export const deliverCancel = (
  waiting: PendingRequest,
  cancel: SipRequest,
  flow: Flow,
  size: number,
): void => {
  waiting.app?.deliver({
    source: 'network',
    size,
    from: flow.remote,
    txnId: waiting.txnId,
    dialogId: waiting.hasResponse ? (waiting.dialog?.id ?? '') : '',
    message: serialiseMessage(cancel),
  })
}
