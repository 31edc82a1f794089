import { contactOf, Dialog, recordRoute } from '../../dialog/dialog.ts'
import type { App } from '../../drachtio/app.ts'
import type { SipResponse } from '../../message/message.ts'
import type { FarEnd } from '../../reach/far-end.ts'
import type { Flow } from '../../transport/types.ts'
import type { Context } from '../context.ts'
import { hasDescription } from '../received-descriptions.ts'
import type { MadeRequest } from '../requests.ts'
import { ownName } from '../sent-descriptions.ts'

/** Early dialogs of one INVITE; provisional responses of more forks are told, but make none. */
const maxForks = 32
/**
 * Dialogs of one INVITE in all. A fork that answers beyond gets no ACK and no BYE: with a Record-Route and thousands of tags a far end could
 * have us send them, and repeat them, to whomever it names.
 */
const maxDialogs = 64

/** What the dialogs of one INVITE have in common. */
export interface ForksOptions {
  readonly context: Context
  readonly id: string
  readonly fromTag: string
  /** True where the INVITE carried an offer. */
  readonly offer: boolean
  readonly owner: App
  /** Way that the INVITE took last. */
  readonly origin: () => Flow
  readonly farEnd?: FarEnd | undefined
}

/** The dialogs that the responses to one INVITE make, one for each To tag (RFC 3261 12.1.2). */
export class Forks {
  readonly #start: ForksOptions
  readonly #byTag = new Map<string, Dialog>()
  #opened = 0
  /** Those that have described their session. */
  readonly #described = new WeakSet<Dialog>()

  constructor(start: ForksOptions) {
    this.#start = start
  }

  /** The dialog that a provisional response speaks of; undefined where it makes none. */
  early(response: SipResponse, flow: Flow, made: MadeRequest): Dialog | undefined {
    if (response.toTag === '') return undefined
    const known = this.#byTag.get(response.toTag)
    // RFC 6228 4: a 199 says that an early dialog is over, and makes none.
    if (known || response.status === 199 || this.#opened >= maxForks) return known
    return this.#open(response, flow, made)
  }

  /**
   * The dialog of a 2xx; made where no provisional response came before. Its route set is that of the 2xx (RFC 3261 13.2.2.4). Undefined for
   * one fork too many; early ones leave room for the first 2xx.
   */
  answered(response: SipResponse, flow: Flow, made: MadeRequest): Dialog | undefined {
    const known = this.#byTag.get(response.toTag)
    if (!known && this.#opened >= maxDialogs) return undefined
    const dialog = known ?? this.#open(response, flow, made)
    if (!dialog.isConfirmed) dialog.reroute(recordRoute(response).reverse())
    return dialog
  }

  /** A response described the session: the answer to our offer, or the offer that we asked for (RFC 3261 13.2.1). The first one counts. */
  note(dialog: Dialog, response: SipResponse, made: MadeRequest): void {
    if (this.#described.has(dialog) || !hasDescription(response)) return
    // Without an offer of ours only a reliable response brings one.
    const binding =
      this.#start.offer || response.status >= 200 || response.headers.first('rseq') !== undefined
    if (!binding) return
    this.#described.add(dialog)
    dialog.offers.noteDescription('theirs', ownName('INVITE', made.seq))
  }

  /** One fork is over. */
  drop(dialog: Dialog): void {
    this.#start.context.dialogs.remove(dialog)
    this.#byTag.delete(dialog.remoteTag)
  }

  /** All forks but this one are over. */
  keepOnly(kept: Dialog | undefined): void {
    for (const dialog of [...this.#byTag.values()]) if (dialog !== kept) this.drop(dialog)
  }

  #open(response: SipResponse, flow: Flow, made: MadeRequest): Dialog {
    const { context, id, fromTag, offer, owner, origin, farEnd } = this.#start
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
    if (offer) dialog.offers.noteDescription('ours', ownName('INVITE', made.seq))
    this.#byTag.set(response.toTag, dialog)
    this.#opened++
    context.dialogs.add(dialog)
    return dialog
  }
}
