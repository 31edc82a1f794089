import type { AudioCodec } from '../../../media/types.ts'
import type { Cause } from '../../core/errors/catalogue.ts'
import type { Leg } from './leg.ts'
import type { ReferOptions, ReferOutcome } from './referral.ts'

/** How a sound of a handler goes. */
export type PlayState = 'playing' | 'paused' | 'finished'

/**
 * What a leg can tell its far side. The SIP edge and the browser dialect each implement it. None of the methods throws: what cannot be
 * done is logged, and a far side that is lost is reported by {@link Leg.ended}.
 */
export interface LegSignalling {
  /** Inbound, unanswered: say that it is ringing (180). */
  ring(): void
  /** Whether the far side makes a ringing tone of its own after {@link ring}; default: a telephone does, a page does not. */
  readonly makesRingingTone?: boolean
  /** Inbound, unanswered: open the audio before the answer (183 with SDP, `verto.media`). Idempotent. */
  progress(): Promise<void>
  /**
   * Inbound, unanswered: answer (200, `verto.answer`). Resolves once the far side can hear us; calls {@link Leg.answered}. Where the audio can
   * still be agreed on, it is in one of `codecs`, or the leg ends with `no_common_codec`; default as configured.
   */
  answer(codecs?: readonly AudioCodec[]): Promise<void>
  /** Refuse, cancel or hang up, whichever the state asks for, and release everything of the far side. Called exactly once. */
  end(cause: Cause): void
  /** Sends digits to the far side by whatever it takes: RFC 4733, INFO, or a message. */
  sendDigits(digits: string): Promise<void>
  /** Answered: asks the far side to talk to somebody else (REFER), and follows what becomes of it. Absent: it cannot be asked. */
  refer?(target: string, options?: ReferOptions): Promise<ReferOutcome>
  /** Somebody is called for the far side, who may become whom it talks to. Absent: it is not told. */
  calling?(partner: Leg): void
  /** Whom the far side talks to from now on; undefined: nobody. Told of changes alone, and not of holding. Absent: it is not told. */
  paired?(partner: Leg | undefined): void
  /**
   * The other participants of the conference that the far side takes part in, as of now; empty: it takes part in none, or alone. Absent: it
   * is not told.
   */
  gathered?(others: readonly Leg[]): void
  /** A sound of a handler is played to the far side, or goes on; `id` is the sound's own. Absent: it is not told. */
  plays?(id: string, state: PlayState): void
  /** Tells the page something that a handler has made up; false where it cannot be told now. Absent: there is no page. */
  userEvent?(event: Readonly<Record<string, unknown>>): boolean
}
