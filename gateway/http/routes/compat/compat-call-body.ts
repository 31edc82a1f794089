import type { CallRow } from '../../../calls/log/call-rows.ts'
import { shape } from './compat-shapes.ts'
import { formatTime, wholeSeconds } from './compat-times.ts'

/** Audio quality of a call from its CDR. Unmeasured values are absent. */
export interface CallAudio {
  /** Mean opinion score of the audio that the gateway received. */
  readonly mos?: number
  /** Round-trip time that the far side's reports give, in ms. */
  readonly roundTripMs?: number
  readonly far?: { readonly lost: number; readonly jitterMs: number }
}

/** Returns the audio quality of the first leg from the JSON of a CDR. */
export const audioIn = (record: string): CallAudio => {
  const { legs } = JSON.parse(record) as { readonly legs?: readonly { readonly audio?: CallAudio }[] }
  return legs?.[0]?.audio ?? {}
}

/** Returns a call for responses. `base` is the path of the account. */
export const callBody = (row: CallRow, base: string, audio: CallAudio = {}) => {
  const uri = `${base}/Calls/${row.id}`
  return {
    sid: row.id,
    account_sid: row.projectId,
    api_version: '2010-04-01',
    parent_call_sid: row.parentId ?? null,
    phone_number_sid: null,
    date_created: formatTime(row.createdAt),
    date_updated: formatTime(updatedAt(row)),
    to: row.to,
    to_formatted: row.to,
    formatted_to: row.to,
    from: row.from,
    from_formatted: row.from,
    formatted_from: row.from,
    status: row.status,
    direction: row.direction,
    answered_by: row.answeredBy ?? null,
    start_time: row.status === 'queued' ? null : formatTime(row.createdAt),
    end_time: formatTime(row.endedAt),
    duration: durationOf(row),
    price: null,
    price_unit: 'USD',
    forwarded_from: null,
    caller_name: null,
    annotation: null,
    group_sid: null,
    sip_result_code: row.sipStatus ?? null,
    audio_in_mos: audio.mos ?? null,
    audio_rtt_avg: audio.roundTripMs ?? null,
    audio_rtt_min: null,
    audio_rtt_max: null,
    audio_out_jitter_avg: audio.far?.jitterMs ?? null,
    audio_out_jitter_min: null,
    audio_out_jitter_max: null,
    audio_out_lost: audio.far?.lost ?? null,
    uri,
    subresource_uris: { notifications: null, recordings: `${uri}/Recordings`, streams: `${uri}/Streams` },
  }
}

/** Schema of a {@link callBody}. */
export const callShape = shape({
  sid: 'text',
  account_sid: 'text',
  api_version: 'text',
  parent_call_sid: 'text?',
  phone_number_sid: 'text?',
  date_created: 'text',
  date_updated: 'text',
  to: 'text',
  to_formatted: 'text',
  formatted_to: 'text',
  from: 'text',
  from_formatted: 'text',
  formatted_from: 'text',
  status: 'text',
  direction: 'text',
  answered_by: 'text?',
  start_time: 'text?',
  end_time: 'text?',
  duration: 'whole',
  price: 'number?',
  price_unit: 'text',
  forwarded_from: 'text?',
  caller_name: 'text?',
  annotation: 'text?',
  group_sid: 'text?',
  sip_result_code: 'whole?',
  audio_in_mos: 'number?',
  audio_rtt_avg: 'number?',
  audio_rtt_min: 'number?',
  audio_rtt_max: 'number?',
  audio_out_jitter_avg: 'number?',
  audio_out_jitter_min: 'number?',
  audio_out_jitter_max: 'number?',
  audio_out_lost: 'whole?',
  uri: 'text',
  subresource_uris: 'links',
})

const updatedAt = ({ createdAt, ringingAt, answeredAt, endedAt }: CallRow): number =>
  endedAt ?? answeredAt ?? ringingAt ?? createdAt

/** Returns the seconds from answer to end; 0 until the call has ended. */
const durationOf = ({ answeredAt, endedAt }: CallRow): number =>
  endedAt === undefined || answeredAt === undefined ? 0 : wholeSeconds(endedAt - answeredAt)
