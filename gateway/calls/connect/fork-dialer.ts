import type { Callee, CalleeState, Destination } from '../../../handlers/verbs.ts'
import type { Timer } from '../../core/clock.ts'
import type { Cause } from '../../core/errors/catalogue.ts'
import { guardListener } from '../../core/guard.ts'
import { shownUri } from '../../core/sip-uri.ts'
import type { Leg, LegOwner } from '../leg/leg.ts'
import { betterCause } from './best-cause.ts'
import { Branch } from './branch.ts'
import { confirmCallee, confirmQueuedCaller } from './confirmation.ts'
import { queueNameOf } from './destinations.ts'
import type { ForkDialerDeps, ForkFailure, ForkOptions, ForkOwner, Winner } from './fork-types.ts'
import type { QueuedCaller, QueuedCallers } from './queued-callers.ts'

/** Dials destinations until one of them wins. It owns their legs meanwhile. */
export class ForkDialer implements LegOwner {
  #deps: ForkDialerDeps
  #owner: ForkOwner
  #options: ForkOptions
  /** Unanswered legs, with the timers of their ring times. */
  #ringing = new Map<Leg, Timer>()
  /** Answered legs whose callees are asked to confirm. */
  #confirming = new Set<Leg>()
  #branches = new Map<Leg, Branch>()
  /** Branches that wait for a caller of a queue. */
  #waits = new Map<Branch, AbortController>()
  #winner: Winner | undefined
  #failure: ForkFailure | undefined
  #isStopped = false
  #stepDone: () => void = () => {}

  constructor(deps: ForkDialerDeps, owner: ForkOwner, options: ForkOptions) {
    this.#deps = deps
    this.#owner = owner
    this.#options = options
  }

  /** Best rejection so far. */
  get failure(): ForkFailure | undefined {
    return this.#failure
  }

