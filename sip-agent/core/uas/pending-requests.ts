import type { Timer } from '../../clock.ts'
import { type Dialog, dialogId } from '../../dialog/dialog.ts'
import type { App } from '../../drachtio/app.ts'
import type { SipRequest } from '../../message/message.ts'
import type { ServerEntry } from '../../transaction/transactions.ts'
import type { ReliableResponses } from './reliable-responses.ts'
import type { ResponseTemplate } from './responses.ts'

/** A request that waits for the application's final answer. */
export interface PendingRequest {
  readonly txnId: string
  readonly request: SipRequest
  readonly side: ServerEntry
  readonly base: ResponseTemplate
  /** Undefined while the connection to its handler is being made. */
  app: App | undefined
  /** The dialog that it came in, or made. */
  dialog: Dialog | undefined
  /** True where it came within a dialog. */
  readonly isInDialog: boolean
  /** When it came, in ms since the epoch. */
  readonly since: number
  /** Our To tag. */
  tag: string
  /** True once a provisional response was sent, be it ours. */
  hasProvisional: boolean
  /** True once the application has sent any response. */
  hasResponse: boolean
  /** True once it has given a final one, which may still be held back. */
  isSettled: boolean
  /** True once a response to it carried a session description. */
  hasDescription: boolean
  /** Reliable provisionals; INVITE only, and only once there was one. */
  reliable: ReliableResponses | undefined
  /** Ends a wait that takes too long. */
  limit: Timer | undefined
  /** The 100 that is still to be sent, then the next repetition of the last provisional. */
  progress: Timer | undefined
}

/** The received requests that wait for an application. An entry leaves by {@link PendingRequests.delete} alone. */
export class PendingRequests {
  readonly #byTxn = new Map<string, PendingRequest>()
  readonly #bySide = new Map<string, PendingRequest>()
  readonly #byDialog = new Map<Dialog, Set<PendingRequest>>()
  /** INVITEs outside dialogs, by the id of the dialog that they would make. */
  readonly #calls = new Map<string, PendingRequest>()

  /** Requests that wait. */
  get size(): number {
    return this.#byTxn.size
  }

  add(waiting: PendingRequest): void {
    this.#byTxn.set(waiting.txnId, waiting)
    this.#bySide.set(waiting.side.key, waiting)
    if (waiting.dialog) this.bind(waiting, waiting.dialog)
    if (isCall(waiting)) this.#calls.set(callOf(waiting.request), waiting)
  }

  /** The request belongs to this dialog from now on. */
  bind(waiting: PendingRequest, dialog: Dialog): void {
    waiting.dialog = dialog
    const others = this.#byDialog.get(dialog)
    if (others) others.add(waiting)
    else this.#byDialog.set(dialog, new Set([waiting]))
  }

  /** Ends the wait; false where it was over before. */
  delete(waiting: PendingRequest): boolean {
    if (!this.#byTxn.delete(waiting.txnId)) return false
    waiting.limit?.cancel()
    waiting.progress?.cancel()
    this.#bySide.delete(waiting.side.key)
    if (isCall(waiting)) this.#calls.delete(callOf(waiting.request))
    const { dialog } = waiting
    const others = dialog && this.#byDialog.get(dialog)
    others?.delete(waiting)
    if (dialog && others?.size === 0) this.#byDialog.delete(dialog)
    return true
  }

  /** The request with this id, while it waits. */
  get(txnId: string): PendingRequest | undefined {
    return this.#byTxn.get(txnId)
  }

  /** The request that a server transaction belongs to, while it waits. */
  of(side: ServerEntry): PendingRequest | undefined {
    return this.#bySide.get(side.key)
  }

  /** What waits in a dialog, with the INVITE that made it. */
  ofDialog(dialog: Dialog): PendingRequest[] {
    return [...(this.#byDialog.get(dialog) ?? [])]
  }

  /** How many these are. */
  count(dialog: Dialog): number {
    return this.#byDialog.get(dialog)?.size ?? 0
  }

  /** The INVITE of a dialog that waits: the one that made it, or a re-INVITE. */
  invite(dialog: Dialog): PendingRequest | undefined {
    return this.ofDialog(dialog).find((each) => each.side.isInvite)
  }

  /** True where an INVITE with the Call-ID and From tag of this one waits. */
  isCalling(invite: SipRequest): boolean {
    return this.#calls.has(callOf(invite))
  }

  /** What one application was given. */
  ofApp(app: App): PendingRequest[] {
    return [...this.#byTxn.values()].filter((each) => each.app === app)
  }

  /** Forgets everything without a word. */
  clear(): void {
    for (const waiting of [...this.#byTxn.values()]) {
      waiting.reliable?.stop()
      this.delete(waiting)
    }
  }
}

const isCall = ({ side, isInDialog }: PendingRequest): boolean => side.isInvite && !isInDialog

const callOf = (invite: SipRequest): string => dialogId(invite.callId, invite.fromTag)
