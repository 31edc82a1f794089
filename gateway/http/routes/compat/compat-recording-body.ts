import type { RecordingRow } from '../../../directory/tables/recordings.ts'
import { shape } from './compat-shapes.ts'
import { formatTime, wholeSeconds } from './compat-times.ts'

/** Returns a recording for responses. `link` returns a temporary URL of its audio. */
export const recordingBody = (
  row: RecordingRow,
  base: string,
  { isPaused = false, link }: { readonly isPaused?: boolean; readonly link: (id: string) => string },
) => {
  const isOver = row.status !== 'in-progress'
  return {
    sid: row.id,
    account_sid: row.project_id,
    call_sid: row.call_id,
    conference_sid: row.conference_id,
    api_version: '2010-04-01',
    channels: String(row.channels),
    source: row.source,
    track: row.track,
    status: isPaused ? 'paused' : statusOf(row),
    duration: isOver ? String(wholeSeconds(row.duration_ms)) : null,
    start_time: formatTime(row.started_at),
    end_time: formatTime(row.ended_at),
    date_created: formatTime(row.started_at),
    date_updated: formatTime(row.ended_at ?? row.started_at),
    price: null,
    price_unit: 'USD',
    encryption_details: null,
    error_code: null,
    uri: `${base}/Recordings/${row.id}`,
    media_url: row.bytes > 0 ? link(row.id) : null,
    subresource_uris: { transcriptions: null },
  }
}

/** Schema of a {@link recordingBody}. */
export const recordingShape = shape({
  sid: 'text',
  account_sid: 'text',
  call_sid: 'text',
  conference_sid: 'text?',
  api_version: 'text',
  channels: 'text',
  source: 'text?',
  track: 'text?',
  status: 'text',
  duration: 'text?',
  start_time: 'text',
  end_time: 'text?',
  date_created: 'text',
  date_updated: 'text',
  price: 'number?',
  price_unit: 'text',
  encryption_details: 'text?',
  error_code: 'whole?',
  uri: 'text',
  media_url: 'text?',
  subresource_uris: 'links',
})

const statusOf = ({ status, bytes }: RecordingRow): string =>
  status === 'completed' && bytes === 0 ? 'absent' : status
