import type { Timer } from '../../clock.ts'
import { type Dialog, dialogId } from '../../dialog/dialog.ts'
import type { App } from '../../drachtio/app.ts'
import type { SipRequest } from '../../message/message.ts'
import type { ServerEntry } from '../../transaction/transactions.ts'
import type { ReliableResponses } from './reliable-responses.ts'
import type { ResponseTemplate } from './responses.ts'

/** Request that waits for the application's final response. */
export interface PendingRequest {
  readonly txnId: string
  readonly request: SipRequest
  readonly side: ServerEntry
  readonly base: ResponseTemplate
  /** Application of the request; undefined while the connection to it is being opened. */
  app: App | undefined
  /** Dialog in which the request arrived, or which it created. */
  dialog: Dialog | undefined
  /** Whether the request arrived within a dialog. */
  readonly isInDialog: boolean
  /** Time of arrival in ms since the epoch. */
  readonly since: number
  /** To tag of the agent. */
  tag: string
  /** Whether a provisional response was sent, by the agent or the application. */
  hasProvisional: boolean
  /** Whether the application has sent a response. */
  hasResponse: boolean
  /** Whether the application has sent a final response, which may still be held. */
  isSettled: boolean
  /** Whether a response to the request carried a session description. */
  hasDescription: boolean
  /** Reliable provisional responses to an INVITE; undefined before the first of them. */
  reliable: ReliableResponses | undefined
  /** Limits the wait for the application. */
  limit: Timer | undefined
  /** Sends the 100, and later repeats the last provisional response. */
  progress: Timer | undefined
}

/** Received requests that wait for an application. Only {@link PendingRequests.delete} removes an entry. */
export class PendingRequests {
  readonly #byTxn = new Map<string, PendingRequest>()
  readonly #bySide = new Map<string, PendingRequest>()
  readonly #byDialog = new Map<Dialog, Set<PendingRequest>>()
  /** INVITEs outside dialogs, by the id of the dialog that they would create. */
  readonly #calls = new Map<string, PendingRequest>()

  /** Number of pending requests. */
  get size(): number {
    return this.#byTxn.size
  }

  add(waiting: PendingRequest): void {
    this.#byTxn.set(waiting.txnId, waiting)
    this.#bySide.set(waiting.side.key, waiting)
    if (waiting.dialog) this.bind(waiting, waiting.dialog)
    if (isCall(waiting)) this.#calls.set(callOf(waiting.request), waiting)
  }

  /** Assigns a request to a dialog. */
  bind(waiting: PendingRequest, dialog: Dialog): void {
    waiting.dialog = dialog
    const others = this.#byDialog.get(dialog)
    if (others) others.add(waiting)
    else this.#byDialog.set(dialog, new Set([waiting]))
  }

  /** Removes a request. Returns false if it was removed before. */
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

  /** Returns the pending request of a transaction id. */
  get(txnId: string): PendingRequest | undefined {
    return this.#byTxn.get(txnId)
  }

  /** Returns the pending request of a server transaction. */
  of(side: ServerEntry): PendingRequest | undefined {
    return this.#bySide.get(side.key)
  }

  /** Returns the pending requests of a dialog, including the INVITE that created it. */
  ofDialog(dialog: Dialog): PendingRequest[] {
    return [...(this.#byDialog.get(dialog) ?? [])]
  }

  /** Returns the number of pending requests of a dialog. */
  count(dialog: Dialog): number {
    return this.#byDialog.get(dialog)?.size ?? 0
  }

  /** Returns the pending INVITE of a dialog: the INVITE that created the dialog, or a re-INVITE. */
  invite(dialog: Dialog): PendingRequest | undefined {
    return this.ofDialog(dialog).find((each) => each.side.isInvite)
  }

  /** Returns whether an INVITE with the same Call-ID and From tag is pending. */
  isCalling(invite: SipRequest): boolean {
    return this.#calls.has(callOf(invite))
  }

  /** Returns the pending requests of an application. */
  ofApp(app: App): PendingRequest[] {
    return [...this.#byTxn.values()].filter((each) => each.app === app)
  }

  /** Drops all requests. */
  clear(): void {
    for (const waiting of [...this.#byTxn.values()]) {
      waiting.reliable?.stop()
      this.delete(waiting)
    }
  }
}

const isCall = ({ side, isInDialog }: PendingRequest): boolean => side.isInvite && !isInDialog

const callOf = (invite: SipRequest): string => dialogId(invite.callId, invite.fromTag)
