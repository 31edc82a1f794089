import type { App } from '../../drachtio/app.ts'
import { OutgoingInvite, type OutgoingInviteOptions } from './outgoing-invite.ts'

/** INVITEs of applications without a final response. */
export class OutgoingInvites {
  readonly #byTxn = new Map<string, OutgoingInvite>()

  /** Number of INVITEs without a final response. */
  get size(): number {
    return this.#byTxn.size
  }

  /** Sends an INVITE. */
  start(start: Omit<OutgoingInviteOptions, 'done'>): void {
    const { txnId, context, dialog } = start
    let release = () => {}
    const done = () => {
      this.#byTxn.delete(txnId)
      release()
    }
    const invite = new OutgoingInvite({ ...start, done })
    if (!dialog) release = context.dialogs.expectDialog(invite.dialogId)
    this.#byTxn.set(txnId, invite)
    invite.send()
  }

  /** Returns the INVITE of a transaction id. */
  get(txnId: string): OutgoingInvite | undefined {
    return this.#byTxn.get(txnId)
  }

  /** Cancels the unanswered INVITEs of a lost application. */
  lost(app: App): void {
    for (const invite of [...this.#byTxn.values()]) if (invite.app === app) invite.abandon()
  }

  /** Stops all INVITEs. */
  close(): void {
    for (const invite of this.#byTxn.values()) invite.stop()
    this.#byTxn.clear()
  }
}
