import type { Call, LegRecord } from './call.ts'

/** What is written down when a call is over: parties, times in ms, cause, and each leg with its audio counters. */
export const summary = async (call: Call, now: number): Promise<Record<string, unknown>> => ({
  direction: call.caller.direction,
  from: call.caller.from.uri,
  to: call.caller.to.uri,
  code: call.cause?.code,
  sipStatus: call.cause?.sip,
  detail: call.cause?.detail,
  durationMs: now - call.startedAt,
  answeredMs: call.answeredAt === undefined ? 0 : now - call.answeredAt,
  legs: await Promise.all(call.records.map(legSummary)),
})

const legSummary = async ({ leg, role }: LegRecord): Promise<Record<string, unknown>> => {
  const { state } = leg
  return {
    leg: leg.id,
    role,
    kind: leg.kind,
    to: leg.to.uri,
    ...(state.kind === 'ended' && { code: state.cause.code, by: state.by, sipStatus: state.cause.sip }),
    audio: await leg.stats,
  }
}
