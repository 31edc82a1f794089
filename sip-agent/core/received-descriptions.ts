import type { Dialog } from '../dialog/dialog.ts'
import type { RawMessage, SipRequest } from '../message/message.ts'
import type { PendingRequest } from './uas/pending-requests.ts'

/** The name under which a dialog knows an offer of a request. */
const nameOf = ({ method, seq }: SipRequest): string => `${method === 'ACK' ? 'INVITE' : method} ${seq}`

/** The methods that carry offers and answers (RFC 6337 2.2), with the ACK. */
const offerMethods = new Set(['INVITE', 'PRACK', 'UPDATE'])

/** True for a message with a session description. A part of several may be one. */
export const hasDescription = ({ headers, body }: RawMessage): boolean => {
  if (body.length === 0) return false
  const type = headers.first('content-type') ?? 'application/sdp'
  return /^(?:application\/sdp|multipart\/)/i.test(type)
}

/** A request came, in this dialog or to make it. */
export const noteReceivedRequest = (dialog: Dialog, request: SipRequest): void => {
  if (offerMethods.has(request.method) && hasDescription(request))
    dialog.offers.noteDescription('theirs', nameOf(request))
}

/** The ACK to a 2xx came: without a description there will be none. */
export const noteReceivedAck = (dialog: Dialog, ack: SipRequest): void => {
  if (hasDescription(ack)) dialog.offers.noteDescription('theirs', nameOf(ack))
  else dialog.offers.noteRequestEnd(nameOf(ack))
}

/** A response of ours goes out. Only the first description that an INVITE gets counts: later ones repeat it (RFC 3261 13.2.1). */
export const noteSentResponse = (waiting: PendingRequest, status: number, described: boolean): void => {
  const { dialog, request } = waiting
  if (!dialog || !offerMethods.has(request.method)) return
  if (described && status < 300 && !waiting.hasDescription) {
    waiting.hasDescription = true
    dialog.offers.noteDescription('ours', nameOf(request))
  }
  const late = request.method === 'INVITE' && status < 300
  // The offer of a late 2xx stays open until the ACK.
  if (status >= 200 && !late) dialog.offers.noteRequestEnd(nameOf(request))
}
