import type { Dialog } from '../dialog/dialog.ts'
import type { SipResponse } from '../message/message.ts'
import { hasDescription } from './received-descriptions.ts'

/** The name under which a dialog knows an offer of a request of ours; the peer's have names without `own`. */
export const ownName = (method: string, seq: number): string => `own ${method} ${seq}`

/** The methods whose bodies are offers and answers (RFC 6337 2.2), besides INVITE and ACK, which go their own ways. */
const offerMethods = new Set(['PRACK', 'UPDATE'])

/** A PRACK or UPDATE of ours goes out; `described` where it carries a session description. */
export const noteSentRequest = (dialog: Dialog, method: string, seq: number, described: boolean): void => {
  if (described && offerMethods.has(method)) dialog.offers.noteDescription('ours', ownName(method, seq))
}

/** Its final response; undefined where there was none. */
export const noteFinalResponse = (
  dialog: Dialog,
  method: string,
  seq: number,
  response: SipResponse | undefined,
): void => {
  if (!offerMethods.has(method)) return
  // An answer takes the offer off the table, and an end without one does so too.
  if (response && response.status < 300 && hasDescription(response) && dialog.offers.open === 'ours')
    dialog.offers.noteDescription('theirs', ownName(method, seq))
  dialog.offers.noteRequestEnd(ownName(method, seq))
}
