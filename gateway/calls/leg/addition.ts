import type { Leg } from './leg.ts'

/** Addition of a person to a connected call, requested by the far side of a leg. */
export interface Addition {
  /** Target: a SIP URI, a number, or an address. */
  readonly to: string
  /** Receives provisional SIP statuses, and then one final status. */
  progress(status: number): void
  /** Called when the target has joined, with its leg. */
  joined?(leg: Leg): void
  /** Called once when the leg of the target has ended, or if no target answers. */
  over?(): void
}
