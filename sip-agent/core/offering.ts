import type { Dialog } from '../dialog/dialog.ts'
import type { SipResponse } from '../message/message.ts'
import { describes } from './session.ts'

/** The name under which a dialog knows an offer of a request of ours; the peer's have names without `own`. */
export const ownName = (method: string, seq: number): string => `own ${method} ${seq}`

/** The methods whose bodies are offers and answers (RFC 6337 2.2), besides INVITE and ACK, which go their own ways. */
const carriers = new Set(['PRACK', 'UPDATE'])

/** A PRACK or UPDATE of ours goes out; `described` where it carries a session description. */
export const noteSent = (dialog: Dialog, method: string, seq: number, described: boolean): void => {
  if (described && carriers.has(method)) dialog.offers.described('ours', ownName(method, seq))
}

/** Its final response; undefined where there was none. */
export const noteAnswered = (
  dialog: Dialog,
  method: string,
  seq: number,
  response: SipResponse | undefined,
): void => {
  if (!carriers.has(method)) return
  // An answer takes the offer off the table, and an end without one does so too.
  if (response && response.status < 300 && describes(response) && dialog.offers.open === 'ours')
    dialog.offers.described('theirs', ownName(method, seq))
  dialog.offers.ended(ownName(method, seq))
}
