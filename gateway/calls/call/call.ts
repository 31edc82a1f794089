import type { CallInfo } from '../../../handlers/verbs.ts'
import { CallEnded, type RecordResult } from '../../../handlers/verbs.ts'
import type { MediaPort } from '../../../media/types.ts'
import type { Clock, Timer } from '../../core/clock.ts'
import type { Cause } from '../../core/errors/catalogue.ts'
import type { CallId } from '../../model.ts'
import { verbFailed } from '../leg/failures.ts'
import type { Leg, LegOwner } from '../leg/leg.ts'
import { noopLegOwner } from '../leg/noop-leg-owner.ts'
import type { Referral } from '../leg/referral.ts'

/** Told when a call is over. */
export interface CallObserver {
  callAnswered(call: Call): void
  callEnded(call: Call): void
  /** A leg was made for it, which `owner` hears of. */
  legAdopted?(leg: Leg, owner: LegOwner): void
}

/** Where what the caller does goes to. */
export interface CallerListener {
  /** Whom the caller hears; absent: nobody, or many. */
  readonly partner?: Leg
  digit(digit: string): void
  held?(held: boolean): void
  /** See {@link LegOwner.legReferred}; absent: there is no other party. */
  referred?(referral: Referral): boolean
  /** See {@link LegOwner.legReplaced}; the call has taken `by` already when it is asked to patch. Absent: the caller cannot be replaced. */
  replaced?(): void
}

/** A leg's end, as it is written down. */
export interface CallLeg {
  readonly leg: Leg
  readonly role: 'caller' | 'callee'
}

/** A recording of a call, as it is written down. */
export interface CdrRecording {
  readonly id: string
  /** Never rejects; settles after the call's end at the latest. */
  readonly ended: Promise<RecordResult>
}

/** Legs, and recordings, that are written down of one call. A document can dial again and again for hours; the first ones tell enough. */
const maxCdrEntries = 100

/**
 * What the customer sees as one call: the caller's leg and every leg that was made for it. It is over when its last leg has ended, and
 * the end of the caller's leg ends all the others.
 */
export class Call implements LegOwner {
  readonly id: CallId
  readonly startedAt: number
  #info: CallInfo
  #caller: Leg
  #clock: Clock
  #observer: CallObserver
  #legs = new Set<Leg>()
  #records: CallLeg[] = []
  #unrecorded = 0
  #recordings: CdrRecording[] = []
  #abort = new AbortController()
  #limit: Timer | undefined
  #mostMs: number
  #longestMs: number
  #answeredAt: number | undefined
  #listener: CallerListener | undefined
  #eavesdroppers = new Set<(digit: string) => void>()
  #over = false
  #partyListeners = new Set<() => void>()

  /** `longestMs`: longest duration that anybody can give it; a call that is not answered lasts no longer either. */
  constructor(info: CallInfo, caller: Leg, clock: Clock, observer: CallObserver, longestMs: number) {
    this.id = info.callId as CallId
    this.#info = info
    this.#caller = caller
    this.#clock = clock
    this.#observer = observer
    // A leg that we made has begun, and was answered, before it became somebody's call.
    this.startedAt = caller.times.startedAt
    this.#answeredAt = caller.times.answeredAt
    this.#mostMs = longestMs
    this.#longestMs = longestMs
    this.#add(caller, 'caller')
    caller.own(this)
    this.#count()
  }

  get info(): CallInfo {
    return this.#info
  }

  /** More is known of the call. */
  addInfo(known: Pick<CallInfo, 'answeredBy'>): void {
    this.#info = { ...this.#info, ...known }
  }

  /** The leg on whose end the call ends: that of who called, or of who was left behind when the caller went by a transfer. */
  get caller(): Leg {
    return this.#caller
  }

  /** Fires when the caller is gone; every verb that is pending settles. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  get answeredAt(): number | undefined {
    return this.#answeredAt
  }

  /** Legs in progress. */
  get legs(): ReadonlySet<Leg> {
    return this.#legs
  }

  /** The first legs that the call had, 100 at most. */
  get cdrLegs(): readonly CallLeg[] {
    return this.#records
  }

  /** How many more it had. */
  get omittedLegs(): number {
    return this.#unrecorded
  }

  /** The first recordings of the call, 100 at most. */
  get cdrRecordings(): readonly CdrRecording[] {
    return this.#recordings
  }

