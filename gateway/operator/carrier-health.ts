import type { Carrier } from '../sip/trunks/carrier.ts'
import type { CarrierTarget, TargetState } from '../sip/trunks/carrier-target.ts'

/** Health of one target. */
export interface TargetBody {
  readonly uri: string
  readonly state: TargetState
  /** Time of the last change of the state; null while it is unknown. */
  readonly since: string | null
  /** Last ping; null before the first one, and for carriers without `probe`. */
  readonly last_ping: {
    readonly at: string
    /** Final SIP status; null without a response. */
    readonly status: number | null
    readonly problem: string | null
  } | null
}

/** Health of a carrier. */
export interface CarrierHealth {
  /**
   * `up`: a target answers pings. `down`: no target answers, or the carrier has rejected the registration.
   * `unknown`: no ping has been answered or has failed for long enough, or the carrier is not pinged.
   */
  readonly state: TargetState
  /** State of the registration; null for a carrier without one. */
  readonly registration: string | null
  readonly targets: readonly TargetBody[]
}

/** Returns the health of a carrier. */
export const carrierHealth = (
  carrier: Pick<Carrier, 'targets' | 'isRejected' | 'registrationState'>,
): CarrierHealth => {
  const states = carrier.targets.map(({ state }) => state)
  const isDown = carrier.isRejected() || states.every((state) => state === 'down')
  return {
    state: isDown ? 'down' : states.includes('up') ? 'up' : 'unknown',
    registration: carrier.registrationState() ?? null,
    targets: carrier.targets.map(targetBody),
  }
}

const targetBody = ({ text, state, since, lastPing }: CarrierTarget): TargetBody => ({
  uri: text,
  state,
  since: since === undefined ? null : new Date(since).toISOString(),
  last_ping: lastPing
    ? {
        at: new Date(lastPing.at).toISOString(),
        status: lastPing.status ?? null,
        problem: lastPing.problem ?? null,
      }
    : null,
})
