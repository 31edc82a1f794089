import type { AgentTranscriptEvent } from '../../../handlers/verbs.ts'
import type { AudioCodec, BrowserVideo, MediaPort, PortStats } from '../../../media/types.ts'
import type { Cause } from '../../core/errors/catalogue.ts'
import type { LegId, Party } from '../../model.ts'
import type { Addition } from './addition.ts'
import type { DialAttempt, LegFacts, LegTimes } from './leg-facts.ts'
import type { LegOwner, LegState } from './leg-owner.ts'
import type { LegSignalling, PlayState } from './leg-signalling.ts'
import type { ReferOptions, ReferOutcome, Referral } from './referral.ts'
import type { RoomProfile, RoomSeat } from './room-seat.ts'

export type { DialAttempt } from './leg-facts.ts'
export type { LegOwner, LegState } from './leg-owner.ts'
export type { LegSignalling } from './leg-signalling.ts'

/** Values of a new leg. */
export interface LegOptions {
  readonly id: LegId
  readonly kind: LegKind
  /** Default by {@link kind}: `webrtc` for a browser, else `sip`. */
  readonly type?: LegType
  readonly direction: 'inbound' | 'outbound'
  readonly from: Party
  readonly to: Party
  readonly now: () => number
}

/** Far side of a leg: a SIP dialog, a browser session, or a leg of another call of this gateway (`local`). */
export type LegKind = 'sip' | 'browser' | 'local'

/** Type of a leg, as shown to customers. A `local` leg has the type of the leg of its caller. */
export type LegType = 'sip' | 'webrtc'

/**
 * One signalling relationship and one media port. Either the far side ends the leg ({@link ended}), or the
 * gateway does ({@link end}); both run the same function.
 */
export class Leg {
  readonly id: LegId
  readonly kind: LegKind
  readonly type: LegType
  readonly direction: 'inbound' | 'outbound'
  readonly from: Party
  readonly to: Party
  #now: () => number
  #state: LegState = { kind: 'new' }
  #signalling: LegSignalling | undefined
  #owner: LegOwner | undefined
  #port: MediaPort | undefined
  #video: BrowserVideo | undefined
  #partner: Leg | undefined
  #stats: Promise<PortStats> | undefined
  #holds = { message: false, media: false, us: false }
  #digitsBy: 'media' | 'signalling' | undefined
  #isAckOverdue = false
  #facts: LegFacts = {}
  #times: LegTimes
  #attempts: DialAttempt[] = []
  #onGone = new Set<() => void>()
  readonly #onAnswered = new Set<() => void>()
  readonly #onHeld = new Set<() => void>()

  constructor(options: LegOptions) {
    this.id = options.id
    this.kind = options.kind
    this.type = options.type ?? (options.kind === 'browser' ? 'webrtc' : 'sip')
    this.direction = options.direction
    this.from = options.from
    this.to = options.to
    this.#now = options.now
    this.#times = { startedAt: options.now() }
  }

  get facts(): LegFacts {
    return this.#facts
  }

  get times(): LegTimes {
    return this.#times
  }

  /** Attempts to reach the far side of an outbound leg, in order. */
  get attempts(): readonly DialAttempt[] {
    return this.#attempts
  }

  get state(): LegState {
    return this.#state
  }

  get isEnded(): boolean {
    return this.#state.kind === 'ended'
  }

  get isAnswered(): boolean {
    return this.#state.kind === 'answered'
  }

  /** Whether the far side makes a ringing tone of its own. */
  get makesRingingTone(): boolean {
    return this.#signalling?.makesRingingTone ?? this.kind === 'sip'
  }

  /** Whether the far side holds by a message, or the gateway holds it. Its audio must be parted. */
  get isHeld(): boolean {
    return this.#holds.message || this.#holds.us
  }

  /** Whether the far side holds by a message. */
  get isHeldByMessage(): boolean {
    return this.#holds.message
  }

  /** Whether the far side holds the other party, by a message or by its session description. */
  get isHolding(): boolean {
    return this.#holds.message || this.#holds.media
  }

  /** Audio of the leg; undefined until the far side's description is known. */
  get port(): MediaPort | undefined {
    return this.#port
  }

  /** Video of the leg; undefined if it can have none. */
  get video(): BrowserVideo | undefined {
    return this.#video
  }

  /** Final counters of the port; undefined during the leg, and without a port. */
  get stats(): Promise<PortStats> | undefined {
    return this.#stats
  }

  /** Sets the signalling. Called once by the maker of the leg. */
  attach(signalling: LegSignalling): void {
    this.#signalling = signalling
  }

  /** Sets the owner. */
  own(owner: LegOwner): void {
    this.#owner = owner
  }

