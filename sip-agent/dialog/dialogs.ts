import type { App } from '../drachtio/app.ts'
import type { SipRequest } from '../message/message.ts'
import type { Flow } from '../transport/types.ts'
import type { Dialog } from './dialog.ts'

/** Creates the dialog of a NOTIFY; returns undefined if the NOTIFY does not belong to the subscription. */
export type DialogFactory = (notify: SipRequest, flow: Flow) => Dialog | undefined

/** All dialogs, early and confirmed. Only {@link Dialogs.remove} removes a dialog. */
export class Dialogs {
  readonly #byTags = new Map<string, Dialog>()
  /** Dialogs by id. Forks of one request share an id. */
  readonly #byId = new Map<string, Dialog[]>()
  /** Subscriptions without a response, whose dialog a NOTIFY may create. */
  readonly #expected = new Map<string, DialogFactory>()
  /** Ids of the agent's INVITEs without a final response, which may create dialogs. */
  readonly #calling = new Set<string>()

  get size(): number {
    return this.#byTags.size
  }

  /** Adds a dialog. A look-up by its id then finds this dialog, unless a confirmed fork has the same id. */
  add(dialog: Dialog): void {
    this.#byTags.set(keyOf(dialog), dialog)
    const others = this.#byId.get(dialog.id)
    if (!others) this.#byId.set(dialog.id, [dialog])
    else if (!others.includes(dialog)) others.push(dialog)
  }

  /** Confirms a dialog. A look-up by its id then finds this dialog, not another fork. */
  confirm(dialog: Dialog): void {
    dialog.isConfirmed = true
    this.add(dialog)
  }

  /** Returns the dialog of a received request (RFC 3261 12.2.2). */
  find(request: SipRequest): Dialog | undefined {
    return this.#byTags.get(`${request.callId}|${request.toTag}|${request.fromTag}`)
  }

  /** Returns the dialog that an application names. */
  byId(id: string): Dialog | undefined {
    const forks = this.#byId.get(id)
    return forks?.find((each) => each.isConfirmed) ?? forks?.at(-1)
  }

  /** Returns whether a dialog has this id, or an INVITE of the agent may still create one. */
  isKnown(id: string): boolean {
    return this.#byId.has(id) || this.#calling.has(id)
  }

  /**
   * Registers an INVITE of the agent that may create a dialog of this id. Returns a function that revokes the
   * registration.
   */
  expectDialog(id: string): () => void {
    this.#calling.add(id)
    return () => this.#calling.delete(id)
  }

  /** Returns the fork whose reliable provisional response of this RSeq waits for its PRACK. */
  awaitingPrack(id: string, rseq: number): Dialog | undefined {
    return this.#byId.get(id)?.findLast((each) => each.awaitsPrack(rseq))
  }

  /** Returns every dialog of an application. */
  of(app: App): Dialog[] {
    return [...this.#byTags.values()].filter((dialog) => dialog.owner === app)
  }

  /**
   * Expects a NOTIFY before the response to its SUBSCRIBE (RFC 6665 4.1.2.4). Returns a function that ends
   * the wait.
   */
  expectNotify(callId: string, localTag: string, begin: DialogFactory): () => void {
    const key = `${callId}|${localTag}`
    this.#expected.set(key, begin)
    return () => {
      if (this.#expected.get(key) === begin) this.#expected.delete(key)
    }
  }

  /** Creates the dialog of a NOTIFY whose subscription expects it. */
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
