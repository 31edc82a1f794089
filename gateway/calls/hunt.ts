import { CallEnded, type ConnectOptions, type ConnectResult, type Destination } from '../../handlers/verbs.ts'
import type { Clock, Timer } from '../clock.ts'
import { type Cause, type Code, sipStatusOf } from '../errors.ts'
import type { Log } from '../log.ts'
import { betterCause } from './best-cause.ts'
import type { Bridge, Bridges } from './bridge.ts'
import type { Call } from './call.ts'
import { requestFor, targetsOf } from './destinations.ts'
import type { Leg, LegOwner } from './leg.ts'
import type { Player, Playing } from './player.ts'
import type { AddressBook, Endpoints, OutboundSip, OutboundSubscriber } from './ports.ts'

/** What a hunt works with. */
export interface HuntParts {
  readonly addresses: AddressBook
  readonly sip: OutboundSip
  readonly subscribers: OutboundSubscriber
  /** Default: no endpoint is ever registered. */
  readonly endpoints?: Endpoints
  readonly bridges: Bridges
  readonly player: Player
  readonly clock: Clock
  readonly log: Log
  /** Ring time where the options say nothing, in ms. */
  readonly ringMs: number
}

/** Longest time together where the options say nothing: 4 hours. */
const MAX_DURATION_MS = 4 * 3_600_000

/** Outcome of {@link Hunt.run}; `cause` is the refusal that the caller is told. */
export type HuntOutcome = { readonly result: ConnectResult; readonly cause?: Cause }

/**
 * Finds somebody for the caller: tries the steps one after the other, rings the destinations of a step together, takes the first answer
 * and joins the two until one hangs up. It owns the legs that it makes.
 */
export class Hunt implements LegOwner {
  #parts: HuntParts
  #call: Call
  #options: ConnectOptions
  #ringing = new Map<Leg, Timer>()
  #winner: Leg | undefined
  /** Whom the caller hears: the winner, or before there is one, a leg with early media. */
  #partner: Leg | undefined
  /** The join of the two; none while either holds. */
  #bridge: Bridge | undefined
  #ringback: Playing | undefined
  #cause: Cause | undefined
  #over = false
  #stepDone: () => void = () => {}
  #talkDone: () => void = () => {}

  constructor(parts: HuntParts, call: Call, options: ConnectOptions) {
    this.#parts = parts
    this.#call = call
    this.#options = options
  }

