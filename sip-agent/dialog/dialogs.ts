import type { App } from '../drachtio/app.ts'
import type { SipRequest } from '../message/message.ts'
import type { Flow } from '../transport/types.ts'
import type { Dialog } from './dialog.ts'

/** Makes the dialog that a NOTIFY begins; undefined where it does not belong here. */
export type DialogFactory = (notify: SipRequest, flow: Flow) => Dialog | undefined

/** All dialogs, early and confirmed. A dialog leaves by {@link Dialogs.remove} alone. */
export class Dialogs {
  readonly #byTags = new Map<string, Dialog>()
  /** Forks of one request share an id. */
  readonly #byId = new Map<string, Dialog[]>()
  /** Subscriptions without an answer, which a NOTIFY may begin. */
  readonly #expected = new Map<string, DialogFactory>()
  /** Ids of INVITEs of our own that have no final response: dialogs may come of them. */
  readonly #calling = new Set<string>()

  get size(): number {
    return this.#byTags.size
  }

  /** Adds a dialog. Its id then means this one, unless it means a confirmed dialog already (a fork). */
  add(dialog: Dialog): void {
    this.#byTags.set(keyOf(dialog), dialog)
    const others = this.#byId.get(dialog.id)
    if (!others) this.#byId.set(dialog.id, [dialog])
    else if (!others.includes(dialog)) others.push(dialog)
  }

  /** The dialog is confirmed: from now on its id means it alone. */
  confirm(dialog: Dialog): void {
    dialog.isConfirmed = true
    this.add(dialog)
  }

  /** The dialog that a received request belongs to (RFC 3261 12.2.2). */
  find(request: SipRequest): Dialog | undefined {
    return this.#byTags.get(`${request.callId}|${request.toTag}|${request.fromTag}`)
  }

  /** The dialog that an application means. */
  byId(id: string): Dialog | undefined {
    const forks = this.#byId.get(id)
    return forks?.find((each) => each.isConfirmed) ?? forks?.at(-1)
  }

  /** True where a dialog has this id, or an INVITE of our own may still make one. */
  isKnown(id: string): boolean {
    return this.#byId.has(id) || this.#calling.has(id)
  }

  /** An INVITE of our own goes out that may make a dialog with this id. The function that it returns ends that. */
  expectDialog(id: string): () => void {
    this.#calling.add(id)
    return () => this.#calling.delete(id)
  }

  /** The fork whose reliable provisional response with this RSeq waits for its PRACK. */
  awaitingPrack(id: string, rseq: number): Dialog | undefined {
    return this.#byId.get(id)?.findLast((each) => each.awaitsPrack(rseq))
  }

  /** Every dialog of one application. */
  of(app: App): Dialog[] {
    return [...this.#byTags.values()].filter((dialog) => dialog.owner === app)
  }

  /** A NOTIFY may come before the answer to its SUBSCRIBE (RFC 6665 4.1.2.4). The function that it returns ends the wait. */
  expectNotify(callId: string, localTag: string, begin: DialogFactory): () => void {
    const key = `${callId}|${localTag}`
    this.#expected.set(key, begin)
    return () => {
      if (this.#expected.get(key) === begin) this.#expected.delete(key)
    }
  }

  /** The dialog that a NOTIFY begins where its subscription waits for that. */
  begin(request: SipRequest, flow: Flow): Dialog | undefined {
    if (request.method !== 'NOTIFY') return undefined
    return this.#expected.get(`${request.callId}|${request.toTag}`)?.(request, flow)
  }

  remove(dialog: Dialog): void {
    const key = keyOf(dialog)
    if (this.#byTags.get(key) === dialog) this.#byTags.delete(key)
    const left = this.#byId.get(dialog.id)?.filter((each) => each !== dialog)
    if (left?.length) this.#byId.set(dialog.id, left)
    else if (left) this.#byId.delete(dialog.id)
    dialog.end()
  }
}

const keyOf = (dialog: Dialog): string => `${dialog.callId}|${dialog.localTag}|${dialog.remoteTag}`
