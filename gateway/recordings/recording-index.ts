import type { RecordingResult } from '../../media/types.ts'
import type { RecordingOrder, RoomRecordingOrder } from '../calls/audio/recording-store.ts'
import { TrunklineError } from '../core/errors/catalogue.ts'
import type { Log } from '../core/log.ts'
import { isOfRoom, type RecordingRow, type RecordingRows } from '../directory/tables/recordings.ts'
import { statusTargetOf } from './lost-recordings.ts'
import { completeFiles } from './member-folder.ts'
import type { RecordingFolder, RecordingPlace } from './recording-folder.ts'
import type { RemovedBy } from './recording-retention.ts'

/** Collaborators of a {@link RecordingIndex}. */
export interface RecordingIndexDeps {
  readonly rows: RecordingRows
  /** Id of this gateway. The index leaves recordings of other gateways on the same store alone. */
  readonly nodeId: string
  readonly folder: RecordingFolder
  readonly log: Log
  /** Reports the end of a recording when the process that made it can no longer do so. */
  readonly reportEnd: (row: RecordingRow) => void
  /** Whether complete recordings of rooms are converted. */
  readonly convertsRooms: () => boolean
  /** Called for each removal. */
  readonly onRemoved: (by: RemovedBy) => void
}

/**
 * Time after the start in which all folders are searched for unfinished files. Files that were written just
 * before the start are completed two minutes later.
 */
const fullSearchMs = 300_000

const tracksOf = { in: 'inbound', out: 'outbound', both: 'both', stereo: 'both' } as const

/** Columns that only ended recordings have. */
const unended = {
  status: 'in-progress',
  end_reason: null,
  ended_at: null,
  duration_ms: 0,
  bytes: 0,
  error: null,
  conversion: null,
  files_json: null,
  files_bytes: 0,
  storage_json: null,
} as const

/** Returns the row of a new recording. */
export const newRecordingRow = (
  what: Pick<RecordingRow, 'id' | 'node_id' | 'started_at'>,
  wanted: Omit<RecordingOrder, 'storage'>,
): RecordingRow => {
  const { format, tracks, sampleRate = 8000 } = wanted.request
  const { conferenceId, source, status } = wanted
  return {
    ...what,
    ...unended,
    project_id: wanted.projectId,
    call_id: wanted.callId,
    leg_id: wanted.legId,
    format,
    channels: tracks === 'stereo' ? 2 : 1,
    sample_rate: sampleRate,
    status_json: status ? JSON.stringify(status) : null,
    source: source ?? null,
    // A recording of a conference has a single track with all participants.
    track: conferenceId === undefined ? tracksOf[tracks] : 'both',
    conference_id: conferenceId ?? null,
  }
}

/** Returns the row of a new recording of a room. */
export const newRoomRecordingRow = (
  what: Pick<RecordingRow, 'id' | 'node_id' | 'started_at'>,
  { projectId, callId, legId, roomSessionId, storage }: RoomRecordingOrder,
): RecordingRow => ({
  ...what,
  ...unended,
  project_id: projectId,
  call_id: callId,
  leg_id: legId,
  format: 'webm',
  channels: 1,
  sample_rate: 48_000,
  status_json: null,
  source: 'Conference',
  track: 'both',
  conference_id: roomSessionId,
  storage_json: storage ? JSON.stringify(storage) : null,
})

/** Index of the recordings: keeps the table and the files consistent. */
export class RecordingIndex {
  #deps: RecordingIndexDeps
  #total = 0
  /** Recordings that failed without a file, and may still get one, by id. */
  readonly #failed = new Map<string, RecordingPlace>()
  /** End of the time in which all folders are searched. */
  #fullUntil: number | undefined

  constructor(deps: RecordingIndexDeps) {
    this.#deps = deps
  }

  /** Bytes of all ended recordings. */
  get total(): number {
    return this.#total
  }

  /** Reads the total size. */
  async open(): Promise<void> {
    const { rows, nodeId } = this.#deps
    this.#total = await rows.totalBytes(nodeId)
  }

  /** Reports the ends of recordings that are still unreported. Logs failures. */
  async reportEnds(): Promise<void> {
    const { rows, nodeId, reportEnd, log } = this.#deps
    try {
      for (const row of await rows.unreported(nodeId)) reportEnd(row)
    } catch (error) {
      log.error({ event: 'recording.unreported-query-failed', err: error }, 'unreported recordings not read')
    }
  }

  /** Reads the total size again: other gateways on the store may have removed some. */
  async count(): Promise<void> {
    const { rows, nodeId } = this.#deps
    const before = this.#total
    const total = await rows.totalBytes(nodeId)
    // Changes during the query may be missing from its result.
    if (this.#total === before) this.#total = total
  }

  /**
   * Saves the row of a recording. Logs a failure and keeps the file; a file without a row is removed after an
   * hour.
   */
  async write(row: RecordingRow): Promise<void> {
    this.#total += row.bytes + row.files_bytes
    try {
      await this.#deps.rows.save(row)
    } catch (error) {
      this.#deps.log.error(
        { event: 'recording.row-not-saved', recording: row.id, err: error },
        'row of a recording not saved',
      )
    }
  }

