import type { Dialog } from '../dialog/dialog.ts'
import type { App } from '../drachtio/app.ts'
import type { SipMessage } from '../message/message.ts'
import { serialiseMessage } from '../message/serialise.ts'

/** Who made the message that a record carries: the far end, or the agent with its applications. */
export type CdrSource = 'network' | 'application'

/** What the agent is to the call. */
export type CdrRole = 'uac' | 'uas' | 'proxy-uac' | 'proxy-uas'

/** Why a call ended, in the words of the original. */
export type CdrEnd =
  | 'call-rejected'
  | 'call-canceled'
  | 'normal-release'
  | 'session-expired'
  | 'system-initiated-termination'
  | 'system-error-initiated-termination'

/** Who takes records: the applications that routed `cdr:attempt`, `cdr:start` or `cdr:stop`, in rotation. */
export interface CdrTakers {
  choose(verb: string): App | undefined
}

/**
 * The records of calls that begin, are answered and end: one attempt for each INVITE outside dialogs, one start for each answer, one
 * stop for each end. An application gets only those that it routed; where none did, nothing is put into bytes.
 */
export class Cdrs {
  readonly #takers: CdrTakers
  /** Answered legs without their stop. */
  readonly #up = new WeakSet<Dialog>()

  constructor(takers: CdrTakers) {
    this.#takers = takers
  }

  /** A leg begins with this INVITE. */
  attempt(source: CdrSource, invite: SipMessage | Buffer): void {
    this.#send('cdr:attempt', source, undefined, invite)
  }

  /** A leg is answered with this 2xx. Further ones for the same dialog say nothing. */
  start(dialog: Dialog, source: CdrSource, role: CdrRole, answer: SipMessage | Buffer): void {
    if (this.#up.has(dialog)) return
    this.#up.add(dialog)
    this.#send('cdr:start', source, role, answer)
  }

  /** A leg that was answered ends with this BYE. Says nothing where its stop was told before. */
  stop(dialog: Dialog, source: CdrSource, reason: CdrEnd, bye: SipMessage | Buffer): void {
    if (this.#up.delete(dialog)) this.#send('cdr:stop', source, reason, bye)
  }

  /** A leg that was never answered ends with this response. */
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
