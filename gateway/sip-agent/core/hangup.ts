import type { Dialog } from '../dialog/dialog.ts'
import type { Context } from './context.ts'
import { sendInDialog } from './uac/in-dialog.ts'

/**
 * Ends a dialog by a BYE of the agent's own and tells the application with an `unsolicited` one. `reason` is the value of
 * the Reason header (RFC 3326).
 */
export const hangUp = (context: Context, dialog: Dialog, reason: string): void => {
  if (dialog.ended) return
  context.dialogs.remove(dialog)
  const request = { method: 'BYE', headers: () => [['Reason', reason] as const] }
  sendInDialog(context, dialog, request, ({ made, flow }) => {
    context.cdrs.stop(dialog, 'application', 'system-initiated-termination', made.bytes)
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
