import { type Fields, formRequest, seconds, timestamp } from '../../../handlers/common/forms.ts'
import { withQuery } from '../../../handlers/common/urls.ts'
import type { StatusCallback } from '../../../handlers/handler.ts'
import { type Code, catalogue } from '../../core/errors/catalogue.ts'
import type { CallProgress, StatusTarget } from '../../model.ts'
import type { CallRow } from './call-rows.ts'

/** State of a call for a callback. */
export interface StatusChange {
  readonly progress: CallProgress
  /** Number of states reported before. */
  readonly sequence: number
  /** Id of this gateway. */
  readonly nodeId: string
  /** In ms since 1970. */
  readonly at: number
}

/** Returns the callback for a state of a call, in the dialect of its target. */
export const statusCallback = (target: StatusTarget, row: CallRow, change: StatusChange): StatusCallback => {
  if (target.dialect === 'form')
    return { kind: 'call-status', ...formRequest(target, formFields(row, change)) }
  const { nodeId, at } = change
  return eventCallback(
    target,
    { ...row, nodeId },
    { type: 'calling.call.state', at, params: stateParams(row, change) },
  )
}

/** Event of a call. */
export interface CallEvent {
  /** Type of the event, such as `calling.call.play`. */
  readonly type: string
  /** In ms since 1970. */
  readonly at: number
  readonly params: Readonly<Record<string, unknown>>
}

/** Returns the callback for an event, in the envelope of the script family. */
export const eventCallback = (
  { url, method }: Pick<StatusTarget, 'url' | 'method'>,
  { id, projectId, nodeId }: Pick<CallRow, 'id' | 'projectId'> & Pick<StatusChange, 'nodeId'>,
  { type, at, params: further }: CallEvent,
): StatusCallback => {
  const params = { call_id: id, node_id: nodeId, segment_id: id, ...further }
  const envelope = {
    event_type: type,
    event_channel: `swml:${id}`,
    timestamp: at / 1000,
    project_id: projectId,
    space_id: projectId,
  }
  const kind = type === 'calling.call.state' ? 'call-status' : (type.split('.').at(-1) ?? type)
  return envelopeCallback({ url, method }, kind, envelope, params)
}

/**
 * Returns the callback that sends an envelope with `params`: as JSON, or for GET as query parameters. `kind`:
 * for logs and metrics.
 */
export const envelopeCallback = (
  { url, method }: Pick<StatusTarget, 'url' | 'method'>,
  kind: string,
  envelope: object,
  params: object,
): StatusCallback => {
  if (method === 'POST') {
    const text = JSON.stringify({ ...envelope, params })
    return { kind, url, method, body: { contentType: 'application/json', text } }
  }
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...envelope, ...params }))
    query.set(name, typeof value === 'object' ? JSON.stringify(value) : String(value))
  return { kind, url: withQuery(url, query), method }
}

/** Returns the call's status in a callback: `initiated` for the first state, else the status of the row. */
const callStatus = ({ status }: CallRow, progress: CallProgress): string =>
  progress === 'initiated' ? 'initiated' : status

const formFields = (row: CallRow, { progress, sequence, at }: StatusChange): Fields => ({
  AccountSid: row.projectId,
  ApiVersion: '2010-04-01',
  CallSid: row.id,
  CallStatus: callStatus(row, progress),
  Direction: row.direction,
  From: row.from,
  To: row.to,
  Timestamp: timestamp(at),
  SequenceNumber: String(sequence),
  CallbackSource: 'call-progress-events',
  ...(progress === 'completed' && { CallDuration: seconds(durationMs(row)) }),
  ...(row.parentId !== undefined && { ParentCallSid: row.parentId }),
  ...(row.answeredBy !== undefined && { AnsweredBy: row.answeredBy }),
  ...(row.sipStatus !== undefined && { SipResultCode: String(row.sipStatus) }),
})

/** Returns the time from the answer to the end, in ms; 0 without an answer or an end. */
export const durationMs = ({ answeredAt, endedAt }: CallRow): number =>
  answeredAt === undefined || endedAt === undefined ? 0 : endedAt - answeredAt

const states: Readonly<Record<CallProgress, string>> = {
  initiated: 'created',
  ringing: 'ringing',
  answered: 'answered',
  completed: 'ended',
}

const stateParams = (row: CallRow, { progress }: StatusChange): Readonly<Record<string, unknown>> => ({
  call_state: states[progress],
  direction: row.direction === 'inbound' ? 'inbound' : 'outbound',
  device: deviceOf(row),
  ...(row.parentId !== undefined && { parent: { call_id: row.parentId } }),
  ...(progress === 'completed' && { end_reason: endReason(row) }),
  start_time: row.createdAt,
  ...(row.answeredAt !== undefined && { answer_time: row.answeredAt }),
  ...(row.endedAt !== undefined && { end_time: row.endedAt }),
})

const isNumber = (text: string): boolean => /^\+?\d+$/.test(text)

const deviceOf = ({ type, from, to }: CallRow) =>
  type === 'sip' && isNumber(to)
    ? { type: 'phone', params: { from_number: from, to_number: to } }
    : { type, params: { from, to } }

const endReasons: Readonly<Partial<Record<CallRow['status'], string>>> = {
  busy: 'busy',
  'no-answer': 'no_answer',
  canceled: 'cancel',
}

/**
 * Returns the reason of the end in the script family. An answered call that a failure has ended is
 * `completed`, with the reason `error`.
 */
const endReason = ({ status, code }: CallRow): string => {
  if (status === 'completed') return code !== undefined && isFailure(code) ? 'error' : 'hangup'
  return code === 'declined' ? 'declined' : (endReasons[status] ?? 'error')
}

const isFailure = (code: Code): boolean => catalogue[code].level !== 'info'
