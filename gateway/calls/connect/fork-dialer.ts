import type { Callee, CalleeState, Destination } from '../../../handlers/verbs.ts'
import type { Timer } from '../../core/clock.ts'
import type { Cause } from '../../core/errors/catalogue.ts'
import { guarded } from '../../core/guarded.ts'
import { shownUri } from '../../core/sip-uri.ts'
import type { OutboundRequest, QueuedCaller, QueuedCallers } from '../call-ports.ts'
import type { Leg, LegOwner } from '../leg/leg.ts'
import { betterCause } from './best-cause.ts'
import { Branch } from './branch.ts'
import { confirmCallee, confirmQueuedCaller } from './confirmation.ts'
import { type DialableTarget, queueNameOf, targetsOf } from './destinations.ts'
import type { ForkDialerDeps, ForkFailure, ForkOptions, ForkOwner, Winner } from './fork-types.ts'

/** Rings destinations until one of them is taken. It owns their legs meanwhile. */
export class ForkDialer implements LegOwner {
  #parts: ForkDialerDeps
  #owner: ForkOwner
  #options: ForkOptions
  /** Those that have not answered yet, until their ring time is over. */
  #ringing = new Map<Leg, Timer>()
  /** Those that have answered and are not taken yet. */
  #screening = new Set<Leg>()
  #branches = new Map<Leg, Branch>()
  /** Those for whom somebody in a queue is waited for, and what ends the wait. */
  #waits = new Map<Branch, AbortController>()
  #taken: Winner | undefined
  #refused: ForkFailure | undefined
  #over = false
  #stepDone: () => void = () => {}

  constructor(parts: ForkDialerDeps, owner: ForkOwner, options: ForkOptions) {
    this.#parts = parts
    this.#owner = owner
    this.#options = options
  }

  /** Why nobody could be had so far. */
  get refused(): ForkFailure | undefined {
    return this.#refused
  }

