import type { RecordResult } from '../../../handlers/verbs.ts'
import type { AudioCodec, PortStats } from '../../../media/types.ts'
import { type Cause, type Code, q850Of } from '../../core/errors/catalogue.ts'
import type { Call, CallLeg, CdrRecording } from '../call/call.ts'
import type { DialAttempt, LegKind, LegType } from '../leg/leg.ts'
import type { LegTimes } from '../leg/leg-facts.ts'

/** Why something ended, as it is written down. */
interface EndCdr {
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
export interface LegCdr extends EndCdr, LegTimes {
  readonly leg: string
  readonly role: CallLeg['role']
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
  readonly tries: readonly DialAttempt[]
  /** Counters of its media port; undefined when it never had one, or they did not come. */
  readonly audio: PortStats | undefined
}

/** What is written down of one recording; how it ended is absent where that was not known in time. */
export interface RecordingCdr {
  readonly recording: string
  readonly reason?: RecordResult['reason']
  readonly durationMs?: number
  readonly bytes?: number
}

/** The record of one call (CDR). Times in milliseconds since 1970, durations in milliseconds. */
export interface CallCdr extends EndCdr, LegTimes {
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
  readonly legs: readonly LegCdr[]
  /** Absent where there are none. */
  readonly recordings?: readonly RecordingCdr[]
  /** Further legs, of which only the number is known; absent where there are none. */
  readonly moreLegs?: number
}

/** What is written down of a call; also of one that was refused before it began. */
export type CdrSource = Pick<Call, 'id' | 'info' | 'caller' | 'cdrLegs' | 'omittedLegs'> &
  Partial<Pick<Call, 'cdrRecordings'>>

/** Waits for what the media still has to tell, but not for ever. */
export type BoundedWait = <T>(what: Promise<T>) => Promise<T | undefined>

/** Gathers the record of a call that is over; waits for its recordings, and for the last counters of the media ports. */
export const buildCdr = async (call: CdrSource, now: number, wait: BoundedWait): Promise<CallCdr> => {
  const { id, info, caller, cdrLegs, omittedLegs, cdrRecordings = [] } = call
  const recorded = Promise.all(cdrRecordings.map((each) => recordingSummary(each, wait)))
  // Whoever is the caller in the end may have come late, by a transfer; what began with the first one is one call.
  const first = cdrLegs[0]?.leg ?? caller
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
    legs: await Promise.all(cdrLegs.map((each) => legSummary(each, wait))),
    ...(cdrRecordings.length > 0 && { recordings: await recorded }),
    ...(omittedLegs > 0 && { moreLegs: omittedLegs }),
  }
}

/** Packets that the legs' ports refused, by reason. */
export const refusedPackets = ({ legs }: CallCdr): [reason: string, packets: number][] =>
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
export const legQualities = ({ legs }: CallCdr): LegQuality[] =>
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

const recordingSummary = async ({ id, ended }: CdrRecording, wait: BoundedWait): Promise<RecordingCdr> => {
  const result = await wait(ended)
  if (!result) return { recording: id }
  const { reason, durationMs, bytes } = result
  return { recording: id, reason, durationMs, bytes }
}

const legSummary = async ({ leg, role }: CallLeg, wait: BoundedWait): Promise<LegCdr> => {
  const { id, kind, type, direction, facts, attempts: tries, times, stats, port } = leg
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
): EndCdr => {
  const ended = 'cause' in state ? state : undefined
  const { code, sip, detail } = ended?.cause ?? {}
  return { code, by: ended?.by, sipStatus: sip, q850: ended && q850Of(ended.cause), detail }
}
