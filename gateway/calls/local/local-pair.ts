import type { AgentTranscriptEvent, Destination } from '../../../handlers/verbs.ts'
import type { AudioCodec, Edge } from '../../../media/types.ts'
import type { Clock } from '../../core/clock.ts'
import { type Cause, codeOf } from '../../core/errors/catalogue.ts'
import { guardListener } from '../../core/guard.ts'
import type { Log } from '../../core/log.ts'
import type { Leg, LegSignalling } from '../leg/leg.ts'
import type { ReferOptions, ReferOutcome } from '../leg/referral.ts'
import type { RoomProfile, RoomSeat } from '../leg/room-seat.ts'
import { openPortPair } from './loopback-ports.ts'
import { PairTranscript } from './pair-transcript.ts'

/** Collaborators and legs of a {@link LocalPair}. */
export interface LocalPairDeps {
  /** Outbound leg of the call that calls the address. */
  readonly near: Leg
  /** Inbound leg of the call that the handler of the address controls. */
  readonly far: Leg
  /** Leg that `near` will be joined to; absent until that leg exists. */
  readonly caller?: Leg | undefined
  /** Media groups of the two calls. */
  readonly groups: readonly [near: string, far: string]
  /** Codec of the leg that `near` will be joined to. */
  readonly codec: AudioCodec
  /** Receives the transcripts of voice agents of the handler's call. */
  readonly onTranscript?: Destination['onTranscript']
  /**
   * Whether others than the caller talk to the address between the answer and the connection: a confirmation,
   * or digits. Default false.
   */
  readonly isAnsweredForOthers?: boolean
  readonly edge: Pick<Edge, 'open'>
  readonly clock: Clock
  readonly log: Pick<Log, 'error'>
}

/** Pauses between digits, in ms. */
const pauses: Readonly<Record<string, number>> = { w: 500, W: 1_000 }
/** Default of {@link ReferOptions.timeoutMs}. */
const defaultReferTimeoutMs = 60_000

/**
 * Two legs that are each other's far side. One belongs to the call that calls an address, the other one to
 * the call that the handler of the address controls.
 */
export class LocalPair {
  readonly #deps: LocalPairDeps
  #opening: Promise<void> | undefined
  /** Room of the handler's call. */
  #seat: RoomSeat | undefined
  /** Latest party that was connected to the address. */
  #partner: Leg | undefined
  /** Leg that the room was reported to. */
  #inRoom: Leg | undefined
  readonly #transcript: PairTranscript

  constructor(deps: LocalPairDeps) {
    this.#deps = deps
    const { near, far, caller } = deps
    this.#transcript = new PairTranscript(caller)
    near.attach(new NearSide(far, this))
    far.attach(new FarSide(near, this))
  }

  /**
   * Opens the audio of both legs, in one of `codecs` if they are given. Both legs end if that fails.
   * Idempotent; never rejects.
   */
  openAudio(codecs?: readonly AudioCodec[]): Promise<void> {
    this.#opening ??= this.#open(codecs)
    return this.#opening
  }

  /** Answers both legs. Never rejects. */
  async answer(codecs?: readonly AudioCodec[]): Promise<void> {
    const { near, far } = this.#deps
    await this.openAudio(codecs)
    if (near.isEnded || far.isEnded) return
    // The handler's call counts as answered before the other one is joined to it.
    far.answered()
    near.answered()
  }

  /** Reports digits to a leg as pressed by its far side; `w` and `W` are pauses. */
  async press(leg: Leg, digits: string): Promise<void> {
    for (const digit of digits) {
      const pause = pauses[digit]
      if (pause !== undefined) await this.#wait(leg, pause)
      else leg.digit(digit)
    }
  }

  /** Makes the call of `leg` connect its other party to `target`. */
  refer(leg: Leg, target: string, options: ReferOptions = {}): Promise<ReferOutcome> {
    const { referredBy, timeoutMs = defaultReferTimeoutMs } = options
    const { promise, resolve } = Promise.withResolvers<ReferOutcome>()
    const timer = this.#deps.clock.after(timeoutMs, () => resolve({ kind: 'failed', status: 408 }))
    const progress = (status: number) => {
      if (status < 200) return
      resolve(status < 300 ? { kind: 'completed', status } : { kind: 'failed', status })
    }
    const isTaken = leg.referred({ to: target, ...(referredBy !== undefined && { referredBy }), progress })
    if (!isTaken) resolve({ kind: 'failed', status: 603 })
    void promise.then(() => timer.cancel())
    return promise
  }

  /** Returns the profile of the party that calls the address; undefined for a telephone. */
  get profile(): RoomProfile | undefined {
    return this.#party()?.profile
  }

  /** Reports the room of the handler's call to the party that calls the address. */
  entered(seat: RoomSeat | undefined): void {
    this.#seat = seat
    this.#reportSeat()
  }