  /** A recording of the call begins, which ends with it. */
  addRecording(recording: CdrRecording): void {
    if (this.#recordings.length < maxCdrEntries) this.#recordings.push(recording)
  }

  /** Takes a leg that was made for this call; `owner` hears of it. */
  adopt(leg: Leg, owner: LegOwner): void {
    this.#add(leg, 'callee')
    leg.own(owner)
    this.#observer.legAdopted?.(leg, owner)
    if (this.caller.isEnded) leg.end({ code: 'canceled' })
  }

  /** Another leg of the call is its caller from now on; `owner` hears of the one that was. */
  handOver(to: Leg, owner: LegOwner = noopLegOwner): void {
    const from = this.#caller
    this.#caller = to
    to.own(this)
    from.own(owner)
    this.#tellParties()
  }

  /** Who hears of the caller's digits and holds; undefined: nobody. */
  listen(listener: CallerListener | undefined): void {
    this.#listener = listener
    this.#tellParties()
  }

  /** Whether somebody listens, whom the keys that are pressed are for. */
  get hasCallerListener(): boolean {
    return this.#listener !== undefined
  }

  /** Whom the caller is connected to. */
  get partner(): Leg | undefined {
    return this.#listener?.partner
  }

  /** Tells when the caller, or whom the caller is connected to, may be another one; while the one that was has its audio still. */
  onPartiesChanged(listener: () => void): void {
    this.#partyListeners.add(listener)
  }

  /** Tells of the caller's digits besides, until the function that comes back is called. */
  onDigit(listener: (digit: string) => void): () => void {
    this.#eavesdroppers.add(listener)
    return () => this.#eavesdroppers.delete(listener)
  }

  /** The longest duration in ms, counted from the answer; replaces an earlier one, and is never more than the call was made with. */
  limitDuration(ms: number): void {
    this.#longestMs = Math.min(ms, this.#mostMs)
    if (this.#answeredAt !== undefined) this.#count()
  }

  /** Ends the call by ending the caller's leg. */
  end(cause: Cause): void {
    this.caller.end(cause)
  }

  /**
   * Resolves like `work`, unless the call ends first: then it rejects with {@link CallEnded}. Where `signal` fires before, it rejects with
   * its reason.
   */
  async whileUp<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
    const { promise, reject } = Promise.withResolvers<never>()
    const onEnd = () => reject(new CallEnded())
    const onGiveUp = () => reject(signal?.reason)
    // Whoever listens to a signal that has fired already is never told.
    if (this.signal.aborted) onEnd()
    else if (signal?.aborted) onGiveUp()
    this.signal.addEventListener('abort', onEnd, { once: true })
    signal?.addEventListener('abort', onGiveUp, { once: true })
    try {
      return await Promise.race([promise, work])
    } finally {
      this.signal.removeEventListener('abort', onEnd)
      signal?.removeEventListener('abort', onGiveUp)
    }
  }

  /**
   * The caller's audio, opened where it is not: by an answer, or before one (183). Rejects as {@link whileUp} does, and with
   * {@link VerbFailed} `no_audio`.
   */
  async openAudio(answer: boolean, signal?: AbortSignal): Promise<MediaPort> {
    const { caller } = this
    if (!caller.isAnswered) await this.whileUp(answer ? caller.answer() : caller.progress(), signal)
    const { port } = this.caller
    if (!port) throw verbFailed('no_audio')
    return port
  }

  /** The caller's leg belongs to somebody else from now on: for whoever drives this call it is over. */
  release(owner: LegOwner): void {
    this.legEnded()
    this.caller.own(owner)
  }

  legEarly(): void {}

  legAnswered({ times }: Leg): void {
    this.#answeredAt = times.answeredAt
    this.#count()
    this.#observer.callAnswered(this)
  }

  legDigit(_leg: Leg, digit: string): void {
    for (const overhear of this.#eavesdroppers) overhear(digit)
    this.#listener?.digit(digit)
  }

  legHeld(_leg: Leg, held: boolean): void {
    this.#listener?.held?.(held)
  }

  legReferred(_leg: Leg, referral: Referral): boolean {
    return this.#listener?.referred?.(referral) === true
  }

  legReplaced(leg: Leg, by: Leg): boolean {
    const replaced = this.#listener?.replaced
    if (!replaced) return false
    this.#add(by, 'caller')
    this.handOver(by)
    replaced()
    leg.end({ code: 'answered_elsewhere' })
    return true
  }

  legEnded(): void {
    this.#limit?.cancel()
    this.#abort.abort()
    const { state } = this.caller
    // A failure of the gateway is none of the callee's doing either.
    const ofAnswered: Cause =
      state.kind === 'ended' && state.cause.code === 'internal' ? state.cause : { code: 'normal' }
    for (const leg of [...this.#legs]) {
      if (leg !== this.caller) leg.end(leg.isAnswered ? ofAnswered : { code: 'canceled' })
    }
  }

  #tellParties(): void {
    for (const listener of this.#partyListeners) listener()
  }

  #count(): void {
    this.#limit?.cancel()
    if (this.caller.isEnded) return
    const end =
      this.#answeredAt === undefined ? this.startedAt + this.#mostMs : this.#answeredAt + this.#longestMs
    this.#limit = this.#clock.after(end - this.#clock.now(), () => this.end({ code: 'max_duration' }))
  }

  #add(leg: Leg, role: CallLeg['role']): void {
    const { lineage } = this.#caller.facts
    if (!leg.facts.lineage) leg.note({ lineage })
    this.#legs.add(leg)
    if (this.#records.length < maxCdrEntries) this.#records.push({ leg, role })
    else this.#unrecorded++
    leg.whenGone(() => {
      this.#legs.delete(leg)
      if (this.#legs.size > 0 || this.#over || !this.caller.isEnded) return
      this.#over = true
      this.#observer.callEnded(this)
    })
  }
}
