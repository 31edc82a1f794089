import { type Fields, formRequest } from '../../handlers/common/forms.ts'
import { recordingFields } from '../../handlers/common/recordings.ts'
import type { StatusCallback } from '../../handlers/handler.ts'
import type { RecordingSource, RecordingStatusTarget } from '../../handlers/verbs.ts'
import { callbackRow } from '../callbacks/callback-row.ts'
import { eventCallback } from '../calls/log/status-callbacks.ts'
import type { Clock } from '../core/clock.ts'
import type { EndRecordings } from '../directory/tables/interrupted.ts'
import type { RecordingRow } from '../directory/tables/recordings.ts'

/**
 * Ends the recordings of a stopped gateway: marks those in progress as failed. Their files are on that
 * gateway's disk; that gateway completes them when it runs again.
 */
export const endLostRecordings =
  (clock: Pick<Clock, 'now'>): EndRecordings =>
  (rows, seenAt) => {
    const now = clock.now()
    const over = rows.map((row): RecordingRow => {
      if (row.ended_at !== null) return row
      const endedAt = Math.max(seenAt, row.started_at)
      return { ...row, status: 'failed', end_reason: 'interrupted', ended_at: endedAt }
    })
    const callbacks = over.flatMap((row, i) => {
      const callback = recordingEndCallback(row, { now, url: () => '' })
      const from = { projectId: row.project_id, callId: row.call_id }
      return callback ? callbackRow(from, callback, { now, createdAt: now + i }) : []
    })
    return { recordings: over.map((row) => ({ ...row, status_json: null })), callbacks }
  }

/** Options of {@link recordingEndCallback}. */
export interface RecordingEndOptions {
  /** Present time, in ms since 1970. */
  readonly now: number
  /** Returns a link to the audio. */
  readonly url: () => string
}

/**
 * Returns the callback that reports the end of a recording after the process that made it has ended;
 * undefined without a status URL.
 */
export const recordingEndCallback = (
  row: RecordingRow,
  parts: RecordingEndOptions,
): StatusCallback | undefined => {
  const status = statusTargetOf(row)
  if (!status) return undefined
  const callback = status.dialect === 'form' ? formOf(row, status, parts) : eventOf(row, status, parts)
  return { ...callback, ends: row.id }
}

/** Returns the status URL for the end of a recording; undefined without one. */
export const statusTargetOf = (row: RecordingRow): RecordingStatusTarget | undefined => {
  if (row.status_json === null) return undefined
  const status: RecordingStatusTarget = JSON.parse(row.status_json)
  return (status.events?.includes(isAbsent(row) ? 'absent' : 'completed') ?? true) ? status : undefined
}

/** Whether the recording has no audio. */
const isAbsent = ({ status, bytes }: RecordingRow): boolean => status === 'completed' && bytes === 0

const formOf = (
  row: RecordingRow,
  status: Extract<RecordingStatusTarget, { dialect: 'form' }>,
  { url }: RecordingEndOptions,
): StatusCallback => {
  const { RecordingUrl, ...fields } = recordingFields(
    { projectId: row.project_id, callId: row.call_id },
    {
      source: row.source as RecordingSource,
      channels: row.channels === 2 ? 2 : 1,
      ...(row.conference_id !== null && { conferenceSid: row.conference_id }),
    },
    isAbsent(row) ? 'absent' : row.status,
    { id: row.id, url: row.bytes > 0 ? url() : '', durationMs: row.duration_ms },
  )
  // A recording without audio has no link.
  const found: Fields = RecordingUrl ? { RecordingUrl } : {}
  return { kind: 'recording', ...formRequest(status, { ...fields, ...found }) }
}

const eventOf = (
  row: RecordingRow,
  status: Extract<RecordingStatusTarget, { dialect: 'json' }>,
  { now, url }: RecordingEndOptions,
): StatusCallback => {
  const params = {
    control_id: row.id,
    ...status.params,
    state: row.bytes > 0 ? 'finished' : isAbsent(row) ? 'no_input' : 'error',
    url: row.bytes > 0 ? url() : '',
    recording_id: row.id,
    size: row.bytes,
    duration: row.duration_ms / 1000,
    start_time: row.started_at / 1000,
    end_time: (row.ended_at ?? row.started_at) / 1000,
  }
  const call = { id: row.call_id, projectId: row.project_id, nodeId: row.node_id }
  return eventCallback(status, call, { type: 'calling.call.record', at: now, params })
}
