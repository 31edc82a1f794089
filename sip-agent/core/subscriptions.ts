import type { Clock, Timer } from '../clock.ts'
import { contactOf, Dialog, dialogId, recordRoute } from '../dialog/dialog.ts'
import type { Dialogs } from '../dialog/dialogs.ts'
import type { App } from '../drachtio/app.ts'
import type { Headers } from '../message/headers.ts'
import type { SipMessage, SipResponse } from '../message/message.ts'
import type { Timers } from '../transaction/timers.ts'
import type { Flow } from '../transport/types.ts'
import type { MadeRequest } from './requests.ts'

/**
 * Lifetime of a subscription in seconds, if neither request nor response names a lifetime. RFC 3515 2.4.4
 * leaves the lifetime for a REFER to the notifier.
 */
const defaultExpires = 3_600
const maxExpires = 7 * 86_400

/** Returns whether a NOTIFY ends its subscription (RFC 6665 4.1.3). */
export const terminates = (headers: Headers): boolean =>
  /^\s*terminated\b/i.test(headers.first('subscription-state') ?? '')

/** Returns the Expires header in seconds; undefined if it is missing or not a number. */
export const expiresOf = (headers: Headers): number | undefined => {
  const text = headers.first('expires')?.trim() ?? ''
  return /^\d{1,10}$/.test(text) ? Math.min(Number(text), maxExpires) : undefined
}

/** SUBSCRIBE or REFER outside dialogs without a final response. */
export interface SubscriptionRequest {
  readonly app: App
  readonly fromTag: string
  made(): MadeRequest
  /** Returns the flow of the last attempt. */
  origin(): Flow
}

/**
 * Dialogs created by SUBSCRIBE and REFER. They end with a NOTIFY that terminates the subscription, or when it
 * expires. After the granted time, 64 * T1 remain for a last NOTIFY (timer N of RFC 6665 4.1.2).
 */
export class Subscriptions {
  readonly #clock: Clock
  readonly #timers: Timers
  readonly #dialogs: Dialogs
  readonly #expiries = new Map<Dialog, Timer>()

  constructor(clock: Clock, timers: Timers, dialogs: Dialogs) {
    this.#clock = clock
    this.#timers = timers
    this.#dialogs = dialogs
  }

  /** Number of subscriptions with a running expiry timer. */
  get size(): number {
    return this.#expiries.size
  }

  /**
   * Registers a request that creates a subscription, because a NOTIFY may arrive before the response (RFC
   * 6665 4.1.2.4).
   */
  begin(start: SubscriptionRequest): PendingSubscription {
    return new PendingSubscription(start, this.#dialogs, (dialog, seconds) => this.granted(dialog, seconds))
  }

  /**
   * Sets the remaining lifetime of a subscription, in seconds; 0 for an ended subscription. Its dialog ends
   * 64 * T1 later. Does nothing for the dialog of a call.
   */
  granted(dialog: Dialog, seconds = defaultExpires): void {
    if (!dialog.isSubscription || dialog.isEnded) return
    const known = this.#expiries.get(dialog)
    known?.cancel()
    const wait = Math.min(seconds, maxExpires) * 1_000 + 64 * this.#timers.t1
    this.#expiries.set(
      dialog,
      this.#clock.after(wait, () => this.#dialogs.remove(dialog)),
    )
    if (!known) dialog.whenEnded(() => this.#forget(dialog))
  }

  /** Cancels all expiry timers. */
  close(): void {
    for (const timer of this.#expiries.values()) timer.cancel()
    this.#expiries.clear()
  }

  #forget(dialog: Dialog): void {
    this.#expiries.get(dialog)?.cancel()
    this.#expiries.delete(dialog)
  }
}

/** Subscription whose SUBSCRIBE or REFER has no final response yet. */
class PendingSubscription {
  readonly #start: SubscriptionRequest
  readonly #dialogs: Dialogs
  readonly #granted: (dialog: Dialog, seconds: number | undefined) => void
  readonly #stop: () => void
  /** Dialog created by a NOTIFY; the first NOTIFY decides which fork it is. */
  #dialog: Dialog | undefined

  constructor(
    start: SubscriptionRequest,
    dialogs: Dialogs,
    granted: (dialog: Dialog, seconds: number | undefined) => void,
  ) {
    this.#start = start
    this.#dialogs = dialogs
    this.#granted = granted
    this.#stop = dialogs.expectNotify(start.made().callId, start.fromTag, (notify, flow) => {
      // In a dialog without a remote tag, requests of the far end would look like requests outside dialogs.
      if (this.#dialog || notify.fromTag === '') return undefined
      const from = notify.headers.first('from') ?? ''
      this.#dialog = this.#open(notify, notify.fromTag, from, recordRoute(notify), flow)
      // Until the response names the lifetime, the dialog lasts for the time in which the response may arrive
      // (64 * T1).
      granted(this.#dialog, 0)
      return this.#dialog
    })
  }

  /** Handles the final response, or undefined after a failure without a response. */
  settle(response: SipResponse | undefined, flow: Flow): void {
    this.#stop()
    // If the application has disconnected, no dialog is created: the 481 to the next NOTIFY ends the
    // subscription.
    const good =
      response !== undefined && response.status < 300 && response.toTag !== '' && this.#start.app.isOpen
    if (!good) {
      if (this.#dialog) this.#dialogs.remove(this.#dialog)
      return
    }
    const known = this.#dialog
    // A NOTIFY that arrived before the response may already have ended the subscription.
    if (known?.isEnded && known.remoteTag === response.toTag) return
    const to = response.headers.first('to') ?? this.#start.made().to
    const dialog =
      known?.remoteTag === response.toTag
        ? known
        : this.#open(response, response.toTag, to, recordRoute(response).reverse(), flow)
    this.#granted(dialog, expiresOf(response.headers))
  }

  #open(
    message: SipMessage,
    remoteTag: string,
    remoteAddress: string,
    routeSet: readonly string[],
    flow: Flow,
  ): Dialog {
    const { app, fromTag } = this.#start
    const made = this.#start.made()
    const dialog = new Dialog({
      id: dialogId(made.callId, fromTag),
      callId: made.callId,
      localTag: fromTag,
      remoteTag,
      localAddress: made.from,
      remoteAddress,
      routeSet,
      localSeq: made.seq,
      remoteSeq: message.kind === 'request' ? message.seq - 1 : -1,
      localContact: made.contact,
      flow,
      origin: this.#start.origin(),
      target: contactOf(message) ?? made.uri,
      owner: app,
      isSubscription: true,
    })
    this.#dialogs.confirm(dialog)
    return dialog
  }
}
