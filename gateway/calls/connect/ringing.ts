import type { Callee, CalleeState, Destination } from '../../../handlers/verbs.ts'
import type { Timer } from '../../core/clock.ts'
import type { Cause } from '../../core/errors/catalogue.ts'
import { guarded } from '../../core/guarded.ts'
import { shownUri } from '../../core/sip-uri.ts'
import type { Leg, LegOwner } from '../leg/leg.ts'
import type { OutboundRequest, QueuedCaller, Waiters } from '../ports.ts'
import { betterCause } from './best-cause.ts'
import { Candidate } from './candidate.ts'
import { queueNamed, type Ringable, targetsOf } from './destinations.ts'
import type { Refused, RingingOptions, RingingOwner, RingingParts, Taken } from './ringing-parts.ts'
import { confirmed, screened } from './screening.ts'

/** Rings destinations until one of them is taken. It owns their legs meanwhile. */
export class Ringing implements LegOwner {
  #parts: RingingParts
  #owner: RingingOwner
  #options: RingingOptions
  /** Those that have not answered yet, until their ring time is over. */
  #ringing = new Map<Leg, Timer>()
  /** Those that have answered and are not taken yet. */
  #screening = new Set<Leg>()
  #candidates = new Map<Leg, Candidate>()
  /** Those for whom somebody in a queue is waited for, and what ends the wait. */
  #waits = new Map<Candidate, AbortController>()
  #taken: Taken | undefined
  #refused: Refused | undefined
  #over = false
  #stepDone: () => void = () => {}

  constructor(parts: RingingParts, owner: RingingOwner, options: RingingOptions) {
    this.#parts = parts
    this.#owner = owner
    this.#options = options
  }

  /** Why nobody could be had so far. */
  get refused(): Refused | undefined {
    return this.#refused
  }

  /** Tries the steps one after the other; undefined when nobody could be had, or it was stopped. To be called once. */
  async run(steps: readonly (readonly Destination[])[]): Promise<Taken | undefined> {
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
    this.#candidates.get(leg)?.ringing(leg)
    if (this.#ringing.has(leg)) this.#owner.early(leg, media)
  }

  legAnswered(leg: Leg): void {
    const candidate = this.#candidates.get(leg)
    if (!candidate || !this.#stopsRinging(leg)) return
    // Whoever takes the call on one telephone does not want the others to go on.
    for (const other of candidate.legs) if (other !== leg) other.end({ code: 'answered_elsewhere' })
    candidate.answered(leg)
    if (candidate.destination.confirm) void this.#screen(leg, candidate)
    else this.#take({ leg, candidate })
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
    const candidate: Candidate = new Candidate(destination, (state) => this.#tell(candidate, state))
    const { projectId, callId } = this.#owner
    const queue = queueNamed(destination.to)
    if (queue !== undefined && callId) {
      void this.#fromQueue({ projectId, name: queue, by: callId }, candidate)
      return
    }
    const targets = targetsOf(destination.to, projectId, this.#parts)
    if ('code' in targets) {
      const to = shownUri(destination.to)
      this.#parts.log.info({ code: targets.code, to }, 'destination cannot be dialled')
      this.#failed(candidate, targets)
      return
    }
    const request = this.#owner.request(candidate)
    this.#await(
      candidate,
      targets.map((target) => this.#legTo(target, request)),
    )
  }

  #legTo(target: Ringable, request: OutboundRequest): Leg {
    const { sip, subscribers, locals } = this.#parts
    if (target.kind === 'sip') return sip.dial(target, request)
    return target.kind === 'subscriber' ? subscribers.dial(target, request) : locals.dial(target, request)
  }

  #await(candidate: Candidate, legs: readonly Leg[]): void {
    const { clock, ringMs } = this.#parts
    const ms = candidate.destination.timeoutMs ?? this.#options.timeoutMs ?? ringMs
    for (const leg of legs) {
      this.#candidates.set(leg, candidate)
      this.#ringing.set(
        leg,
        clock.after(ms, () => leg.end({ code: 'no_answer' })),
      )
    }
    candidate.dialled(legs)
    for (const leg of legs) {
      this.#owner.adopt(leg, this)
      if (leg.isEnded) this.legEnded(leg)
    }
  }

  /** Asks whoever answered, in a way of the destination's own, whether it takes the call. */
  async #screen(leg: Leg, candidate: Candidate): Promise<void> {
    this.#screening.add(leg)
    this.#owner.silent(leg, true)
    const accepted = await screened(this.#parts, {
      leg,
      candidate,
      owner: this,
      projectId: this.#owner.projectId,
      adopt: (made, owner) => this.#owner.adopt(made, owner),
      timeoutMs: this.#options.confirmTimeoutMs,
    })
    if (!this.#screening.delete(leg)) return
    if (accepted) this.#take({ leg, candidate })
    else this.#lost(leg)
  }