  /** Runs `run` when the leg is answered, after its owner was informed. */
  whenAnswered(run: () => void): void {
    if (this.#state.kind === 'new' || this.#state.kind === 'early') this.#onAnswered.add(run)
    else if (this.isAnswered) run()
  }

  /**
   * Runs `run` when the leg has ended, after its owner was informed. Returns a function that removes `run`.
   */
  whenGone(run: () => void): () => void {
    if (this.isEnded) run()
    else this.#onGone.add(run)
    return () => this.#onGone.delete(run)
  }

  /** Runs `run` after each change of {@link isHolding}, until the returned function is called. */
  whenHoldingChanges(run: () => void): () => void {
    this.#onHeld.add(run)
    return () => this.#onHeld.delete(run)
  }

  /**
   * Sets the media port. The leg owns the port until the end: it handles digits and time-outs, and closes the
   * port. `video`: video of the far side, which the code that has opened it must close.
   */
  setPort(port: MediaPort, video?: BrowserVideo): void {
    if (this.isEnded) {
      void port.close()
      return
    }
    this.#port = port
    this.#video = video
    port.onEvent((event) => {
      if (event.kind === 'digit') this.#press(event.digit, 'media')
      if (event.kind === 'timeout') this.#mediaTimedOut(event.phase)
    })
  }

  /** Ends an answered leg. A ringing far side need not send media: the ring time is its limit. */
  #mediaTimedOut(phase: string): void {
    if (this.isAnswered) this.#finish({ code: 'media_timeout', detail: `phase ${phase}` }, 'us')
  }

  // Reports from the signalling.

  /** Adds facts about the signalling; undefined ones change nothing. */
  note(facts: LegFacts): void {
    const defined = Object.entries(facts).filter(([, value]) => value !== undefined)
    this.#facts = { ...this.#facts, ...Object.fromEntries(defined) }
  }

  /** Adds an attempt to reach the far side that has ended. */
  addAttempt(attempt: DialAttempt): void {
    this.#attempts.push(attempt)
  }

