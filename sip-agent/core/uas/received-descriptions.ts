import type { Dialog } from '../../dialog/dialog.ts'
import type { SipRequest } from '../../message/message.ts'
import { hasDescription } from '../../message/session-description.ts'
import type { PendingRequest } from './pending-requests.ts'

/** Returns the name under which a dialog tracks the offer in a request. */
const nameOf = ({ method, seq }: SipRequest): string => `${method === 'ACK' ? 'INVITE' : method} ${seq}`

/** Methods that carry offers and answers (RFC 6337 2.2), besides ACK. */
const offerMethods = new Set(['INVITE', 'PRACK', 'UPDATE'])

/** Records the session description of a received request that belongs to the dialog, or creates it. */
export const noteReceivedRequest = (dialog: Dialog, request: SipRequest): void => {
  if (offerMethods.has(request.method) && hasDescription(request))
    dialog.offers.noteDescription('theirs', nameOf(request))
}

/**
 * Records the ACK to a 2xx. An ACK without a session description closes the offer of the 2xx without an
 * answer.
 */
export const noteReceivedAck = (dialog: Dialog, ack: SipRequest): void => {
  if (hasDescription(ack)) dialog.offers.noteDescription('theirs', nameOf(ack))
  else dialog.offers.noteRequestEnd(nameOf(ack))
}

/**
 * Records the session description of a response that the agent sends. For an INVITE, only the first
 * description counts, because later responses repeat it (RFC 3261 13.2.1).
 */
export const noteSentResponse = (waiting: PendingRequest, status: number, described: boolean): void => {
  const { dialog, request } = waiting
  if (!dialog || !offerMethods.has(request.method)) return
  if (described && status < 300 && !waiting.hasDescription) {
    waiting.hasDescription = true
    dialog.offers.noteDescription('ours', nameOf(request))
  }
  const late = request.method === 'INVITE' && status < 300
  // An offer that a 2xx carries stays open until the ACK.
  if (status >= 200 && !late) dialog.offers.noteRequestEnd(nameOf(request))
}
