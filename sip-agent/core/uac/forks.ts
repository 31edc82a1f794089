import { contactOf, Dialog, recordRoute } from '../../dialog/dialog.ts'
import type { App } from '../../drachtio/app.ts'
import type { SipResponse } from '../../message/message.ts'
import { hasDescription } from '../../message/session-description.ts'
import type { FarEnd } from '../../reach/far-end.ts'
import type { Flow } from '../../transport/types.ts'
import type { Context } from '../context.ts'
import type { MadeRequest } from '../requests.ts'
import { ownName } from './sent-descriptions.ts'

/**
 * Maximum number of early dialogs of one INVITE. Provisional responses of further forks are delivered without
 * a dialog.
 */
const maxForks = 32
/**
 * Maximum number of dialogs of one INVITE. Forks that answer after this number get neither ACK nor BYE.
 * Otherwise a far end could use Record-Route and thousands of tags to make the agent send requests to any
 * address.
 */
const maxDialogs = 64

/** Values that the dialogs of one INVITE share. */
export interface ForksOptions {
  readonly context: Context
  readonly id: string
  readonly fromTag: string
  /** Whether the INVITE carried an offer. */
  readonly hasOffer: boolean
  readonly owner: App
  /** Returns the flow of the last attempt. */
  readonly origin: () => Flow
  readonly farEnd?: FarEnd | undefined
}

/** Dialogs created by the responses to one INVITE, one for each To tag (RFC 3261 12.1.2). */
export class Forks {
  readonly #start: ForksOptions
  readonly #byTag = new Map<string, Dialog>()
  #opened = 0
  /** Dialogs whose far end has sent a session description. */
  readonly #described = new WeakSet<Dialog>()

  constructor(start: ForksOptions) {
    this.#start = start
  }

  /** Returns the dialog of a provisional response; undefined if the response belongs to no dialog. */
  early(response: SipResponse, flow: Flow, made: MadeRequest): Dialog | undefined {
    if (response.toTag === '') return undefined
    const known = this.#byTag.get(response.toTag)
    // RFC 6228 4: a 199 ends an early dialog, and creates none.
    if (known || response.status === 199 || this.#opened >= maxForks) return known
    return this.#open(response, flow, made)
  }

  /**
   * Returns the dialog of a 2xx, and creates it if no provisional response has done so. Its route set is
   * taken from the 2xx (RFC 3261 13.2.2.4). Returns undefined after the maximum number of dialogs. The
   * maximum of early dialogs is lower, so that the first 2xx always gets a dialog.
   */
  answered(response: SipResponse, flow: Flow, made: MadeRequest): Dialog | undefined {
    const known = this.#byTag.get(response.toTag)
    if (!known && this.#opened >= maxDialogs) return undefined
    const dialog = known ?? this.#open(response, flow, made)
    if (!dialog.isConfirmed) dialog.reroute(recordRoute(response).reverse())
    return dialog
  }

  /**
   * Records the session description of a response: the answer to the agent's offer, or the offer to an INVITE
   * without one (RFC 3261 13.2.1). Only the first description of a dialog counts.
   */
  note(dialog: Dialog, response: SipResponse, made: MadeRequest): void {
    if (this.#described.has(dialog) || !hasDescription(response)) return
    // If the INVITE had no offer, only a reliable response can carry one.
    const binding =
      this.#start.hasOffer || response.status >= 200 || response.headers.first('rseq') !== undefined
    if (!binding) return
    this.#described.add(dialog)
    dialog.offers.noteDescription('theirs', ownName('INVITE', made.seq))
  }

  /** Removes one fork. */
  drop(dialog: Dialog): void {
    this.#start.context.dialogs.remove(dialog)
    this.#byTag.delete(dialog.remoteTag)
  }

  /** Removes all forks except `kept`. */
  keepOnly(kept: Dialog | undefined): void {
    for (const dialog of [...this.#byTag.values()]) if (dialog !== kept) this.drop(dialog)
  }

  #open(response: SipResponse, flow: Flow, made: MadeRequest): Dialog {
    const { context, id, fromTag, hasOffer, owner, origin, farEnd } = this.#start
    const dialog = new Dialog({
      id,
      callId: made.callId,
      localTag: fromTag,
      remoteTag: response.toTag,
      localAddress: made.from,
      remoteAddress: response.headers.first('to') ?? made.to,
      routeSet: recordRoute(response).reverse(),
      localSeq: made.seq,
      remoteSeq: -1,
      localContact: made.contact,
      flow,
      origin: origin(),
      farEnd,
      target: contactOf(response) ?? made.uri,
      owner,
    })
    if (hasOffer) dialog.offers.noteDescription('ours', ownName('INVITE', made.seq))
    this.#byTag.set(response.toTag, dialog)
    this.#opened++
    context.dialogs.add(dialog)
    return dialog
  }
}
