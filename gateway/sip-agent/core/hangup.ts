import type { Dialog } from '../dialog/dialog.ts'
import type { Flow } from '../transport/types.ts'
import { type Context, newBranch } from './context.ts'
import { makeRequest, ownOf } from './requests.ts'
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
    tellOfEnd(context, dialog, made.bytes, flow)
  })
}

/**
 * Ends a dialog whose caller never proved that it is at its address, as {@link hangUp} does. The BYE goes out once, and only to the
 * address that the INVITE came from: a forged INVITE must not make us repeat it, nor send it where its headers say.
 */
export const dropUnconfirmed = (context: Context, dialog: Dialog, reason: string): void => {
  if (dialog.ended) return
  context.dialogs.remove(dialog)
  const { flow } = dialog
  const { uri, routes } = dialog.addressing()
  const { bytes } = makeRequest({
    method: 'BYE',
    uri,
    branch: newBranch(),
    routes,
    from: dialog.localAddress,
    to: dialog.remoteAddress,
    callId: dialog.callId,
    seq: dialog.nextSeq(),
    own: ownOf(flow, context),
    headers: [['Reason', reason]],
    body: undefined,
  })
  flow.send(bytes)
  tellOfEnd(context, dialog, bytes, flow)
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
