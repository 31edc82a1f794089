import type { CallCdr, LegCdr } from '../calls/log/call-cdr.ts'
import type { CdrRow } from '../directory/tables/cdrs.ts'
import { partyOf } from './parties.ts'

/** Returns the CDR rows of an ended call: the call's row, and then one for each leg, in order. */
export const cdrsOf = (record: CallCdr): readonly CdrRow[] => [
  callRow(record),
  ...record.legs.map((leg, place) => legRow(record, leg, place)),
]

const callRow = (record: CallCdr): CdrRow => {
  const { call, legs, direction, domain, source, durationMs, answeredMs } = record
  const [first] = legs
  const named = legs.filter(({ carrier }) => carrier !== undefined)
  const qualities = legs.map(qualityOf)
  return {
    id: call,
    kind: 'call',
    place: 0,
    role: null,
    direction,
    ...shared(record, record),
    type: first?.type ?? 'sip',
    carrier: (named.find(({ answeredAt }) => answeredAt !== undefined) ?? named[0])?.carrier ?? null,
    domain: domain?.toLowerCase() ?? null,
    source: source ?? null,
    sip_call_id: first?.sipCallId ?? null,
    ended_at: record.endedAt,
    duration_ms: durationMs,
    answered_ms: answeredMs,
    codec: legs.find(({ codec }) => codec !== undefined)?.codec ?? null,
    mos: worst(qualities, 'mos', Math.min),
    loss: worst(qualities, 'loss', Math.max),
    jitter_ms: worst(qualities, 'jitter_ms', Math.max),
    record_json: JSON.stringify(record),
  }
}

const legRow = (record: CallCdr, leg: LegCdr, place: number): CdrRow => {
  const { startedAt, answeredAt, endedAt = record.endedAt } = leg
  return {
    id: leg.leg,
    kind: 'leg',
    place,
    role: leg.role,
    direction: leg.direction,
    ...shared(record, leg),
    type: leg.type,
    carrier: leg.carrier ?? null,
    codec: leg.codec ?? null,
    domain: record.domain?.toLowerCase() ?? null,
    source: record.source ?? null,
    sip_call_id: leg.sipCallId ?? null,
    ended_at: endedAt,
    duration_ms: endedAt - startedAt,
    answered_ms: answeredAt === undefined ? 0 : endedAt - answeredAt,
    ...qualityOf(leg),
    record_json: JSON.stringify(leg),
  }
}

const shared = ({ call, projectId }: CallCdr, of: CallCdr | LegCdr) => {
  const from = partyOf(of.from)
  const to = partyOf(of.to)
  return {
    project_id: projectId,
    call_id: call,
    from_uri: from.uri,
    from_user: from.user,
    to_uri: to.uri,
    to_user: to.user,
    started_at: of.startedAt,
    ringing_at: of.ringAt ?? null,
    answered_at: of.answeredAt ?? null,
    code: of.code ?? null,
    ended_by: of.by ?? null,
    sip_status: of.sipStatus ?? null,
    q850: of.q850 ?? null,
  }
}

/** Returns the audio quality of a leg; null values for a leg without received audio. */
const qualityOf = ({ audio }: LegCdr): Pick<CdrRow, 'mos' | 'loss' | 'jitter_ms'> => {
  if (audio?.mos === undefined) return { mos: null, loss: null, jitter_ms: null }
  const lost = Math.max(0, audio.lost)
  return { mos: audio.mos, loss: lost / (lost + audio.received), jitter_ms: audio.jitterMs }
}

const worst = <K extends 'mos' | 'loss' | 'jitter_ms'>(
  qualities: readonly Pick<CdrRow, K>[],
  what: K,
  choose: (...values: number[]) => number,
): number | null => {
  const known = qualities.map((each) => each[what]).filter((value) => value !== null)
  return known.length > 0 ? choose(...(known as number[])) : null
}