  /** Reports the room to the party that calls the address now, and its end to a former one. */
  #reportSeat(): void {
    const party = this.#seat && this.#party()
    if (this.#inRoom === party) return
    this.#inRoom?.entered(undefined)
    // Another party has taken the place of the former one, by a transfer.
    if (this.#inRoom && party) this.#seat?.setParty(party)
    this.#inRoom = party
    party?.entered(this.#seat)
  }

  /** Handles a change of the party that is connected to the address. */
  paired(): void {
    const { partner } = this.#deps.near
    this.#partner = partner ?? this.#partner
    this.#reportSeat()
    this.#transcript.connect(partner)
  }

  /** One of the legs ends, and with it the connection to the address. */
  ending(): void {
    this.#transcript.connect(undefined)
  }

  /** The party that calls the address: first the one that the leg was made for, then its latest partner. */
  #party(): Leg | undefined {
    return this.#partner ?? this.#deps.caller
  }

  /** Passes on an event of the transcript of the handler's agent to the call that calls the address. */
  transcript(event: AgentTranscriptEvent): void {
    const { near, onTranscript, isAnsweredForOthers = false, log } = this.#deps
    if (onTranscript) guardListener(onTranscript, log)(event)
    this.#transcript.receive(event, !near.isAnswered || !isAnsweredForOthers)
  }

  /** Sends an event of the handler to the page of the party that is connected to the address. */
  userEvent(event: Readonly<Record<string, unknown>>): boolean {
    return this.#deps.near.partner?.userEvent(event) ?? false
  }

  async #open(codecs?: readonly AudioCodec[]): Promise<void> {
    const { near, far, groups, codec, edge, log } = this.#deps
    const chosen = codecs?.length && !codecs.includes(codec) ? (codecs[0] ?? codec) : codec
    try {
      const [first, second] = await openPortPair(edge, groups, chosen)
      // A leg that has ended meanwhile closes its port at once.
      near.setPort(first)
      far.setPort(second)
    } catch (error) {
      const code = codeOf(error)
      log.error(
        { event: 'address.audio-failed', code, err: error, legs: [near.id, far.id] },
        'audio of a call to an address failed',
      )
      far.end({ code })
    }
  }

  /** Waits, at most until the leg ends. */
  async #wait(leg: Leg, ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = this.#deps.clock.after(ms, resolve)
    const forget = leg.whenGone(resolve)
    await promise
    timer.cancel()
    forget()
  }
}

/** Signalling that both legs have in common. Everything that one leg sends is received by the other leg. */
abstract class LocalSide {
  protected readonly other: Leg
  protected readonly pair: LocalPair

  constructor(other: Leg, pair: LocalPair) {
    this.other = other
    this.pair = pair
  }

  sendDigits(digits: string): Promise<void> {
    return this.pair.press(this.other, digits)
  }

  refer(target: string, options?: ReferOptions): Promise<ReferOutcome> {
    return this.pair.refer(this.other, target, options)
  }
}

/**
 * Signalling of the leg that calls the address. It is outbound: it neither rings nor answers its far side.
 */
class NearSide extends LocalSide implements LegSignalling {
  ring(): void {}

  async progress(): Promise<void> {}

  async answer(): Promise<void> {}

  end(cause: Cause): void {
    this.pair.ending()
    this.other.ended(this.other.isAnswered ? hangupCause(cause) : canceledCause(cause))
  }

  paired(): void {
    this.pair.paired()
  }
}

/** Signalling of the leg that the handler of the address controls. */
class FarSide extends LocalSide implements LegSignalling {
  /** The call to the address reports the ringing to its caller, with a tone if necessary. */
  readonly makesRingingTone = true

  ring(): void {
    this.other.early(false)
  }

  async progress(): Promise<void> {
    await this.pair.openAudio()
    this.other.early(true)
  }

  answer(codecs?: readonly AudioCodec[]): Promise<void> {
    return this.pair.answer(codecs)
  }

  profile(): RoomProfile | undefined {
    return this.pair.profile
  }

  entered(seat: RoomSeat | undefined): void {
    this.pair.entered(seat)
  }

  transcript(event: AgentTranscriptEvent): void {
    this.pair.transcript(event)
  }

  userEvent(event: Readonly<Record<string, unknown>>): boolean {
    return this.pair.userEvent(event)
  }

  end(cause: Cause): void {
    this.pair.ending()
    this.other.ended(this.other.isAnswered ? hangupCause(cause) : refusalCause(cause))
  }
}

/**
 * Returns the cause for the other side of an answered call: normal, unless the gateway has failed. Keeps a
 * removal from a room.
 */
const hangupCause = (cause: Cause): Cause =>
  cause.code === 'internal' ? cause : { code: 'normal', ...(cause.removal && { removal: cause.removal }) }

/** Returns the cause for the call of the handler when its caller ends an unanswered call. */
const canceledCause = ({ code }: Cause): Cause => ({
  code: code === 'answered_elsewhere' ? code : 'canceled',
})

/**
 * Returns the cause for the call to the address when the handler's call ends unanswered: no answer, unless
 * the handler has rejected it.
 */
const refusalCause = (cause: Cause): Cause =>
  cause.code === 'normal' || cause.code === 'canceled' ? { ...cause, code: 'no_answer' } : cause
