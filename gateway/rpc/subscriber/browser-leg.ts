import type { AgentTranscriptEvent } from '../../../handlers/verbs.ts'
import type { Leg, LegSignalling } from '../../calls/leg/leg.ts'
import type { PlayState } from '../../calls/leg/leg-signalling.ts'
import type { RoomProfile, RoomSeat } from '../../calls/leg/room-seat.ts'
import type { Cause } from '../../core/errors/catalogue.ts'
import type { BrowserCall } from './browser-call.ts'

/**
 * Signalling of a leg to a browser: the part that inbound and outbound legs share once the call has media.
 */
export abstract class BrowserLeg implements LegSignalling {
  /** Call of the browser; undefined until it has media. */
  protected call: BrowserCall | undefined

  abstract ring(): void
  abstract progress(): Promise<void>
  abstract answer(): Promise<void>
  abstract end(cause: Cause): void

  async sendDigits(digits: string): Promise<void> {
    this.call?.verto('verto.info', { dtmf: digits })
  }

  calling(partner: Leg): void {
    this.call?.members.calling(partner)
  }

  paired(partner: Leg | undefined): void {
    this.call?.paired(partner)
  }

  gathered(others: readonly Leg[]): void {
    this.call?.members.gathered(others)
  }

  profile(): RoomProfile | undefined {
    return this.call?.profile()
  }

  entered(seat: RoomSeat | undefined): void {
    this.call?.entered(seat)
  }

  plays(id: string, state: PlayState): void {
    this.call?.reportPlayback(id, state)
  }

  userEvent(event: Readonly<Record<string, unknown>>): boolean {
    this.call?.userEvent(event)
    return this.call !== undefined
  }

  transcript(event: AgentTranscriptEvent): void {
    this.call?.transcript(event)
  }
}