  /** Reports that the far side of an outbound leg rings. `hasMedia`: its early media has started. */
  early(hasMedia: boolean): void {
    if (this.#state.kind !== 'new' && this.#state.kind !== 'early') return
    this.#markRinging()
    this.#owner?.legEarly?.(this, hasMedia)
  }

  /**
   * Reports that the answer was sent. The leg counts as answered, even if the far side hangs up before it
   * sends an ACK (RFC 3261 section 13.3.1.4). `at`: time of the answer; default now.
   */
  answerSent(at = this.#now()): void {
    if (!this.isAnswered && !this.isEnded) this.#times = { ...this.#times, answeredAt: at }
  }

  /**
   * Reports whether the ACK of the answer is overdue. An end by the gateway then has the code `unreachable`
   * in place of `normal`: the far side has not confirmed the session.
   */
  ackOverdue(isOverdue: boolean): void {
    this.#isAckOverdue = isOverdue
  }

  /** Reports that the far side has answered or has acknowledged the answer. */
  answered(): void {
    if (this.#state.kind !== 'new' && this.#state.kind !== 'early') return
    const at = this.#times.answeredAt ?? this.#now()
    this.#state = { kind: 'answered', at }
    this.#times = { ...this.#times, answeredAt: at }
    this.#owner?.legAnswered?.(this)
    for (const run of this.#onAnswered) if (this.isAnswered) run()
    this.#onAnswered.clear()
  }

  /** Reports a digit that came by a message (INFO). */
  digit(digit: string): void {
    this.#press(digit, 'signalling')
  }

  /**
   * Reports that an answered leg is held (`isHeld`) or resumed. `by`: origin of the hold. `message`: a
   * message of the far side. `media`: its session description; the port handles this hold, and the far side
   * may send music for the other party. `us`: a handler.
   */
  hold(isHeld: boolean, by: 'message' | 'media' | 'us' = 'message'): void {
    if (!this.isAnswered || isHeld === this.#holds[by]) return
    const { isHolding } = this
    this.#holds[by] = isHeld
    this.#owner?.legHeld?.(this, isHeld)
    if (this.isHolding !== isHolding) for (const run of [...this.#onHeld]) run()
  }

  /** Reports a transfer of the other party. Returns false if it is not possible. */
  referred(referral: Referral): boolean {
    return this.isAnswered && this.#owner?.legReferred?.(this, referral) === true
  }

  /** Reports the addition of a person to the call. Returns false if it is not possible. */
  adds(addition: Addition): boolean {
    return this.isAnswered && this.#owner?.legAdds?.(this, addition) === true
  }

  /** Reports that another answered leg replaces this one. Returns false if it is not possible. */
  replaced(by: Leg): boolean {
    return this.isAnswered && by.isAnswered && this.#owner?.legReplaced?.(this, by) === true
  }

  /** Reports the end of the leg by the far side: BYE, CANCEL, rejection, loss. */
  ended(cause: Cause): void {
    this.#finish(cause, 'far')
  }

  // Requests to the far side.

  ring(): void {
    if (this.#state.kind === 'new') {
      this.#markRinging()
      this.#signalling?.ring()
    }
  }

  async progress(): Promise<void> {
    if (this.#state.kind !== 'new' && this.#state.kind !== 'early') return
    this.#markRinging()
    await this.#signalling?.progress()
  }

  /** Answers. `codecs` as in {@link LegSignalling.answer}. */
  async answer(codecs?: readonly AudioCodec[]): Promise<void> {
    if (this.#state.kind === 'new' || this.#state.kind === 'early') await this.#signalling?.answer(codecs)
  }

  async sendDigits(digits: string): Promise<void> {
    if (!this.isEnded) await this.#signalling?.sendDigits(digits)
  }

  /** Whether the far side supports a transfer (REFER) once it is answered. */
  get canBeReferred(): boolean {
    return this.#signalling?.refer !== undefined
  }

  /**
   * Sends a transfer request to the far side. The leg ends if it succeeds. Resolves with 405 if the far side
   * does not support it.
   */
  async refer(target: string, options?: ReferOptions): Promise<ReferOutcome> {
    if (!this.isAnswered) return { kind: 'failed', status: 481 }
    const outcome = await this.#signalling?.refer?.(target, options)
    if (outcome?.kind === 'completed') this.end({ code: 'normal', detail: 'transferred' })
    return outcome ?? { kind: 'failed', status: 405 }
  }

  /** Reports that a callee is dialed for the far side. */
  calling(partner: Leg): void {
    if (!this.isEnded) this.#signalling?.calling?.(partner)
  }

  /**
   * Reports the far side's partner; undefined for none. Has no effect if the partner stays the same, or is no
   * longer `from`.
   */
  paired(partner: Leg | undefined, from = this.#partner): void {
    if (this.isEnded || partner === this.#partner || from !== this.#partner) return
    this.#partner = partner
    this.#signalling?.paired?.(partner)
  }

  /** Leg that the far side is connected to, as last reported by {@link paired}. */
  get partner(): Leg | undefined {
    return this.#partner
  }

  /** Whether the far side receives the participants of its conference. */
  get followsConference(): boolean {
    return !this.isEnded && this.#signalling?.gathered !== undefined
  }

  /**
   * Reports the other participants of the conference; empty after the far side has left, or if it is alone.
   */
  gathered(others: readonly Leg[]): void {
    if (!this.isEnded) this.#signalling?.gathered?.(others)
  }

  /** Facts about the far side for the other members of a room; undefined for a telephone. */
  get profile(): RoomProfile | undefined {
    return this.#signalling?.profile?.()
  }

  /**
   * Reports that the far side has entered a room; undefined after it has left the room. The leg may have
   * ended then: the caller of an address goes on after its leg to the address.
   */
  entered(seat: RoomSeat | undefined): void {
    if (!this.isEnded || seat === undefined) this.#signalling?.entered?.(seat)
  }

  /** Reports the state of a handler's sound. */
  plays(id: string, state: PlayState): void {
    if (!this.isEnded) this.#signalling?.plays?.(id, state)
  }

  /** Sends a handler's event to the far side's page. Returns false if it cannot be sent. */
  userEvent(event: Readonly<Record<string, unknown>>): boolean {
    return !this.isEnded && this.#signalling?.userEvent?.(event) === true
  }

  /** Reports an event of the live transcript of the voice agent that the far side talks to. */
  transcript(event: AgentTranscriptEvent): void {
    if (!this.isEnded) this.#signalling?.transcript?.(event)
  }

  /** Ends the leg. Has no effect after its end. */
  end(cause: Cause): void {
    const isUnconfirmed = this.#isAckOverdue && cause.code === 'normal'
    this.#finish(isUnconfirmed ? { code: 'unreachable', detail: 'no ACK' } : cause, 'us')
  }

  /**
   * Reports a digit. Some far sides send each digit as audio and as a message; only the kind of the first
   * digit counts.
   */
  #press(digit: string, by: 'media' | 'signalling'): void {
    this.#digitsBy ??= by
    if (!this.isEnded && this.#digitsBy === by) this.#owner?.legDigit?.(this, digit)
  }

  #markRinging(): void {
    if (this.#state.kind === 'new') this.#times = { ...this.#times, ringAt: this.#now() }
    this.#state = { kind: 'early' }
  }

  #finish(cause: Cause, by: 'far' | 'us'): void {
    // The far side may hang up before its ACK arrives.
    if (this.#times.answeredAt !== undefined) this.answered()
    if (this.#state.kind === 'ended') return
    this.#state = { kind: 'ended', cause, by }
    this.#times = { ...this.#times, endedAt: this.#now() }
    try {
      // The far side must learn of the end before its audio stops.
      this.#signalling?.end(cause)
    } finally {
      // The leg releases its resources even after an error.
      this.#stats = this.#port?.close()
      this.#owner?.legEnded?.(this)
      const listeners = [...this.#onGone]
      this.#onGone.clear()
      for (const run of listeners) run()
    }
  }
}
