import type { RecordResult } from '../../../handlers/verbs.ts'
import type { AudioCodec, PortStats } from '../../../media/types.ts'
import { type Cause, type Code, q850Of } from '../../core/errors/catalogue.ts'
import type { Call, CallLeg, CdrRecording } from '../call/call.ts'
import type { DialAttempt, LegKind, LegType } from '../leg/leg.ts'
import type { LegTimes } from '../leg/leg-facts.ts'

/** End of a call or leg in a CDR. */
interface EndCdr {
  readonly code: Code | undefined
  /** Side that ended the call or leg. */
  readonly by: 'far' | 'us' | undefined
  /** Status from the far side. */
  readonly sipStatus: number | undefined
  /** Cause value of Q.850. */
  readonly q850: number | undefined
  readonly detail: string | undefined
}

/** CDR of one leg. Times in milliseconds since 1970; undefined for states that it has not reached. */
export interface LegCdr extends EndCdr, LegTimes {
  readonly leg: string
  readonly role: CallLeg['role']
  readonly kind: LegKind
  /** Type of the leg for customers. */
  readonly type: LegType
  readonly direction: 'inbound' | 'outbound'
  readonly from: string
  readonly to: string
  readonly carrier: string | undefined
  readonly sipCallId: string | undefined
  /** Last codec; undefined without audio. */
  readonly codec: AudioCodec | undefined
  /** Attempts in order; none of an inbound leg. */
  readonly tries: readonly DialAttempt[]
  /** Counters of the media port; undefined without a port, or if they came too late. */
  readonly audio: PortStats | undefined
}

/** CDR of one recording. The end is absent if it came too late. */
export interface RecordingCdr {
  readonly recording: string
  readonly reason?: RecordResult['reason']
  readonly durationMs?: number
  readonly bytes?: number
}

/** Call detail record (CDR). Times in milliseconds since 1970, durations in milliseconds. */
export interface CallCdr extends EndCdr, LegTimes {
  readonly call: string
  readonly projectId: string
  readonly direction: 'inbound' | 'outbound'
  readonly from: string
  readonly to: string
  /** Called domain and source address of a SIP call. */
  readonly domain: string | undefined
  readonly source: string | undefined
  /** End of the last leg. */
  readonly endedAt: number
  readonly durationMs: number
  /** Time from the answer to the end; 0 without an answer. */
  readonly answeredMs: number
  readonly legs: readonly LegCdr[]
  /** Absent without recordings. */
  readonly recordings?: readonly RecordingCdr[]
  /** Number of legs beyond {@link legs}; absent if 0. */
  readonly moreLegs?: number
}

/** Facts of a call for its CDR; also of a call that was rejected. */
export type CdrSource = Pick<Call, 'id' | 'info' | 'caller' | 'cdrLegs' | 'omittedLegs'> &
  Partial<Pick<Call, 'cdrRecordings'>>

/** Waits for a result of the media, for a limited time. */
export type BoundedWait = <T>(what: Promise<T>) => Promise<T | undefined>

/**
 * Builds the CDR of an ended call. Waits for its recordings, and for the last counters of its media ports.
 */
export const buildCdr = async (call: CdrSource, now: number, wait: BoundedWait): Promise<CallCdr> => {
  const { id, info, caller, cdrLegs, omittedLegs, cdrRecordings = [] } = call
  const recorded = Promise.all(cdrRecordings.map((each) => recordingSummary(each, wait)))
  // The last caller may have joined by a transfer. The CDR describes the call from its first caller.
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

/** Returns the packets that the ports have rejected, by reason. */
export const refusedPackets = ({ legs }: CallCdr): [reason: string, packets: number][] =>
  legs.flatMap(({ audio }) => Object.entries(audio?.refused ?? {})).filter(([, packets]) => packets > 0)

/** Audio quality from the far side of a leg. */
export interface LegQuality {
  /**
   * Name of the carrier. `none` for SIP without one, `browser` for browsers, `local` for legs between two
   * calls of the gateway.
   */
  readonly carrier: string
  readonly codec: AudioCodec
  readonly mos: number
  /** 0 to 1. */
  readonly loss: number
  readonly jitterSeconds: number
}

/** Label of a leg without a carrier. */
const noCarrier = { sip: 'none', browser: 'browser', local: 'local' } as const

/** Returns the quality of each leg that has received audio. */
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
