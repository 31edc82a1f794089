import type { Dialog } from '../dialog/dialog.ts'
import type { Context } from './context.ts'
import { makeInDialog } from './in-dialog.ts'

/**
 * Ends a dialog by a BYE of the agent's own and tells the application with an `unsolicited` one. `reason` is the value of
 * the Reason header (RFC 3326).
 */
export const hangUp = (context: Context, dialog: Dialog, reason: string): void => {
  if (dialog.ended) return
  context.dialogs.remove(dialog)
  const request = { method: 'BYE', headers: () => [['Reason', reason] as const] }
  makeInDialog(context, dialog, request, (made, flow) => {
    context.transactions.send(made.branch, 'BYE', made.bytes, flow, { response: () => {}, failed: () => {} })
    dialog.owner?.deliver({
      source: 'application',
      size: made.bytes.length,
      from: flow.local,
      txnId: 'unsolicited',
      dialogId: dialog.id,
      message: made.bytes,
    })
  })
}
