import type { Timer } from '../clock.ts'
import type { Context } from '../core/context.ts'
import { type MadeRequest, makeCancel } from '../core/requests.ts'
import { isOwn } from '../core/uac/flow-or-hop.ts'
import { failureStatus } from '../core/uac/outgoing-request.ts'
import { noopFailoverUser, RequestFailover } from '../core/uac/request-failover.ts'
import type { SipResponse } from '../message/message.ts'
import { SipParseError } from '../message/sip-parse-error.ts'
import type { FarEnd } from '../reach/far-end.ts'
import type { ClientFailure } from '../transaction/invite-client.ts'
import type { Flow, Hop } from '../transport/types.ts'

/** Far end of a redirected branch: it may reach the same destinations as a customer without a carrier. */
const redirectedFarEnd: FarEnd = { kind: 'project', id: '' }

/** Collaborators of a branch. */
export interface BranchDeps {
  readonly context: Context
  readonly target: string
  /** Origin of the target: `peer` for a redirection. */
  readonly by: 'us' | 'peer'
  /** Share of Max-Breadth that the branch uses until it is done. */
  readonly breadth: number
  readonly invite: boolean
  readonly provisionalMs: number | undefined
  readonly finalMs: number | undefined
  make(flow: Flow): MadeRequest
  /** Receives responses other than 100; after the final response to an INVITE, only further 2xx. */
  response(branch: Branch, response: SipResponse, flow: Flow): void
  /** Receives the status of a branch without a final response. */
  failed(branch: Branch, status: number): void
}

/** One target of a proxied request. */
export class Branch {
  readonly target: string
  readonly breadth: number
  readonly #parts: BranchDeps
  #attempts: RequestFailover | undefined
  #isDone = false
  #cancelled: 'no' | 'waiting' | 'sent' = 'no'
  #silence: Timer | undefined
  #limit: Timer | undefined

  constructor(parts: BranchDeps) {
    this.#parts = parts
    this.target = parts.target
    this.breadth = parts.breadth
  }

  /** Whether the branch has a final response, or will not get one. */
  get isDone(): boolean {
    return this.#isDone
  }

  /** Finds the flow and sends the request. */
  start() {
    try {
      if (!this.#parts.context.router.find(this.target, (hops) => this.#send(hops))) this.#fail(503)
    } catch (error) {
      if (!(error instanceof SipParseError)) throw error
      this.#fail(416)
    }
  }

  /** Cancels an INVITE. The CANCEL waits for a provisional response (RFC 3261 9.1). */
  cancel() {
    if (this.isDone || this.#cancelled !== 'no' || !this.#parts.invite) return
    this.#cancelled = 'waiting'
    this.#attempts?.stay()
    if (!this.#attempts) this.#fail(487)
    else if (this.#attempts.heard) this.#sendCancel()
  }

  /** Stops without a CANCEL. */
  stop() {
    this.#isDone = true
    this.#silence?.cancel()
    this.#limit?.cancel()
  }

  #send(hops: readonly Hop[]) {
    const { context, by } = this.#parts
    if (this.isDone) return
    if (hops.length === 0 || hops.some((hop) => isOwn(hop, context)))
      return this.#fail(hops.length === 0 ? 503 : 482)
    if (by === 'us') return this.#begin(hops)
    context.reach.outside(redirectedFarEnd, hops, (objection) =>
      objection ? this.#fail(403) : this.#begin(hops),
    )
  }

  #begin(hops: readonly Hop[]) {
    const { context, make, provisionalMs, finalMs, by } = this.#parts
    if (this.isDone) return
    const attempts = new RequestFailover(
      context,
      { ways: hops, make, isForwarded: true, chosenBy: by },
      { canSkip503: true },
    )
    this.#attempts = attempts
    const { clock } = context
    if (provisionalMs !== undefined) this.#silence = clock.after(provisionalMs, () => this.#tooLong())
    if (finalMs !== undefined) this.#limit = clock.after(finalMs, () => this.#tooLong())
    attempts.start({
      response: (response, flow) => this.#response(response, flow),
      failed: (why) => this.#lost(why),
    })
  }

  #lost(why: ClientFailure) {
    // The response was lost with the connection, but the called phone may still be ringing: a CANCEL stops
    // it.
    if (why === 'transport' && this.#attempts?.heard && this.#parts.invite) this.#cancelAgain()
    this.#fail(this.#cancelled === 'no' ? failureStatus(why)[0] : 487)
  }

  #response(response: SipResponse, flow: Flow) {
    const { invite, context } = this.#parts
    if (response.status >= 200) {
      this.stop()
      return this.#parts.response(this, response, flow)
    }
    // Sent even if the target has timed out: it must not go on ringing.
    if (this.#cancelled === 'waiting') this.#sendCancel()
    if (this.isDone) return
    this.#silence?.cancel()
    // Timer C (RFC 3261 16.6, step 11): each provisional response but 100 restarts it.
    if (invite && this.#parts.finalMs === undefined && this.#cancelled === 'no') {
      this.#limit?.cancel()
      this.#limit = context.clock.after(context.timers.ringing, () => this.cancel())
    }
    if (response.status > 100) this.#parts.response(this, response, flow)
  }

  /**
   * Cancels a target that did not answer in time. A target that sent no response at all is abandoned without
   * a CANCEL.
   */
  #tooLong() {
    this.cancel()
    if (!this.#attempts?.heard || !this.#parts.invite) this.#fail(408)
  }

  #sendCancel() {
    const { context } = this.#parts
    const attempts = this.#attempts
    if (!attempts) return
    this.#cancelled = 'sent'
    const { made, flow } = attempts
    context.transactions.send(made.branch, 'CANCEL', makeCancel(made, []), flow, noopFailoverUser)
    this.#limit?.cancel()
    this.#limit = context.clock.after(64 * context.timers.t1, () => attempts.giveUp())
  }

  #cancelAgain() {
    const flow = this.#attempts?.again()
    const made = this.#attempts?.made
    if (flow && made)
      this.#parts.context.transactions.send(
        made.branch,
        'CANCEL',
        makeCancel(made, []),
        flow,
        noopFailoverUser,
      )
  }

  #fail(status: number) {
    if (this.isDone) return
    this.stop()
    this.#parts.failed(this, status)
  }
}
