import type { PortStats } from '../../media/types.ts'
import type { Code } from '../errors.ts'
import type { Call, LegRecord } from './call.ts'

/** What is written down of one leg. */
export interface LegSummary {
  readonly leg: string
  readonly role: LegRecord['role']
  readonly kind: 'sip' | 'browser'
  readonly to: string
  readonly code: Code | undefined
  /** Who ended it. */
  readonly by: 'far' | 'us' | undefined
  readonly sipStatus: number | undefined
  /** Counters of its media port; undefined when it never had one. */
  readonly audio: PortStats | undefined
}

/** What is written down when a call is over. Times in milliseconds. */
export interface CallSummary {
  readonly direction: 'inbound' | 'outbound'
  readonly from: string
  readonly to: string
  readonly code: Code | undefined
  readonly sipStatus: number | undefined
  readonly detail: string | undefined
  readonly durationMs: number
  /** From the answer to the end; 0 when there was none. */
  readonly answeredMs: number
  readonly legs: readonly LegSummary[]
  /** Further legs, of which only the number is known; absent where there are none. */
  readonly moreLegs?: number
}

/** Gathers it; waits for the last counters of the media ports. */
export const summary = async (call: Call, now: number): Promise<CallSummary> => ({
  direction: call.caller.direction,
  from: call.caller.from.uri,
  to: call.caller.to.uri,
  code: call.cause?.code,
  sipStatus: call.cause?.sip,
  detail: call.cause?.detail,
  durationMs: now - call.startedAt,
  answeredMs: call.answeredAt === undefined ? 0 : now - call.answeredAt,
  legs: await Promise.all(call.records.map(legSummary)),
  ...(call.unrecorded > 0 && { moreLegs: call.unrecorded }),
})

/** Packets that the legs' ports refused, by reason. */
export const refusedPackets = ({ legs }: CallSummary): [reason: string, packets: number][] =>
  legs.flatMap(({ audio }) => Object.entries(audio?.refused ?? {})).filter(([, packets]) => packets > 0)

const legSummary = async ({ leg, role }: LegRecord): Promise<LegSummary> => {
  const ended = leg.state.kind === 'ended' ? leg.state : undefined
  const { code, sip: sipStatus } = ended?.cause ?? {}
  const { id, kind } = leg
  return { leg: id, role, kind, to: leg.to.uri, code, by: ended?.by, sipStatus, audio: await leg.stats }
}