  /** Tries the steps one after the other; undefined when nobody could be had, or it was stopped. To be called once. */
  async run(steps: readonly (readonly Destination[])[]): Promise<Winner | undefined> {
    for (const step of steps) {
      if (this.#over) return undefined
      await this.#step(step)
      if (this.#taken) return this.#taken
    }
    return undefined
  }

  /** Gives everybody up who is not taken. Idempotent. */
  stop(): void {
    this.#over = true
    this.#endAll({ code: 'canceled' })
    this.#stepDone()
  }

  legEarly(leg: Leg, media: boolean): void {
    this.#branches.get(leg)?.ringing(leg)
    if (this.#ringing.has(leg)) this.#owner.early(leg, media)
  }

  legAnswered(leg: Leg): void {
    const branch = this.#branches.get(leg)
    if (!branch || !this.#stopsRinging(leg)) return
    // Whoever takes the call on one telephone does not want the others to go on.
    for (const other of branch.legs) if (other !== leg) other.end({ code: 'answered_elsewhere' })
    branch.answered(leg)
    if (branch.destination.confirm) void this.#screen(leg, branch)
    else this.#take({ leg, branch })
  }

  legDigit(leg: Leg, digit: string): void {
    this.#owner.digit(leg, digit)
  }

  legHeld(): void {}

  legEnded(leg: Leg): void {
    if (this.#taken?.leg === leg) return
    this.#stopsRinging(leg)
    this.#lost(leg)
  }

  async #step(step: readonly Destination[]): Promise<void> {
    for (const destination of step) {
      // Somebody may be taken, or all be over, before the last one is dialled.
      if (!this.#taken && !this.#over) this.#dial(destination)
    }
    // What is said to be over may only be so for a moment: of two telephones, one is asked once the other has stopped to ring.
    while (this.#pending > 0) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#stepDone = resolve
      await promise
    }
  }

  /** Those of the step that may still be taken. */
  get #pending(): number {
    return this.#ringing.size + this.#screening.size + this.#waits.size
  }

  #dial(destination: Destination): void {
    const branch: Branch = new Branch(destination, (state) => this.#tell(branch, state))
    const { projectId, callId } = this.#owner
    const queue = queueNameOf(destination.to)
    if (queue !== undefined && callId) {
      void this.#fromQueue({ projectId, name: queue, by: callId }, branch)
      return
    }
    const targets = targetsOf(destination.to, projectId, this.#parts)
    if ('code' in targets) {
      const to = shownUri(destination.to)
      this.#parts.log.info({ code: targets.code, to }, 'destination cannot be dialled')
      this.#failed(branch, targets)
      return
    }
    const request = this.#owner.request(branch)
    this.#await(
      branch,
      targets.map((target) => this.#legTo(target, request)),
    )
  }

  #legTo(target: DialableTarget, request: OutboundRequest): Leg {
    const { sip, subscribers, locals } = this.#parts
    if (target.kind === 'sip') return sip.dial(target, request)
    return target.kind === 'subscriber' ? subscribers.dial(target, request) : locals.dial(target, request)
  }

  #await(branch: Branch, legs: readonly Leg[]): void {
    const { clock, ringMs } = this.#parts
    const ms = branch.destination.timeoutMs ?? this.#options.timeoutMs ?? ringMs
    for (const leg of legs) {
      this.#branches.set(leg, branch)
      this.#ringing.set(
        leg,
        clock.after(ms, () => leg.end({ code: 'no_answer' })),
      )
    }
    branch.dialled(legs)
    for (const leg of legs) {
      this.#owner.adopt(leg, this)
      if (leg.isEnded) this.legEnded(leg)
    }
  }

  /** Asks whoever answered, in a way of the destination's own, whether it takes the call. */
  async #screen(leg: Leg, branch: Branch): Promise<void> {
    this.#screening.add(leg)
    this.#owner.silent(leg, true)
    const accepted = await confirmCallee(this.#parts, {
      leg,
      branch,
      owner: this,
      projectId: this.#owner.projectId,
      adopt: (made, owner) => this.#owner.adopt(made, owner),
      timeoutMs: this.#options.confirmTimeoutMs,
    })
    if (!this.#screening.delete(leg)) return
    if (accepted) this.#take({ leg, branch })
    else this.#lost(leg)
  }

  /** Waits for somebody in a queue, for the ring time of the destination. */
  async #fromQueue(queue: Parameters<QueuedCallers['take']>[0], branch: Branch): Promise<void> {
    const { clock, waiters, log, ringMs } = this.#parts
    const giveUp = new AbortController()
    this.#waits.set(branch, giveUp)
    const ms = branch.destination.timeoutMs ?? this.#options.timeoutMs ?? ringMs
    const timer = clock.after(ms, () => giveUp.abort())
    let queued: QueuedCaller | undefined
    try {
      queued = await waiters?.take(queue, giveUp.signal)
    } catch (error) {
      log.error({ err: error, queue: queue.name }, 'nobody could be taken from the queue')
    } finally {
      timer.cancel()
    }
    const willing = queued !== undefined && (await this.#asked(queued, branch, giveUp.signal))
    // Somebody else may have been taken meanwhile.
    const wanted = this.#waits.delete(branch)
    if (queued && wanted && willing) this.#take({ leg: queued.call.caller, branch, queued })
    else {
      queued?.release()
      if (wanted) this.#failed(branch, { code: queued ? 'declined' : 'no_answer' })
    }
  }

  /** Whether somebody of a queue is to be taken, as the destination's `confirm` says. */
  async #asked(queued: QueuedCaller, { destination }: Branch, signal: AbortSignal): Promise<boolean> {
    const { confirm } = destination
    const { confirmTimeoutMs: timeoutMs } = this.#options
    return !confirm || (await confirmQueuedCaller(this.#parts, { queued, confirm, signal, timeoutMs }))
  }

  #take(taken: Winner): void {
    this.#taken = taken
    taken.branch.won(taken.queued?.call)
    this.#endAll({ code: 'answered_elsewhere' })
    this.#stepDone()
  }

  /** A leg is over without being taken. */
  #lost(leg: Leg): void {
    const branch = this.#branches.get(leg)
    this.#branches.delete(leg)
    if (this.#taken || this.#over || !branch) return
    const others = [...this.#ringing.keys()].some((other) => other.state.kind === 'early')
    this.#owner.silent(leg, others || this.#screening.size > 0)
    // Another leg of its own may still ring, or be asked.
    const { refusal, callee, legs } = branch
    if (refusal && legs.every((other) => other.isEnded)) this.#refuse(refusal, callee)
    this.#settle()
  }

  #failed(branch: Branch, cause: Cause): void {
    branch.failed(cause)
    this.#refuse(cause)
    this.#settle()
  }

  #refuse(cause: Cause, callee?: Callee): void {
    const before = this.#refused
    if (!before || betterCause(before.cause, cause) === cause) this.#refused = { cause, callee }
  }

  /** The step is over when nobody of it is left. */
  #settle(): void {
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
    const legs = [...this.#ringing.keys(), ...this.#screening]
    this.#screening.clear()
    for (const leg of legs) {
      this.#stopsRinging(leg)
      if (leg !== this.#taken?.leg) leg.end(cause)
    }
  }

  #tell(branch: Branch, state: CalleeState): void {
    const { log, journal } = this.#parts
    const { onState } = branch.destination
    if (onState) guarded(onState, log)(state)
    journal.called(this.#owner, branch, state)
    this.#owner.state?.(branch, state)
  }
}
