import type { Dialog } from '../dialog/dialog.ts'
import type { App } from '../drachtio/app.ts'
import type { SipMessage } from '../message/message.ts'
import { serialiseMessage } from '../message/serialise.ts'

/** Sender of the recorded message: the far end (`network`), or the agent or its application. */
export type CdrSource = 'network' | 'application'

/** Role of the agent in the call. */
export type CdrRole = 'uac' | 'uas' | 'proxy-uac' | 'proxy-uas'

/** Reason for the end of a call, in drachtio's terms. */
export type CdrEnd =
  | 'call-rejected'
  | 'call-canceled'
  | 'normal-release'
  | 'session-expired'
  | 'system-initiated-termination'
  | 'system-error-initiated-termination'

/**
 * Chooses the application that receives a record: in rotation, one of the applications that routed
 * `cdr:attempt`, `cdr:start` or `cdr:stop`.
 */
export interface CdrTakers {
  choose(verb: string): App | undefined
}

/**
 * Call records. An attempt is recorded for each INVITE outside dialogs, a start for each answer, and a stop
 * for each end. An application receives only the kinds of record that it routed. A record that no application
 * routed is not serialised.
 */
export class Cdrs {
  readonly #takers: CdrTakers
  /** Answered legs without a stop record. */
  readonly #up = new WeakSet<Dialog>()

  constructor(takers: CdrTakers) {
    this.#takers = takers
  }

  /** Records the INVITE that starts a leg. */
  attempt(source: CdrSource, invite: SipMessage | Buffer): void {
    this.#send('cdr:attempt', source, undefined, invite)
  }

  /** Records the 2xx that answers a leg. Further 2xx responses of the same dialog are not recorded. */
  start(dialog: Dialog, source: CdrSource, role: CdrRole, answer: SipMessage | Buffer): void {
    if (this.#up.has(dialog)) return
    this.#up.add(dialog)
    this.#send('cdr:start', source, role, answer)
  }

  /** Records the BYE that ends an answered leg. Does nothing if the stop was recorded before. */
  stop(dialog: Dialog, source: CdrSource, reason: CdrEnd, bye: SipMessage | Buffer): void {
    if (this.#up.delete(dialog)) this.#send('cdr:stop', source, reason, bye)
  }

  /** Records the response that ends an unanswered leg. */
  refused(source: CdrSource, reason: CdrEnd, response: SipMessage | Buffer): void {
    this.#send('cdr:stop', source, reason, response)
  }

  #send(verb: string, source: CdrSource, detail: string | undefined, message: SipMessage | Buffer): void {
    const app = this.#takers.choose(verb)
    if (!app) return
    const bytes = Buffer.isBuffer(message) ? message : serialiseMessage(message)
    app.record(verb, source, detail, bytes)
  }
}