  /**
   * Saves the end of a recording at `now`, and returns its row. Clears the status URL unless the URL is to
   * receive this end, so that the next start does not report it.
   */
  async close(
    row: RecordingRow,
    { end, durationMs, bytes, hasFile: kept }: RecordingResult,
    now: number,
  ): Promise<RecordingRow> {
    const failed = end.kind === 'error' && !kept
    if (failed) this.#failed.set(row.id, row)
    const over: RecordingRow = {
      ...row,
      status: failed ? 'failed' : 'completed',
      end_reason: end.kind,
      ended_at: now,
      duration_ms: durationMs,
      bytes: kept ? bytes : 0,
      error: end.kind === 'error' ? 'recording_failed' : null,
      storage_json: kept || failed ? row.storage_json : null,
    }
    const saved = await this.#completed(statusTargetOf(over) ? over : { ...over, status_json: null })
    await this.write(saved)
    return saved
  }

  /** Saves an ended recording whose file was replaced. `former`: its row before. Rejects if that fails. */
  async change(former: RecordingRow, row: RecordingRow): Promise<void> {
    await this.#deps.rows.save(row)
    this.#total += row.bytes - former.bytes
  }

  /** Returns a recording of this project, if any. */
  async find(id: string, project?: string): Promise<RecordingRow | undefined> {
    const row = await this.#deps.rows.find(id)
    return row && (project === undefined || row.project_id === project) ? row : undefined
  }

  /**
   * Removes the file and the row. Returns false after a failure, which is logged. Throws
   * `recording_in_progress`.
   */
  async remove(row: RecordingRow, by: RemovedBy): Promise<boolean> {
    const { rows, nodeId, folder, log, onRemoved } = this.#deps
    const { id: recording, project_id: projectId, call_id: call, started_at: startedAt } = row
    const bytes = row.bytes + row.files_bytes
    if (row.status === 'in-progress' || row.conversion) throw new TrunklineError('recording_in_progress')
    try {
      await folder.remove(row)
      await rows.remove(row.id)
    } catch (error) {
      log.error({ event: 'recording.removal-failed', recording, by, err: error }, 'recording not removed')
      return false
    }
    if (row.node_id === nodeId) this.#total -= bytes
    onRemoved(by)
    log.info(
      { event: 'recording.removed', recording, call, projectId, by, bytes, startedAt },
      'recording removed',
    )
    return true
  }

  /**
   * Completes interrupted files, and stores the end of recordings that are no longer in progress. Logs
   * failures.
   */
  async settle(now: number, isRunning: (id: string) => boolean): Promise<void> {
    const { rows, folder, log } = this.#deps
    try {
      const left = await this.#left(isRunning)
      this.#fullUntil ??= now + fullSearchMs
      const found = await folder.complete(now, now < this.#fullUntil ? undefined : left)
      for (const { file, code, message } of found.failed)
        log.error(
          { event: 'recording.completion-failed', file, code, reason: message },
          'interrupted recording not completed',
        )
      // A crash of the media thread may have marked the row as failed, but the file is complete now.
      for (const id of found.completed) await this.#interrupted(await rows.find(id), now)
      for (const place of this.#failed.values())
        if (!(await folder.isUnfinished(place))) this.#failed.delete(place.id)
      for (const { id } of left) {
        // The recording may have ended since the list was read.
        const row = await rows.find(id)
        if (row?.status === 'in-progress') await this.#interrupted(row, now)
      }
    } catch (error) {
      log.error(
        { event: 'recording.settling-failed', err: error },
        'interrupted recordings not recorded as ended',
      )
    }
  }

  /** Returns the recordings without an end, or with an end without a file, that are no longer in progress. */
  async #left(isRunning: (id: string) => boolean): Promise<readonly RecordingPlace[]> {
    const { rows, nodeId } = this.#deps
    const unended = (await rows.inProgress(nodeId)).filter(({ id }) => !isRunning(id))
    return [...unended, ...this.#failed.values()]
  }

  /** Returns the row of an ended recording with its files, and whether it waits for its conversion. */
  async #completed(row: RecordingRow): Promise<RecordingRow> {
    const { folder, convertsRooms, log } = this.#deps
    if (!isOfRoom(row)) return row
    const files = await completeFiles(folder.membersOf(row)).catch((err) => {
      log.error({ event: 'recording.files-not-read', recording: row.id, err }, 'files of members not read')
      return []
    })
    const bytes = files.reduce((sum, { size_in_bytes = 0 }) => sum + size_in_bytes, 0)
    return {
      ...row,
      conversion: row.bytes > 0 && convertsRooms() ? 'pending' : null,
      ...(files.length > 0 && { files_json: JSON.stringify(files), files_bytes: bytes }),
    }
  }

  async #interrupted(row: RecordingRow | undefined, now: number): Promise<void> {
    if (!row || row.bytes > 0 || (await this.#deps.folder.isUnfinished(row))) return
    const bytes = (await this.#deps.folder.sizeOf(row)) ?? 0
    const duration = await this.#deps.folder.durationOf(row, bytes)
    const settled = await this.#completed({
      ...row,
      status: bytes > 0 ? 'completed' : 'failed',
      end_reason: row.end_reason ?? 'interrupted',
      ended_at: row.ended_at ?? Math.min(now, row.started_at + duration),
      duration_ms: duration,
      bytes,
      storage_json: bytes > 0 ? row.storage_json : null,
    })
    await this.write(settled)
    this.#deps.reportEnd(settled)
    const facts = {
      event: 'recording.settled',
      recording: row.id,
      call: row.call_id,
      bytes,
      durationMs: duration,
    }
    this.#deps.log.warn(facts, 'interrupted recording settled')
  }
}
