import type { Dialog } from '../../dialog/dialog.ts'
import type { SipResponse } from '../../message/message.ts'
import { hasDescription } from '../../message/session-description.ts'

/**
 * Returns the name under which a dialog tracks an offer that the agent sends. Names of the peer's offers do
 * not have the prefix `own`.
 */
export const ownName = (method: string, seq: number): string => `own ${method} ${seq}`

/** Methods whose bodies are offers and answers (RFC 6337 2.2), except INVITE and ACK. */
const offerMethods = new Set(['PRACK', 'UPDATE'])

/** Records that the agent sends a PRACK or UPDATE. `described`: whether it carries a session description. */
export const noteSentRequest = (dialog: Dialog, method: string, seq: number, described: boolean): void => {
  if (described && offerMethods.has(method)) dialog.offers.noteDescription('ours', ownName(method, seq))
}

/** Records the final response to a PRACK or UPDATE. `response`: undefined if there was no response. */
export const noteFinalResponse = (
  dialog: Dialog,
  method: string,
  seq: number,
  response: SipResponse | undefined,
): void => {
  if (!offerMethods.has(method)) return
  // The offer is closed by an answer, or by the end of the request without one.
  if (response && response.status < 300 && hasDescription(response) && dialog.offers.open === 'ours')
    dialog.offers.noteDescription('theirs', ownName(method, seq))
  dialog.offers.noteRequestEnd(ownName(method, seq))
}
