import type { Dialog } from '../../dialog/dialog.ts'
import type { Flow } from '../../transport/types.ts'
import type { AppHeader } from '../app-headers.ts'
import type { Context } from '../context.ts'
import { openFlow } from './flow-or-hop.ts'
import { prepareInDialog, sendInDialog } from './in-dialog.ts'

/**
 * Ends a dialog by a BYE from the agent itself, and sends the application an `unsolicited` BYE. `reason` is
 * the value of the Reason header (RFC 3326). A caller whose address is unverified receives the BYE only once,
 * without retransmissions.
 */
export const hangUp = (context: Context, dialog: Dialog, reason: string): void => {
  if (dialog.isEnded) return
  context.dialogs.remove(dialog)
  const request = { method: 'BYE', headers: (): AppHeader[] => [['Reason', reason]] }
  if (!dialog.isPeerUnverified) {
    sendInDialog(context, dialog, request, ({ made, flow }) => tellOfEnd(context, dialog, made.bytes, flow))
    return
  }
  prepareInDialog(context, dialog, request, ({ ways, make }) => {
    const flow = openFlow(ways[0], context, 'peer')
    const { bytes } = make(flow)
    flow.send(bytes)
    tellOfEnd(context, dialog, bytes, flow)
  })
}

const tellOfEnd = (context: Context, dialog: Dialog, bye: Buffer, { local }: Flow): void => {
  context.cdrs.stop(dialog, 'application', 'system-initiated-termination', bye)
  dialog.owner?.deliver({
    source: 'application',
    size: bye.length,
    from: local,
    txnId: 'unsolicited',
    dialogId: dialog.id,
    message: bye,
  })
}
