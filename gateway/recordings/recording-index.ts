import type { RecordingResult } from '../../media/types.ts'
import type { RecordingOrder } from '../calls/verbs/recording-store.ts'
import { TrunklineError } from '../core/errors/catalogue.ts'
import type { Log } from '../core/log.ts'
import type { RecordingRow, RecordingRows } from '../directory/recordings.ts'
import { statusTargetOf } from './lost-recordings.ts'
import { durationOf, type RecordingFolder } from './recording-folder.ts'
import type { RemovedBy } from './recording-retention.ts'

/** What the ledger works with. */
export interface RecordingIndexDeps {
  readonly rows: RecordingRows
  /** Of this gateway: what others have on the same store is theirs. */
  readonly nodeId: string
  readonly folder: RecordingFolder
  readonly log: Log
  /** Tells whoever is to be told of a recording that is over, and that its maker cannot tell of any more. */
  readonly tell: (row: RecordingRow) => void
  /** Told of each removal. */
  readonly onRemoved: (by: RemovedBy) => void
}

const tracksOf = { in: 'inbound', out: 'outbound', both: 'both', stereo: 'both' } as const

/** A row for a recording that begins. */
export const newRecordingRow = (
  what: Pick<RecordingRow, 'id' | 'node_id' | 'started_at'>,
  wanted: Omit<RecordingOrder, 'storage'>,
): RecordingRow => {
  const { format, tracks, sampleRate = 8000 } = wanted.request
  const { conferenceId, source, status } = wanted
  return {
    ...what,
    project_id: wanted.projectId,
    call_id: wanted.callId,
    leg_id: wanted.legId,
    status: 'in-progress',
    end_reason: null,
    format,
    channels: tracks === 'stereo' ? 2 : 1,
    sample_rate: sampleRate,
    ended_at: null,
    duration_ms: 0,
    bytes: 0,
    status_json: status ? JSON.stringify(status) : null,
    source: source ?? null,
    // Of a conference there is one sound, that of all.
    track: conferenceId === undefined ? tracksOf[tracks] : 'both',
    conference_id: conferenceId ?? null,
  }
}

/** Which recordings there are, and how they ended: the table and the files, kept in step. */
export class RecordingIndex {
  #parts: RecordingIndexDeps
  #total = 0

  constructor(parts: RecordingIndexDeps) {
    this.#parts = parts
  }

  /** Bytes of all that are over. */
  get total(): number {
    return this.#total
  }

  /** Takes what has no gateway yet, and reads how much there is. */
  async open(): Promise<void> {
    const { rows, nodeId } = this.#parts
    await rows.adopt(nodeId)
    this.#total = await rows.totalBytes(nodeId)
  }

  /** Tells of what is over, and was not told of. Logs what it cannot do. */
  async tellEnds(): Promise<void> {
    const { rows, nodeId, tell, log } = this.#parts
    try {
      for (const row of await rows.untold(nodeId)) tell(row)
    } catch (error) {
      log.error({ err: error }, 'recordings that nobody was told of could not be looked for')
    }
  }

  /** Reads anew how much there is: others on the same store may have removed some. */
  async count(): Promise<void> {
    const { rows, nodeId } = this.#parts
    const before = this.#total
    const total = await rows.totalBytes(nodeId)
    // What changed meanwhile may be in it or not.
    if (this.#total === before) this.#total = total
  }

  /** Writes down a recording that begins or has ended. A failure is logged: the file is there all the same, for an hour where no row names it. */
  async write(row: RecordingRow): Promise<void> {
    this.#total += row.bytes
    try {
      await this.#parts.rows.save(row)
    } catch (error) {
      this.#parts.log.error({ recording: row.id, err: error }, 'a recording could not be written down')
    }
  }

  /** Writes down how a recording ended, at `now`; where nobody is to be told of such an end, the next run is not to look for whom to tell. */
  async close(
    row: RecordingRow,
    { end, durationMs, bytes, hasFile: kept }: RecordingResult,
    now: number,
  ): Promise<void> {
    const failed = end.kind === 'error' && !kept
    const over: RecordingRow = {
      ...row,
      status: failed ? 'failed' : 'completed',
      end_reason: end.kind,
      ended_at: now,
      duration_ms: durationMs,
      bytes: kept ? bytes : 0,
    }
    await this.write(statusTargetOf(over) ? over : { ...over, status_json: null })
  }

  /** One of this project; undefined: there is none. */
  async find(id: string, project?: string): Promise<RecordingRow | undefined> {
    const row = await this.#parts.rows.find(id)
    return row && (project === undefined || row.project_id === project) ? row : undefined
  }

  /** Removes the file and the row. False, and logged, when that cannot be. Throws `recording_in_progress`. */
  async remove(row: RecordingRow, by: RemovedBy): Promise<boolean> {
    const { rows, nodeId, folder, log, onRemoved } = this.#parts
    const { id: recording, project_id: projectId, call_id: call, bytes, started_at: startedAt } = row
    if (row.status === 'in-progress') throw new TrunklineError('recording_in_progress')
    try {
      await folder.remove(row)
      await rows.remove(row.id)
    } catch (error) {
      log.error({ recording, by, err: error }, 'a recording could not be removed')
      return false
    }
    if (row.node_id === nodeId) this.#total -= bytes
    onRemoved(by)
    log.info({ recording, call, projectId, by, bytes, startedAt }, 'recording removed')
    return true
  }

  /** Completes files that were cut off, and settles rows whose recording is not under way any more. Logs what it cannot do. */
  async settle(now: number, isUnderWay: (id: string) => boolean): Promise<void> {
    const { rows, nodeId, folder, log } = this.#parts
    try {
      const found = await folder.complete(now)
      for (const { file, code, message } of found.failed)
        log.error({ file, code, reason: message }, 'an unfinished recording could not be completed')
      // A row that said failed, as the media thread had died, has its file now.
      for (const id of found.completed) await this.#interrupted(await rows.find(id), now)
      for (const { id } of await rows.inProgress(nodeId)) {
        if (isUnderWay(id)) continue
        // It may have come to its end since the list was read.
        const row = await rows.find(id)
        if (row?.status === 'in-progress') await this.#interrupted(row, now)
      }
    } catch (error) {
      log.error({ err: error }, 'unfinished recordings could not be looked at')
    }
  }

  async #interrupted(row: RecordingRow | undefined, now: number): Promise<void> {
    if (!row || row.bytes > 0 || (await this.#parts.folder.isUnfinished(row))) return
    const bytes = (await this.#parts.folder.sizeOf(row)) ?? 0
    const duration = durationOf(row, bytes)
    const settled: RecordingRow = {
      ...row,
      status: bytes > 0 ? 'completed' : 'failed',
      end_reason: row.end_reason ?? 'interrupted',
      ended_at: row.ended_at ?? Math.min(now, row.started_at + duration),
      duration_ms: duration,
      bytes,
    }
    await this.write(settled)
    this.#parts.tell(settled)
    const facts = { recording: row.id, call: row.call_id, bytes, durationMs: duration }
    this.#parts.log.warn(facts, 'a recording that was cut off is settled')
  }
}