  /**
   * Dials the steps in order. Resolves with undefined if no leg wins, or after {@link stop}. Call it once.
   */
  async run(steps: readonly (readonly Destination[])[]): Promise<Winner | undefined> {
    for (const step of steps) {
      if (this.#isStopped) return undefined
      await this.#step(step)
      if (this.#winner) return this.#winner
    }
    return undefined
  }

  /** Cancels all legs but the winner's. Idempotent. */
  stop(): void {
    this.#isStopped = true
    this.#endAll({ code: 'canceled' })
    this.#stepDone()
  }

  legEarly(leg: Leg, hasMedia: boolean): void {
    this.#branches.get(leg)?.ringing(leg)
    if (this.#ringing.has(leg)) this.#owner.early?.(leg, hasMedia)
  }

  legAnswered(leg: Leg): void {
    const branch = this.#branches.get(leg)
    if (!branch || !this.#stopsRinging(leg)) return
    // The callee's other telephones must stop ringing.
    for (const other of branch.legs) if (other !== leg) other.end({ code: 'answered_elsewhere' })
    branch.answered(leg)
    if (branch.destination.confirm) void this.#confirm(leg, branch)
    else this.#win({ leg, branch })
  }

  legDigit(leg: Leg, digit: string): void {
    this.#owner.digit?.(leg, digit)
  }

  legEnded(leg: Leg): void {
    if (this.#winner?.leg === leg) return
    this.#stopsRinging(leg)
    this.#lost(leg)
  }

  async #step(step: readonly Destination[]): Promise<void> {
    for (const destination of step) {
      // A leg may win, or the fork be stopped, before the last destination is dialed.
      if (!this.#winner && !this.#isStopped) this.#dial(destination)
    }
    // The step may be pending again: a leg can start its confirmation just after another one has stopped
    // ringing.
    while (this.#pending > 0) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#stepDone = resolve
      await promise
    }
  }

  /** Number of legs and queue waits of the step that may still win. */
  get #pending(): number {
    return this.#ringing.size + this.#confirming.size + this.#waits.size
  }

  #dial(destination: Destination): void {
    const branch: Branch = new Branch(destination, (state) => this.#report(branch, state))
    const { projectId, callId, log } = this.#owner
    const queue = queueNameOf(destination.to)
    if (queue !== undefined && callId) {
      void this.#fromQueue({ projectId, name: queue, by: callId }, branch)
      return
    }
    const targets = this.#deps.dialer.targetsOf(destination.to, projectId)
    if ('code' in targets) {
      const to = shownUri(destination.to)
      log.info({ event: 'call.destination-rejected', code: targets.code, to }, 'destination rejected')
      this.#failed(branch, targets)
      return
    }
    const request = this.#owner.request(branch)
    const legs = targets.map((target) => this.#deps.dialer.dial(target, request))
    this.#await(branch, legs)
  }

  #await(branch: Branch, legs: readonly Leg[]): void {
    const ringMs = this.#ringMs(branch)
    for (const leg of legs) {
      this.#branches.set(leg, branch)
      const timer = this.#deps.clock.after(ringMs, () => leg.end({ code: 'no_answer' }))
      this.#ringing.set(leg, timer)
    }
    branch.dialled(legs)
    for (const leg of legs) {
      this.#owner.adopt(leg, this)
      if (leg.isEnded) this.legEnded(leg)
    }
  }

  #ringMs({ destination }: Branch): number {
    return destination.timeoutMs ?? this.#options.timeoutMs ?? this.#deps.ringMs
  }

  /** Runs the destination's `confirm` on an answered leg. */
  async #confirm(leg: Leg, branch: Branch): Promise<void> {
    this.#confirming.add(leg)
    this.#owner.silent?.(leg, true)
    const isConfirmed = await confirmCallee(this.#deps, {
      leg,
      branch,
      owner: this,
      projectId: this.#owner.projectId,
      log: this.#owner.log,
      adopt: (made, owner) => this.#owner.adopt(made, owner),
      timeoutMs: this.#options.confirmTimeoutMs,
    })
    if (!this.#confirming.delete(leg)) return
    if (isConfirmed) this.#win({ leg, branch })
    else this.#lost(leg)
  }

  /** Waits for a caller of a queue, at most for the ring time of the destination. */
  async #fromQueue(queue: Parameters<QueuedCallers['take']>[0], branch: Branch): Promise<void> {
    const { clock, queuedCallers } = this.#deps
    const wait = new AbortController()
    this.#waits.set(branch, wait)
    const timer = clock.after(this.#ringMs(branch), () => wait.abort())
    let queued: QueuedCaller | undefined
    try {
      queued = await queuedCallers?.take(queue, wait.signal)
    } catch (error) {
      const facts = { event: 'queue.take-failed', err: error, queue: queue.name }
      this.#owner.log.error(facts, 'caller not taken from the queue')
    } finally {
      timer.cancel()
    }
    const isConfirmed = queued !== undefined && (await this.#confirmQueued(queued, branch, wait.signal))
    // Another leg may have won meanwhile.
    const isWanted = this.#waits.delete(branch)
    if (queued && isWanted && isConfirmed) this.#win({ leg: queued.call.caller, branch, queued })
    else {
      queued?.release()
      if (isWanted) this.#failed(branch, { code: queued ? 'declined' : 'no_answer' })
    }
  }

  /** Runs the destination's `confirm`, if any, on a caller of a queue. */
  async #confirmQueued(queued: QueuedCaller, branch: Branch, signal: AbortSignal): Promise<boolean> {
    const { confirm } = branch.destination
    if (!confirm) return true
    const { log } = this.#owner
    const timeoutMs = this.#options.confirmTimeoutMs
    return confirmQueuedCaller(this.#deps, { queued, confirm, signal, log, timeoutMs })
  }

  #win(winner: Winner): void {
    this.#winner = winner
    winner.branch.won(winner.queued?.call)
    this.#endAll({ code: 'answered_elsewhere' })
    this.#stepDone()
  }

  /** Handles a leg that has ended without winning. */
  #lost(leg: Leg): void {
    const branch = this.#branches.get(leg)
    this.#branches.delete(leg)
    if (this.#winner || this.#isStopped || !branch) return
    const hasOthers = [...this.#ringing.keys()].some((other) => other.state.kind === 'early')
    this.#owner.silent?.(leg, hasOthers || this.#confirming.size > 0)
    // Another leg of the branch may still ring or be confirmed.
    const { refusal, callee, legs } = branch
    if (refusal && legs.every((other) => other.isEnded)) this.#refuse(refusal, callee)
    this.#checkStep()
  }

  #failed(branch: Branch, cause: Cause): void {
    branch.failed(cause)
    this.#refuse(cause)
    this.#checkStep()
  }

  #refuse(cause: Cause, callee?: Callee): void {
    const before = this.#failure
    if (!before || betterCause(before.cause, cause) === cause) this.#failure = { cause, callee }
  }

  /** Ends the step if nothing of it is pending. */
  #checkStep(): void {
    if (this.#pending === 0) this.#stepDone()
  }

  #stopsRinging(leg: Leg): boolean {
    this.#ringing.get(leg)?.cancel()
    return this.#ringing.delete(leg)
  }

  #endAll(cause: Cause): void {
    for (const [branch, wait] of [...this.#waits]) {
      this.#waits.delete(branch)
      wait.abort()
      branch.failed(cause)
    }
    const legs = [...this.#ringing.keys(), ...this.#confirming]
    this.#confirming.clear()
    for (const leg of legs) {
      this.#stopsRinging(leg)
      if (leg !== this.#winner?.leg) leg.end(cause)
    }
  }

  #report(branch: Branch, state: CalleeState): void {
    const { onState } = branch.destination
    if (onState) guardListener(onState, this.#owner.log)(state)
    this.#deps.callLog.called(this.#owner, branch, state)
    this.#owner.state?.(branch, state)
  }
}
