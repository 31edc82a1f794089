import type { AudioCodec, BrowserVideo, MediaPort, PortStats } from '../../../media/types.ts'
import type { Cause } from '../../core/errors/catalogue.ts'
import type { LegId, Party } from '../../model.ts'
import type { DialAttempt, LegFacts, LegTimes } from './leg-facts.ts'
import type { LegOwner, LegState } from './leg-owner.ts'
import type { LegSignalling, PlayState } from './leg-signalling.ts'
import type { ReferOptions, ReferOutcome, Referral } from './referral.ts'

export type { DialAttempt } from './leg-facts.ts'
export type { LegOwner, LegState } from './leg-owner.ts'
export type { LegSignalling } from './leg-signalling.ts'

/** What a new leg is made of. */
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

/** Type of a leg, as customers see it. A `local` leg has that of the caller who led to it. */
export type LegType = 'sip' | 'webrtc'

/**
 * One signalling relationship and one media port. There are two ways for it to end: the far side ended it ({@link ended}), or we did
 * ({@link end}); both run the same one function.
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
  #held = { message: false, media: false, us: false }
  #digitsBy: 'media' | 'signalling' | undefined
  #facts: LegFacts = {}
  #times: LegTimes
  #tries: DialAttempt[] = []
  #onGone = new Set<() => void>()

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

  /** The attempts to reach the far side of an outbound leg, in order. */
  get attempts(): readonly DialAttempt[] {
    return this.#tries
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

  /** Whether the far side makes a ringing tone of its own, and needs none of ours. */
  get makesRingingTone(): boolean {
    return this.#signalling?.makesRingingTone ?? this.kind === 'sip'
  }

  /** Whether the far side holds by a message, or we hold it: its audio is to be left alone. */
  get isHeld(): boolean {
    return this.#held.message || this.#held.us
  }

  /** Whether the far side itself holds by a message. */
  get isHeldByFarSide(): boolean {
    return this.#held.message
  }

  /** The leg's audio; undefined until the far side's description is known. */
  get port(): MediaPort | undefined {
    return this.#port
  }

  /** The leg's video; undefined where there never can be any. */
  get video(): BrowserVideo | undefined {
    return this.#video
  }

  /** The port's last counters; undefined while the leg lasts, and when it never had a port. */
  get stats(): Promise<PortStats> | undefined {
    return this.#stats
  }

  /** Called once by the maker of the leg. */
  attach(signalling: LegSignalling): void {
    this.#signalling = signalling
  }

  /** Called by the call that takes the leg. */
  own(owner: LegOwner): void {
    this.#owner = owner
  }

  /** Runs `run` when the leg has ended, after its owner was told; for registries and counters. What it returns takes that back. */
  whenGone(run: () => void): () => void {
    if (this.isEnded) run()
    else this.#onGone.add(run)
    return () => this.#onGone.delete(run)
  }

  /**
   * The signalling side hands over the port it opened. It stays the leg's until the end: the leg listens to it (digits, time-outs) and
   * closes it. `video`: what the far side shows, and is shown, beside it; its owner closes it.
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
      // While it rings nobody has to send anything, and the ring time is the limit; the event repeats.
      if (event.kind === 'timeout' && this.isAnswered)
        this.#finish({ code: 'media_timeout', detail: `phase ${event.phase}` }, 'us')
    })
  }

  // What the signalling side reports.

  /** More is known of the signalling; what is undefined changes nothing. */
  note(facts: LegFacts): void {
    const known = Object.entries(facts).filter(([, value]) => value !== undefined)
    this.#facts = { ...this.#facts, ...Object.fromEntries(known) }
  }

  /** One attempt to reach the far side is over. */
  addAttempt(attempt: DialAttempt): void {
    this.#tries.push(attempt)
  }

  /** The far side of an outbound leg rings, or its early media is there. */
  early(media: boolean): void {
    if (this.#state.kind !== 'new' && this.#state.kind !== 'early') return
    this.#rang()
    this.#owner?.legEarly?.(this, media)
  }

  /**
   * Our answer is out: it is answered from now on, however late the far side takes it, or hangs up at once (RFC 3261 section 13.3.1.4).
   * `at`: when it went out; default now.
   */
  answerSent(at = this.#now()): void {
    if (!this.isAnswered && !this.isEnded) this.#times = { ...this.#times, answeredAt: at }
  }

  /** The far side answered, or took our answer. */
  answered(): void {
    if (this.#state.kind !== 'new' && this.#state.kind !== 'early') return
    const at = this.#times.answeredAt ?? this.#now()
    this.#state = { kind: 'answered', at }
    this.#times = { ...this.#times, answeredAt: at }
    this.#owner?.legAnswered?.(this)
  }

  /** The far side pressed a key, and said so by a message (INFO). */
  digit(digit: string): void {
    this.#press(digit, 'signalling')
  }

  /**
   * The far side holds, or goes on. Told only of answered legs, and only of changes. `by` `media`: its session description says so, and the
   * port keeps to it by itself; the far side may well send music for the other party. `us`: a handler holds the far side.
   */
  hold(held: boolean, by: 'message' | 'media' | 'us' = 'message'): void {
    if (!this.isAnswered || held === this.#held[by]) return
    this.#held[by] = held
    this.#owner?.legHeld?.(this, held)
  }

  /** The far side wants the other party to talk to somebody else; false where that cannot be. */
  referred(referral: Referral): boolean {
    return this.isAnswered && this.#owner?.legReferred?.(this, referral) === true
  }

  /** Another answered leg takes this one's place; false where that cannot be. */
  replaced(by: Leg): boolean {
    return this.isAnswered && by.isAnswered && this.#owner?.legReplaced?.(this, by) === true
  }

  /** The far side ended the leg: BYE, CANCEL, refusal, loss. */
  ended(cause: Cause): void {
    this.#finish(cause, 'far')
  }

  // What the call tells the far side.

  ring(): void {
    if (this.#state.kind === 'new') {
      this.#rang()
      this.#signalling?.ring()
    }
  }

  async progress(): Promise<void> {
    if (this.#state.kind !== 'new' && this.#state.kind !== 'early') return
    this.#rang()
    await this.#signalling?.progress()
  }

  /** `codecs` as of {@link LegSignalling.answer}. */
  async answer(codecs?: readonly AudioCodec[]): Promise<void> {
    if (this.#state.kind === 'new' || this.#state.kind === 'early') await this.#signalling?.answer(codecs)
  }

  async sendDigits(digits: string): Promise<void> {
    if (!this.isEnded) await this.#signalling?.sendDigits(digits)
  }

  /** Whether the far side can be asked to talk to somebody else, once it is answered. */
  get canBeReferred(): boolean {
    return this.#signalling?.refer !== undefined
  }

  /** Asks the far side to talk to somebody else; where it did, the leg ends. 405 where it cannot be asked. */
  async refer(target: string, options?: ReferOptions): Promise<ReferOutcome> {
    if (!this.isAnswered) return { kind: 'failed', status: 481 }
    const outcome = await this.#signalling?.refer?.(target, options)
    if (outcome?.kind === 'completed') this.end({ code: 'normal', detail: 'transferred' })
    return outcome ?? { kind: 'failed', status: 405 }
  }

  /** Somebody is called for the far side. */
  calling(partner: Leg): void {
    if (!this.isEnded) this.#signalling?.calling?.(partner)
  }

  /** Whom the far side talks to from now on; undefined: nobody. Harmless when it is the same, or was with another than `from` by now. */
  paired(partner: Leg | undefined, from = this.#partner): void {
    if (this.isEnded || partner === this.#partner || from !== this.#partner) return
    this.#partner = partner
    this.#signalling?.paired?.(partner)
  }

  /** Whether the far side receives the participants of its conference. */
  get followsConference(): boolean {
    return !this.isEnded && this.#signalling?.gathered !== undefined
  }

  /** The other participants of its conference, as of now; empty: it has left, or is alone. */
  gathered(others: readonly Leg[]): void {
    if (!this.isEnded) this.#signalling?.gathered?.(others)
  }

  /** A sound of a handler is played to the far side, or goes on. */
  plays(id: string, state: PlayState): void {
    if (!this.isEnded) this.#signalling?.plays?.(id, state)
  }

  /** Tells the far side's page something; false where it cannot be told. */
  userEvent(event: Readonly<Record<string, unknown>>): boolean {
    return !this.isEnded && this.#signalling?.userEvent?.(event) === true
  }

  /** We end the leg. Harmless when it has ended. */
  end(cause: Cause): void {
    this.#finish(cause, 'us')
  }

  /** Some far sides tell of each key both in the audio and by a message: what the first one came by counts, the other is its echo. */
  #press(digit: string, by: 'media' | 'signalling'): void {
    this.#digitsBy ??= by
    if (!this.isEnded && this.#digitsBy === by) this.#owner?.legDigit?.(this, digit)
  }

  #rang(): void {
    if (this.#state.kind === 'new') this.#times = { ...this.#times, ringAt: this.#now() }
    this.#state = { kind: 'early' }
  }

  #finish(cause: Cause, by: 'far' | 'us'): void {
    // The far side may be gone before we heard that it took our answer.
    if (this.#times.answeredAt !== undefined) this.answered()
    if (this.#state.kind === 'ended') return
    this.#state = { kind: 'ended', cause, by }
    this.#times = { ...this.#times, endedAt: this.#now() }
    try {
      // The far side hears of it before its audio goes away.
      this.#signalling?.end(cause)
    } finally {
      // Whatever goes wrong there, nothing of the leg stays behind.
      this.#stats = this.#port?.close()
      this.#owner?.legEnded?.(this)
      const gone = [...this.#onGone]
      this.#onGone.clear()
      for (const run of gone) run()
    }
  }
}
