import type { RecordResult } from '../../../handlers/verbs.ts'
import type { AudioCodec, PortStats } from '../../../media/types.ts'
import { type Cause, type Code, q850Of } from '../../core/errors/catalogue.ts'
import type { Call, LegRecord, RecordedSound } from '../call/call.ts'
import type { LegKind, LegType, Try } from '../leg/leg.ts'
import type { LegTimes } from '../leg/leg-facts.ts'

/** Why something ended, as it is written down. */
interface EndSummary {
  readonly code: Code | undefined
  /** Who ended it. */
  readonly by: 'far' | 'us' | undefined
  /** The status that the far side gave. */
  readonly sipStatus: number | undefined
  /** Cause value of Q.850. */
  readonly q850: number | undefined
  readonly detail: string | undefined
}

/** What is written down of one leg. Times in milliseconds since 1970; undefined where it never came to that. */
export interface LegSummary extends EndSummary, LegTimes {
  readonly leg: string
  readonly role: LegRecord['role']
  readonly kind: LegKind
  /** As customers see it. */
  readonly type: LegType
  readonly direction: 'inbound' | 'outbound'
  readonly from: string
  readonly to: string
  readonly carrier: string | undefined
  readonly sipCallId: string | undefined
  /** The one that was spoken last; undefined when it never came to that. */
  readonly codec: AudioCodec | undefined
  /** The places that were tried, in order; none of an inbound leg. */
  readonly tries: readonly Try[]
  /** Counters of its media port; undefined when it never had one, or they did not come. */
  readonly audio: PortStats | undefined
}

/** What is written down of one recording; how it ended is absent where that was not known in time. */
export interface RecordingSummary {
  readonly recording: string
  readonly reason?: RecordResult['reason']
  readonly durationMs?: number
  readonly bytes?: number
}

/** The record of one call (CDR). Times in milliseconds since 1970, durations in milliseconds. */
export interface CallSummary extends EndSummary, LegTimes {
  readonly call: string
  readonly projectId: string
  readonly direction: 'inbound' | 'outbound'
  readonly from: string
  readonly to: string
  /** The domain that was called and the address that called, where the call came by SIP. */
  readonly domain: string | undefined
  readonly source: string | undefined
  /** When its last leg had ended. */
  readonly endedAt: number
  readonly durationMs: number
  /** From the answer to the end; 0 when there was none. */
  readonly answeredMs: number
  readonly legs: readonly LegSummary[]
  /** Absent where there are none. */
  readonly recordings?: readonly RecordingSummary[]
  /** Further legs, of which only the number is known; absent where there are none. */
  readonly moreLegs?: number
}

/** What is written down of a call; also of one that was refused before it began. */
export type Recorded = Pick<Call, 'id' | 'info' | 'caller' | 'records' | 'unrecorded'> &
  Partial<Pick<Call, 'recordings'>>

/** Waits for what the media still has to tell, but not for ever. */
export type Await = <T>(what: Promise<T>) => Promise<T | undefined>

/** Gathers the record of a call that is over; waits for its recordings, and for the last counters of the media ports. */
export const summary = async (call: Recorded, now: number, wait: Await): Promise<CallSummary> => {
  const { id, info, caller, records, unrecorded, recordings = [] } = call
  const recorded = Promise.all(recordings.map((each) => recordingSummary(each, wait)))
  // Whoever is the caller in the end may have come late, by a transfer; what began with the first one is one call.
  const first = records[0]?.leg ?? caller
  const { times } = first
  return {
    call: id,
    projectId: info.projectId,
    direction: first.direction,
    from: first.from.uri,
    to: first.to.uri,
    domain: first.direction === 'inbound' ? info.sip?.domain : undefined,
    source: info.sip?.sourceAddress,
    ...endOf(caller.state),
    ...times,
    endedAt: now,
    durationMs: now - times.startedAt,
    answeredMs: times.answeredAt === undefined ? 0 : now - times.answeredAt,
    legs: await Promise.all(records.map((record) => legSummary(record, wait))),
    ...(recordings.length > 0 && { recordings: await recorded }),
    ...(unrecorded > 0 && { moreLegs: unrecorded }),
  }
}

/** Packets that the legs' ports refused, by reason. */
export const refusedPackets = ({ legs }: CallSummary): [reason: string, packets: number][] =>
  legs.flatMap(({ audio }) => Object.entries(audio?.refused ?? {})).filter(([, packets]) => packets > 0)

/** How well a leg's far side was heard. */
export interface LegQuality {
  /** The carrier's name; `none` for SIP without one, `browser` for browsers, `local` for legs between two calls of the gateway. */
  readonly carrier: string
  readonly codec: AudioCodec
  readonly mos: number
  /** 0 to 1. */
  readonly loss: number
  readonly jitterSeconds: number
}

/** Label of a leg without a carrier. */
const noCarrier = { sip: 'none', browser: 'browser', local: 'local' } as const

/** That of every leg from which audio came. */
export const qualities = ({ legs }: CallSummary): LegQuality[] =>
  legs.flatMap(({ audio, carrier, codec, kind }) => {
    if (audio?.mos === undefined || codec === undefined) return []
    const lost = Math.max(0, audio.lost)
    return {
      carrier: carrier ?? noCarrier[kind],
      codec,
      mos: audio.mos,
      loss: lost / (lost + audio.received),
      jitterSeconds: audio.jitterMs / 1000,
    }
  })

const recordingSummary = async ({ id, ended }: RecordedSound, wait: Await): Promise<RecordingSummary> => {
  const result = await wait(ended)
  if (!result) return { recording: id }
  const { reason, durationMs, bytes } = result
  return { recording: id, reason, durationMs, bytes }
}

const legSummary = async ({ leg, role }: LegRecord, wait: Await): Promise<LegSummary> => {
  const { id, kind, type, direction, facts, tries, times, stats, port } = leg
  const { carrier, sipCallId } = facts
  return {
    leg: id,
    role,
    kind,
    type,
    direction,
    from: leg.from.uri,
    to: leg.to.uri,
    carrier,
    sipCallId,
    tries,
    codec: port?.codec,
    ...times,
    ...endOf(leg.state),
    audio: stats && (await wait(stats)),
  }
}

const endOf = (
  state:
    | { readonly kind: string }
    | { readonly kind: 'ended'; readonly cause: Cause; readonly by: 'far' | 'us' },
): EndSummary => {
  const ended = 'cause' in state ? state : undefined
  const { code, sip, detail } = ended?.cause ?? {}
  return { code, by: ended?.by, sipStatus: sip, q850: ended && q850Of(ended.cause), detail }
}