  /** Rejects with `CallEnded` when the caller goes before anybody answered. */
  async run(): Promise<HuntOutcome> {
    const { caller } = this.#call
    try {
      if (!caller.isAnswered && !this.#options.answerOnBridge) await this.#call.whileUp(caller.answer())
      for (const step of this.#options.steps) {
        const winner = await this.#ring(step)
        if (winner) return { result: await this.#talk(winner) }
      }
      const cause = this.#cause ?? { code: 'unreachable' }
      return { result: failure(cause), cause }
    } finally {
      this.#release()
    }
  }

  legEarly(leg: Leg, media: boolean): void {
    if (this.#partner || this.#winner) return
    this.#inBackground(
      media && !this.#options.ringback && leg.port ? this.#earlyMedia(leg) : this.#ringCaller(),
    )
  }

  legAnswered(leg: Leg): void {
    if (this.#winner) {
      leg.end({ code: 'answered_elsewhere' })
      return
    }
    this.#winner = leg
    for (const [other, timer] of [...this.#ringing]) {
      timer.cancel()
      if (other !== leg) other.end({ code: 'answered_elsewhere' })
    }
    this.#ringing.clear()
    this.#stepDone()
  }

  /** A digit of the callee goes to the caller. */
  legDigit(leg: Leg, digit: string): void {
    if (this.#partner === leg) this.#inBackground(this.#call.caller.sendDigits(digit))
  }

  legHeld(): void {
    this.#patch()
  }

  legEnded(leg: Leg): void {
    this.#ringing.get(leg)?.cancel()
    this.#ringing.delete(leg)
    if (leg === this.#winner) this.#talkDone()
    if (this.#winner) return
    if (this.#partner === leg) {
      this.#part()
      // Others that rang all the while were not heard beside its early media.
      if ([...this.#ringing.keys()].some((other) => other.state.kind === 'early'))
        this.#inBackground(this.#ringCaller())
    }
    if (leg.state.kind === 'ended') this.#failed(leg.state.cause)
    if (this.#ringing.size === 0) this.#stepDone()
  }

  /** Rings one step; undefined when nobody of it answered. */
  async #ring(step: readonly Destination[]): Promise<Leg | undefined> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const legs = step.flatMap((destination) => this.#dial(destination))
    this.#stepDone = resolve
    // A leg may be over before this point.
    if (legs.every((leg) => leg.isEnded)) resolve()
    await this.#call.whileUp(promise)
    return this.#winner
  }

  /** The legs to a destination: one, one for each place where an endpoint is registered, or none. */
  #dial(destination: Destination): Leg[] {
    const parts = this.#parts
    const request = requestFor(destination, this.#call)
    const targets = targetsOf(destination.to, parts)
    if ('code' in targets) {
      this.#failed(targets)
      parts.log.info({ code: targets.code, to: destination.to }, 'destination cannot be dialled')
      return []
    }
    const ms = destination.timeoutMs ?? this.#options.timeoutMs ?? parts.ringMs
    return targets.map((target) => {
      const leg =
        target.kind === 'sip' ? parts.sip.dial(target, request) : parts.subscribers.dial(target, request)
      this.#ringing.set(
        leg,
        parts.clock.after(ms, () => leg.end({ code: 'no_answer' })),
      )
      this.#call.adopt(leg, this)
      if (leg.isEnded) this.legEnded(leg)
      return leg
    })
  }

  #failed(cause: Cause): void {
    this.#cause = betterCause(this.#cause, cause)
  }

  /** The caller learns that it rings: by 180 where that is enough, else by a tone too. */
  async #ringCaller(): Promise<void> {
    const { caller } = this.#call
    if (this.#ringback || this.#winner || this.#over) return
    caller.ring()
    // A telephone makes its own ringing tone at a 180; a browser makes none.
    if (!caller.isAnswered && caller.kind === 'sip' && !this.#options.ringback) return
    await caller.progress()
    // Until the caller hears, much can have happened: a ringing tone that began now would never end.
    if (!caller.port || caller.isEnded || this.#ringback || this.#winner || this.#partner || this.#over)
      return
    const sounds = this.#options.ringback ?? [{ kind: 'ringtone' as const }]
    this.#ringback = this.#parts.player.start(caller.port, sounds, { loop: 0 })
    this.#ringback.done.catch((error) =>
      this.#parts.log.warn({ err: error }, 'the ringback cannot be played'),
    )
  }

  async #earlyMedia(leg: Leg): Promise<void> {
    await this.#call.caller.progress()
    if (!this.#winner && !this.#partner && !leg.isEnded && !this.#call.caller.isEnded) this.#pair(leg)
  }

  /** From now on the caller hears this leg, and is heard by it. */
  #pair(leg: Leg): void {
    this.#ringback?.stop()
    this.#ringback = undefined
    this.#partner = leg
    this.#call.listen({
      digit: (digit) => this.#inBackground(leg.sendDigits(digit)),
      held: () => this.#patch(),
    })
    this.#patch()
  }

  /** Joins the pair, or parts it while either of them holds; to be called after whatever may have changed that. */
  #patch(): void {
    const { caller } = this.#call
    const leg = this.#partner
    // A caller whose INVITE had no offer has no audio before the ACK of its answer (RFC 3264 section 4).
    const both = leg && !leg.isEnded && !leg.isHeld && !caller.isHeld && caller.port && leg.port
    if (both && this.#bridge?.b === leg) return
    this.#bridge?.close()
    this.#bridge = both ? this.#parts.bridges.join(caller, leg) : undefined
  }

  async #talk(leg: Leg): Promise<ConnectResult> {
    const { clock } = this.#parts
    const { caller, id } = this.#call
    const startedAt = clock.now()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#talkDone = resolve
    this.#pair(leg)
    const limit = clock.after(this.#options.maxDurationMs ?? MAX_DURATION_MS, () =>
      leg.end({ code: 'max_duration' }),
    )
    try {
      await this.#call.whileUp(caller.answer())
      this.#patch()
      if (!leg.isEnded) await this.#call.whileUp(promise)
    } catch (error) {
      // The caller's hang-up is an outcome too: whoever asked is told how long the two talked.
      if (!(error instanceof CallEnded)) throw error
    } finally {
      limit.cancel()
      this.#part()
    }
    const byLimit = leg.state.kind === 'ended' && leg.state.cause.code === 'max_duration'
    return {
      kind: 'connected',
      endedBy: caller.isEnded ? 'caller' : byLimit ? 'limit' : 'callee',
      durationMs: clock.now() - startedAt,
      calleeCallId: `${id}/${leg.id}`,
    }
  }

  #part(): void {
    this.#bridge?.close()
    this.#bridge = undefined
    this.#partner = undefined
    this.#call.listen(undefined)
  }

  /** Work that nobody waits for. What goes wrong in it costs the caller a sound, and never more than that. */
  #inBackground(work: Promise<void>): void {
    work.catch((error) => this.#parts.log.error({ err: error }, 'a step of the hunt failed'))
  }

  #release(): void {
    this.#over = true
    this.#part()
    this.#ringback?.stop()
    for (const [leg, timer] of [...this.#ringing]) {
      timer.cancel()
      leg.end({ code: 'canceled' })
    }
    this.#ringing.clear()
    if (this.#winner && !this.#winner.isEnded) this.#winner.end({ code: 'normal' })
  }
}

const reasons: Partial<Record<Code, Extract<ConnectResult, { kind: 'failed' }>['reason']>> = {
  busy: 'busy',
  declined: 'declined',
  no_answer: 'no-answer',
  not_online: 'no-answer',
  unreachable: 'unreachable',
  unknown_address: 'unreachable',
  control_lost: 'unreachable',
}

const failure = (cause: Cause): ConnectResult => ({
  kind: 'failed',
  reason: reasons[cause.code] ?? 'error',
  sipStatus: sipStatusOf(cause),
  code: cause.code,
})
