import { CallEnded, type CallInfo, type RecordResult } from '../../../handlers/verbs.ts'
import type { MediaPort } from '../../../media/types.ts'
import type { Clock, Timer } from '../../core/clock.ts'
import type { Cause } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type { CallId } from '../../model.ts'
import type { Addition } from '../leg/addition.ts'
import { verbFailed } from '../leg/failures.ts'
import type { Leg, LegOwner } from '../leg/leg.ts'
import { noopLegOwner } from '../leg/noop-leg-owner.ts'
import type { Referral } from '../leg/referral.ts'

/** Receives the changes of a call. */
export interface CallObserver {
  callAnswered?(call: Call): void
  callEnded?(call: Call): void
  /** A leg was made for the call; `owner` owns it. */
  legAdopted?(leg: Leg, owner: LegOwner): void
}

/** Receives the digits, holds and transfers of the caller. */
export interface CallerListener {
  /** Leg that the caller hears; absent for none, or for several. */
  readonly partner?: Leg
  digit?(digit: string): void
  held?(isHeld: boolean): void
  /** See {@link LegOwner.legReferred}. Absent without another party. */
  referred?(referral: Referral): boolean
  /** See {@link LegOwner.legAdds}. Absent without another party. */
  adds?(addition: Addition): boolean
  /**
   * Called when the caller has hung up. Returns true if another leg is the caller now, and the call goes on.
   */
  left?(): boolean
  /**
   * See {@link LegOwner.legReplaced}. Called after the new leg has become the call's caller. Absent: the
   * caller cannot be replaced.
   */
  replaced?(): void
}

/** Leg of a call, with the role that the leg had when it started. */
export interface CallLeg {
  readonly leg: Leg
  readonly role: 'caller' | 'callee'
}

/** Recording of a call, for the CDR. */
export interface CdrRecording {
  readonly id: string
  /** Never rejects; settles after the call's end at the latest. */
  readonly ended: Promise<RecordResult>
}

/** Collaborators and values of a {@link Call}. */
export interface CallOptions {
  readonly info: CallInfo
  readonly caller: Leg
  readonly clock: Clock
  /** Log whose lines contain the id of the call. */
  readonly log: Log
  readonly observer?: CallObserver
  /** Maximum duration in ms from the answer; also the maximum time without an answer. */
  readonly maxDurationMs: number
}

/** Whether the far side has left by itself. If the gateway ends the leg of the caller, the call ends. */
const hasLeft = ({ state }: Leg): boolean =>
  state.kind === 'ended' && (state.by === 'far' || state.cause.code === 'media_timeout')

/** Maximum number of legs, and of recordings, in a CDR: a document can dial for hours. */
const maxCdrEntries = 100

/**
 * A call as the customer sees it: the caller's leg and every leg that was made for the caller. The end of the
 * caller's leg ends all other legs. The call has ended when its last leg has ended.
 */
export class Call implements LegOwner {
  readonly id: CallId
  readonly startedAt: number
  readonly log: Log
  #info: CallInfo
  #caller: Leg
  #clock: Clock
  #observer: CallObserver
  #legs = new Set<Leg>()
  #cdrLegs: CallLeg[] = []
  #omittedLegs = 0
  #cdrRecordings: CdrRecording[] = []
  #abort = new AbortController()
  #durationTimer: Timer | undefined
  #maxDurationMs: number
  #durationLimitMs: number
  #answeredAt: number | undefined
  #callerListener: CallerListener | undefined
  #digitListeners = new Set<(digit: string) => void>()
  #hasEnded = false
  #partyListeners = new Set<() => void>()

  constructor({ info, caller, clock, log, observer = {}, maxDurationMs }: CallOptions) {
    this.id = info.callId as CallId
    this.log = log
    this.#info = info
    this.#caller = caller
    this.#clock = clock
    this.#observer = observer
    // An outbound leg has started, and was answered, before it becomes the caller of a call.
    this.startedAt = caller.times.startedAt
    this.#answeredAt = caller.times.answeredAt
    this.#maxDurationMs = maxDurationMs
    this.#durationLimitMs = maxDurationMs
    this.#add(caller, 'caller')
    caller.own(this)
    this.#startDurationTimer()
  }

  get info(): CallInfo {
    return this.#info
  }

  /** Adds facts that were found out during the call. */
  addInfo(found: Pick<CallInfo, 'answeredBy'>): void {
    this.#info = { ...this.#info, ...found }
  }

  /**
   * Leg whose end ends the call. This is the leg of the caller. After the caller was transferred, it is the
   * leg of the other party.
   */
  get caller(): Leg {
    return this.#caller
  }

  /** Fires when the caller's leg ends. All pending verbs settle then. */
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

  /** First legs of the call for its CDR, at most 100. */
  get cdrLegs(): readonly CallLeg[] {
    return this.#cdrLegs
  }

  /** Number of legs beyond {@link cdrLegs}. */
  get omittedLegs(): number {
    return this.#omittedLegs
  }

  /** First recordings of the call for its CDR, at most 100. */
  get cdrRecordings(): readonly CdrRecording[] {
    return this.#cdrRecordings
  }

