import type { App } from '../drachtio/app.ts'
import type { SipRequest } from '../message/message.ts'
import type { Dialog } from './dialog.ts'

/** All dialogs, early and confirmed. A dialog leaves by {@link Dialogs.remove} alone. */
export class Dialogs {
  readonly #byTags = new Map<string, Dialog>()
  readonly #byId = new Map<string, Dialog>()

  get size(): number {
    return this.#byTags.size
  }

  /** Adds a dialog. Its id then means this one, unless it means a confirmed dialog already (a fork). */
  add(dialog: Dialog): void {
    this.#byTags.set(`${dialog.callId}|${dialog.localTag}|${dialog.remoteTag}`, dialog)
    if (dialog.confirmed || !this.#byId.get(dialog.id)?.confirmed) this.#byId.set(dialog.id, dialog)
  }

  /** The dialog is confirmed: from now on its id means it alone. */
  confirm(dialog: Dialog): void {
    dialog.confirmed = true
    this.add(dialog)
  }

  /** The dialog that a received request belongs to (RFC 3261 12.2.2). */
  find(request: SipRequest): Dialog | undefined {
    return this.#byTags.get(`${request.callId}|${request.toTag}|${request.fromTag}`)
  }

  /** The dialog that an application means. */
  byId(id: string): Dialog | undefined {
    return this.#byId.get(id)
  }

  /** Every dialog of one application. */
  of(app: App): Dialog[] {
    return [...this.#byTags.values()].filter((dialog) => dialog.owner === app)
  }

  remove(dialog: Dialog): void {
    dialog.ended = true
    const key = `${dialog.callId}|${dialog.localTag}|${dialog.remoteTag}`
    if (this.#byTags.get(key) === dialog) this.#byTags.delete(key)
    if (this.#byId.get(dialog.id) === dialog) this.#byId.delete(dialog.id)
  }
}