  /** Waits for somebody in a queue, for the ring time of the destination. */
  async #fromQueue(queue: Parameters<Waiters['take']>[0], candidate: Candidate): Promise<void> {
    const { clock, waiters, log, ringMs } = this.#parts
    const giveUp = new AbortController()
    this.#waits.set(candidate, giveUp)
    const ms = candidate.destination.timeoutMs ?? this.#options.timeoutMs ?? ringMs
    const timer = clock.after(ms, () => giveUp.abort())
    let queued: QueuedCaller | undefined
    try {
      queued = await waiters?.take(queue, giveUp.signal)
    } catch (error) {
      log.error({ err: error, queue: queue.name }, 'nobody could be taken from the queue')
    } finally {
      timer.cancel()
    }
    const willing = queued !== undefined && (await this.#asked(queued, candidate, giveUp.signal))
    // Somebody else may have been taken meanwhile.
    const wanted = this.#waits.delete(candidate)
    if (queued && wanted && willing) this.#take({ leg: queued.call.caller, candidate, queued })
    else {
      queued?.release()
      if (wanted) this.#failed(candidate, { code: queued ? 'declined' : 'no_answer' })
    }
  }

  /** Whether somebody of a queue is to be taken, as the destination's `confirm` says. */
  async #asked(queued: QueuedCaller, { destination }: Candidate, signal: AbortSignal): Promise<boolean> {
    const { confirm } = destination
    const { confirmTimeoutMs: timeoutMs } = this.#options
    return !confirm || (await confirmed(this.#parts, { queued, confirm, signal, timeoutMs }))
  }

  #take(taken: Taken): void {
    this.#taken = taken
    taken.candidate.taken(taken.queued?.call)
    this.#endAll({ code: 'answered_elsewhere' })
    this.#stepDone()
  }

  /** A leg is over without being taken. */
  #lost(leg: Leg): void {
    const candidate = this.#candidates.get(leg)
    this.#candidates.delete(leg)
    if (this.#taken || this.#over || !candidate) return
    const others = [...this.#ringing.keys()].some((other) => other.state.kind === 'early')
    this.#owner.silent(leg, others || this.#screening.size > 0)
    // Another leg of its own may still ring, or be asked.
    const { refusal, callee, legs } = candidate
    if (refusal && legs.every((other) => other.isEnded)) this.#refuse(refusal, callee)
    this.#settle()
  }

  #failed(candidate: Candidate, cause: Cause): void {
    candidate.failed(cause)
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
    for (const [candidate, wait] of [...this.#waits]) {
      this.#waits.delete(candidate)
      wait.abort()
      candidate.failed(cause)
    }
    const legs = [...this.#ringing.keys(), ...this.#screening]
    this.#screening.clear()
    for (const leg of legs) {
      this.#stopsRinging(leg)
      if (leg !== this.#taken?.leg) leg.end(cause)
    }
  }

  #tell(candidate: Candidate, state: CalleeState): void {
    const { log, journal } = this.#parts
    const { onState } = candidate.destination
    if (onState) guarded(onState, log)(state)
    journal.called(this.#owner, candidate, state)
    this.#owner.state?.(candidate, state)
  }
}
