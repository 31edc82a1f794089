import type { CallRow, CallStatus } from '../../../calls/log/call-rows.ts'
import { durationMs } from '../../../calls/log/status-callbacks.ts'

const statuses: Readonly<Record<CallStatus, string>> = {
  queued: 'queued',
  ringing: 'ringing',
  'in-progress': 'answered',
  completed: 'completed',
  canceled: 'canceled',
  busy: 'failed',
  'no-answer': 'failed',
  failed: 'failed',
}

/** Returns the type of a call for the API. */
export const typeOf = ({ type, to }: Pick<CallRow, 'type' | 'to'>): string => {
  if (type === 'webrtc') return 'relay_webrtc_call'
  return /^\+?\d+$/.test(to) ? 'relay_pstn_call' : 'relay_sip_call'
}

/** Returns the URL of a call's document; null without one or for a stored document. */
export const urlOf = ({ document }: Pick<CallRow, 'document'>): string | null =>
  document !== undefined && /^https?:\/\//i.test(document) ? document : null

/** Returns a call for responses. A call to a browser has no status until it is answered or has ended. */
export const callLeg = (row: CallRow) => ({
  id: row.id,
  from: row.from,
  to: row.to,
  direction: row.direction,
  source: 'realtime_api',
  url: urlOf(row),
  status: row.type === 'webrtc' && row.status === 'queued' ? null : statuses[row.status],
  duration: Math.round(durationMs(row) / 1000),
  duration_ms: durationMs(row),
  billing_ms: durationMs(row),
  charge: 0,
  charge_details: [],
  created_at: new Date(row.createdAt).toISOString(),
  type: typeOf(row),
  parent_id: row.parentId ?? null,
})

const properties = {
  id: { type: 'string' },
  from: { type: 'string' },
  to: { type: 'string' },
  direction: { type: 'string', enum: ['inbound', 'outbound-api', 'outbound-dial'] },
  source: { type: 'string' },
  url: { type: ['string', 'null'] },
  status: {
    type: ['string', 'null'],
    enum: [...new Set(Object.values(statuses)), null],
    description: 'State of the call; null for a call to a subscriber that is not answered yet.',
  },
  duration: { type: 'integer' },
  duration_ms: { type: 'integer' },
  billing_ms: { type: 'integer' },
  charge: { type: 'number' },
  charge_details: { type: 'array', items: {} },
  created_at: { type: 'string' },
  type: { type: 'string', enum: ['relay_pstn_call', 'relay_sip_call', 'relay_webrtc_call'] },
  parent_id: { type: ['string', 'null'] },
} as const

/** Schema of a {@link callLeg}. */
export const callLegSchema = { type: 'object', required: Object.keys(properties), properties } as const
