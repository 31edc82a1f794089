import type { AgentTranscriptEvent } from '../../../handlers/verbs.ts'
import type { AudioCodec } from '../../../media/types.ts'
import type { Cause } from '../../core/errors/catalogue.ts'
import type { Leg } from './leg.ts'
import type { ReferOptions, ReferOutcome } from './referral.ts'
import type { RoomProfile, RoomSeat } from './room-seat.ts'

/** State of a handler's sound. */
export type PlayState = 'playing' | 'paused' | 'finished'

/**
 * Requests of a leg to its far side; implemented for SIP, browsers and calls of this gateway. The methods do
 * not throw: a failure is logged, and the loss of the far side is reported by {@link Leg.ended}.
 */
export interface LegSignalling {
  /** Sends 180 to an inbound, unanswered far side. */
  ring(): void
  /**
   * Whether the far side makes a ringing tone after {@link ring}; default: a telephone does, a page does not.
   */
  readonly makesRingingTone?: boolean
  /** Opens the audio of an inbound leg before the answer (183 with SDP, `verto.media`). Idempotent. */
  progress(): Promise<void>
  /**
   * Answers an inbound leg (200, `verto.answer`). Resolves when the far side can hear the gateway; calls
   * {@link Leg.answered}. Audio that is not open yet uses one of `codecs`, or the leg ends with
   * `no_common_codec`; default as configured.
   */
  answer(codecs?: readonly AudioCodec[]): Promise<void>
  /** Rejects, cancels or hangs up, depending on the state, and releases the far side. Called exactly once. */
  end(cause: Cause): void
  /** Sends digits to the far side by RFC 4733, INFO, or a message. */
  sendDigits(digits: string): Promise<void>
  /**
   * Sends a transfer request (REFER) to an answered far side, and follows its outcome. Absent: not supported.
   */
  refer?(target: string, options?: ReferOptions): Promise<ReferOutcome>
  /** Reports a callee that is dialed for the far side. Absent: not supported. */
  calling?(partner: Leg): void
  /**
   * Reports a change of the far side's partner; undefined for none. A hold is no change. Absent: not
   * supported.
   */
  paired?(partner: Leg | undefined): void
  /**
   * Reports the other participants of the far side's conference; empty without a conference, or alone.
   * Absent: not supported.
   */
  gathered?(others: readonly Leg[]): void
  /**
   * Returns the facts that the other members of a room see of the far side. Absent or undefined: the far side
   * is a telephone.
   */
  profile?(): RoomProfile | undefined
  /** Reports that the far side has entered a room, or has left it; undefined. Absent: not supported. */
  entered?(seat: RoomSeat | undefined): void
  /** Reports the state of a handler's sound; `id` is the sound's. Absent: not supported. */
  plays?(id: string, state: PlayState): void
  /** Sends a handler's event to the page. Returns false if it cannot be sent now. Absent without a page. */
  userEvent?(event: Readonly<Record<string, unknown>>): boolean
  /** Reports an event of the live transcript of the far side's voice agent. Absent: not supported. */
  transcript?(event: AgentTranscriptEvent): void
}
