import type { SipAgent, TracedMessage } from '@trunkline/sip-agent'
import { formatHost } from '@trunkline/sip-agent/message'
import { TrunklineError } from '../core/errors/catalogue.ts'
import { findById, type OperatorCalls } from './call-list.ts'
import { type RecentCall, type RecentCalls, sipCallIdsOf } from './recent-calls.ts'

/** Collaborators of {@link traceCall}. */
export interface CallTraceDeps {
  readonly calls: OperatorCalls
  readonly recent: Pick<RecentCalls, 'all'>
  /** The embedded agent; undefined with a drachtio-server, whose messages the gateway does not see. */
  readonly agent: Pick<SipAgent, 'trace'> | undefined
}

/** SIP message of a trace. */
export interface MessageBody {
  readonly at: string
  readonly direction: TracedMessage['direction']
  readonly transport: string
  /** Address and port of the gateway. */
  readonly local: string
  /** Address and port of the other side. */
  readonly remote: string
  readonly sip_call_id: string
  /** The whole message, without secrets. */
  readonly text: string
}

/** SIP messages of a call, the oldest first. */
export interface TraceBody {
  /** Null if the request named a SIP Call-ID that belongs to no known call. */
  readonly call: { readonly id: string; readonly from: string; readonly to: string } | null
  readonly sip_call_ids: readonly string[]
  readonly messages: readonly MessageBody[]
}

/**
 * Returns the SIP messages of a call in progress or recently ended. `id`: the id of the call or its
 * beginning, or a SIP Call-ID. Throws `trace_unavailable` with a drachtio-server, and `unknown_call` if
 * nothing is known of the id.
 */
export const traceCall = async ({ calls, recent, agent }: CallTraceDeps, id: string): Promise<TraceBody> => {
  if (!agent) throw new TrunklineError('trace_unavailable')
  const call = findCall(calls, recent, id)
  const callIds = call?.sipCallIds ?? [id]
  const messages = callIds.length > 0 ? await agent.trace(callIds) : []
  if (!call && messages.length === 0)
    throw new TrunklineError('unknown_call', `No call in memory has the id or the SIP Call-ID ${id}.`)
  return {
    call: call ? { id: call.id, from: call.from, to: call.to } : null,
    sip_call_ids: callIds,
    messages: messages.map(messageBody),
  }
}

/** Finds a call, a branch, or an ended call. */
const findCall = (
  calls: OperatorCalls,
  recent: Pick<RecentCalls, 'all'>,
  id: string,
): RecentCall | undefined => {
  const row = findById(calls.rowsInProgress, id)
  const legs = row && calls.inProgress(row.id)?.legs
  return row && legs ? { ...row, sipCallIds: sipCallIdsOf(legs) } : findById(recent.all, id)
}

const messageBody = ({ at, direction, local, remote, callId, text }: TracedMessage): MessageBody => ({
  at: new Date(at).toISOString(),
  direction,
  transport: remote.protocol,
  local: `${formatHost(local.address)}:${local.port}`,
  remote: `${formatHost(remote.address)}:${remote.port}`,
  sip_call_id: callId,
  text,
})
