import type { App } from '../../drachtio/app.ts'
import { OutgoingInvite, type OutgoingInviteOptions } from './outgoing-invite.ts'

/** The INVITEs of the applications that have no final response yet. */
export class OutgoingInvites {
  readonly #byTxn = new Map<string, OutgoingInvite>()

  /** How many there are. */
  get size(): number {
    return this.#byTxn.size
  }

  /** Sends one more. */
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

  /** The one with this transaction id. */
  get(txnId: string): OutgoingInvite | undefined {
    return this.#byTxn.get(txnId)
  }

  /** The application is gone: its calls that were not answered yet are cancelled. */
  lost(app: App): void {
    for (const invite of [...this.#byTxn.values()]) if (invite.app === app) invite.abandon()
  }

  /** Forgets everything without a word. */
  close(): void {
    for (const invite of this.#byTxn.values()) invite.stop()
    this.#byTxn.clear()
  }
}