  /** Adds a recording that has begun. */
  addRecording(recording: CdrRecording): void {
    if (this.#cdrRecordings.length < maxCdrEntries) this.#cdrRecordings.push(recording)
  }

  /** Adds a leg that was made for this call, and gives it to `owner`. */
  adopt(leg: Leg, owner: LegOwner): void {
    this.#add(leg, 'callee')
    leg.own(owner)
    this.#observer.legAdopted?.(leg, owner)
    if (this.caller.isEnded) leg.end({ code: 'canceled' })
  }

  /** Makes another leg of the call its caller. `owner` gets the former caller's leg. */
  handOver(to: Leg, owner: LegOwner = noopLegOwner): void {
    const from = this.#caller
    this.#caller = to
    to.own(this)
    from.own(owner)
    this.#notifyPartyListeners()
  }

  /** Sets the one listener to the caller's digits and holds; undefined removes it. */
  listen(listener: CallerListener | undefined): void {
    this.#callerListener = listener
    this.#notifyPartyListeners()
  }

  /** Whether the caller's digits go to a listener. */
  get hasCallerListener(): boolean {
    return this.#callerListener !== undefined
  }

  /** Leg that the caller is connected to. */
  get partner(): Leg | undefined {
    return this.#callerListener?.partner
  }

  /**
   * Calls back when the caller or its partner may have changed. The previous leg still has its audio then.
   */
  onPartiesChanged(listener: () => void): void {
    this.#partyListeners.add(listener)
  }

  /** Calls back for each digit of the caller. Returns a function that removes the listener. */
  onDigit(listener: (digit: string) => void): () => void {
    this.#digitListeners.add(listener)
    return () => this.#digitListeners.delete(listener)
  }

  /**
   * Limits the duration in ms from the answer. Replaces an earlier limit, and never exceeds {@link
   * CallOptions.maxDurationMs}.
   */
  limitDuration(ms: number): void {
    this.#durationLimitMs = Math.min(ms, this.#maxDurationMs)
    if (this.#answeredAt !== undefined) this.#startDurationTimer()
  }

  /** Ends the call by ending the caller's leg. */
  end(cause: Cause): void {
    this.caller.end(cause)
  }

  /**
   * Settles as `work` does. Rejects with {@link CallEnded} if the call ends first, and with the signal's
   * reason if `signal` fires first.
   */
  async whileUp<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
    const { promise, reject } = Promise.withResolvers<never>()
    const onEnd = () => reject(new CallEnded())
    const onAbort = () => reject(signal?.reason)
    // A signal that has already fired would not call the listener.
    if (this.signal.aborted) onEnd()
    else if (signal?.aborted) onAbort()
    this.signal.addEventListener('abort', onEnd, { once: true })
    signal?.addEventListener('abort', onAbort, { once: true })
    try {
      return await Promise.race([promise, work])
    } finally {
      this.signal.removeEventListener('abort', onEnd)
      signal?.removeEventListener('abort', onAbort)
    }
  }

  /**
   * Returns the caller's audio. If necessary, opens it: by answering the call if `answer` is true, otherwise
   * as early media (183). Rejects as {@link whileUp} does, and with VerbFailed `no_audio`.
   */
  async openAudio(answer: boolean, signal?: AbortSignal): Promise<MediaPort> {
    const { caller } = this
    if (!caller.isAnswered) await this.whileUp(answer ? caller.answer() : caller.progress(), signal)
    const { port } = this.caller
    if (!port) throw verbFailed('no_audio')
    return port
  }

  /** Gives the caller's leg to another owner. The verbs of this call see the call as ended. */
  release(owner: LegOwner): void {
    this.legEnded()
    this.caller.own(owner)
  }

  legAnswered({ times }: Leg): void {
    this.#answeredAt = times.answeredAt
    this.#startDurationTimer()
    this.#observer.callAnswered?.(this)
  }

  legDigit(_leg: Leg, digit: string): void {
    for (const listener of this.#digitListeners) listener(digit)
    this.#callerListener?.digit?.(digit)
  }

  legHeld(_leg: Leg, isHeld: boolean): void {
    this.#callerListener?.held?.(isHeld)
  }

  legReferred(_leg: Leg, referral: Referral): boolean {
    return this.#callerListener?.referred?.(referral) === true
  }

  legAdds(_leg: Leg, addition: Addition): boolean {
    return this.#callerListener?.adds?.(addition) === true
  }

  legReplaced(leg: Leg, by: Leg): boolean {
    const replaced = this.#callerListener?.replaced
    if (!replaced) return false
    this.#add(by, 'caller')
    this.handOver(by)
    replaced()
    leg.end({ code: 'answered_elsewhere' })
    return true
  }

  legEnded(leg?: Leg): void {
    if (leg === this.#caller && hasLeft(leg) && this.#callerListener?.left?.()) return
    this.#durationTimer?.cancel()
    this.#abort.abort()
    const { state } = this.caller
    // If the gateway has failed, answered legs end with the same cause instead of a normal hang-up.
    const answeredCause: Cause =
      state.kind === 'ended' && state.cause.code === 'internal' ? state.cause : { code: 'normal' }
    for (const leg of [...this.#legs]) {
      if (leg !== this.caller) leg.end(leg.isAnswered ? answeredCause : { code: 'canceled' })
    }
  }

  #notifyPartyListeners(): void {
    for (const listener of this.#partyListeners) listener()
  }

  #startDurationTimer(): void {
    this.#durationTimer?.cancel()
    if (this.caller.isEnded) return
    const end =
      this.#answeredAt === undefined
        ? this.startedAt + this.#maxDurationMs
        : this.#answeredAt + this.#durationLimitMs
    const endCall = () => this.end({ code: 'max_duration' })
    this.#durationTimer = this.#clock.after(end - this.#clock.now(), endCall)
  }

  #add(leg: Leg, role: CallLeg['role']): void {
    const { lineage } = this.#caller.facts
    if (!leg.facts.lineage) leg.note({ lineage })
    this.#legs.add(leg)
    if (this.#cdrLegs.length < maxCdrEntries) this.#cdrLegs.push({ leg, role })
    else this.#omittedLegs++
    leg.whenGone(() => {
      this.#legs.delete(leg)
      if (this.#legs.size > 0 || this.#hasEnded || !this.caller.isEnded) return
      this.#hasEnded = true
      this.#observer.callEnded?.(this)
    })
  }
}
