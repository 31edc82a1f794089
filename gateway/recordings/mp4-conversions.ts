import { rename, rm, stat, unlink } from 'node:fs/promises'
import type { ConvertToMp4 } from '../../media/ffmpeg/convert-mp4.ts'
import type { Log } from '../core/log.ts'
import type { Metrics } from '../core/metrics.ts'
import type { RecordingRow } from '../directory/tables/recordings.ts'
import type { RecordingFolder } from './recording-folder.ts'

/** Time that a conversion may take beside twice the duration of the recording, in ms. */
const extraMs = 300_000

/** Collaborators of {@link Mp4Conversions}. */
export interface Mp4ConversionsDeps {
  readonly folder: Pick<RecordingFolder, 'fileOf'>
  readonly convert: ConvertToMp4
  /** Saves the row of a recording whose conversion has ended, in place of its former row. */
  readonly save: (former: RecordingRow, row: RecordingRow) => Promise<void>
  readonly log: Log
  readonly metrics: Pick<Metrics, 'recordingConversions'>
}

/**
 * Converts ended recordings of rooms to MP4, one after the other. An MP4 replaces the WebM; a conversion that
 * fails leaves it. Those that the gateway did not finish begin anew with the next one.
 */
export class Mp4Conversions {
  readonly #deps: Mp4ConversionsDeps
  /** Conversions by the id of their recording. */
  readonly #known = new Map<string, Promise<RecordingRow>>()
  readonly #end = new AbortController()
  #last: Promise<unknown> = Promise.resolve()

  constructor(deps: Mp4ConversionsDeps) {
    this.#deps = deps
  }

  /** Number of running and waiting conversions. */
  get size(): number {
    return this.#known.size
  }

  /** Converts a recording, once. Resolves with its row after that. Never rejects. */
  add(row: RecordingRow): Promise<RecordingRow> {
    const known = this.#known.get(row.id)
    if (known) return known
    const done = this.#last.then(() => this.#run(row)).finally(() => this.#known.delete(row.id))
    this.#known.set(row.id, done)
    this.#last = done
    return done
  }

  /** Ends the conversion in progress, and begins no other. Idempotent. */
  async close(): Promise<void> {
    this.#end.abort()
    await this.#last
  }

  async #run(row: RecordingRow): Promise<RecordingRow> {
    const { log, metrics, save } = this.#deps
    if (this.#end.signal.aborted) return row
    const facts = { recording: row.id, call: row.call_id }
    try {
      const bytes = await this.#convert(row)
      const converted: RecordingRow = { ...row, format: 'mp4', bytes, conversion: null }
      await save(row, converted)
      await unlink(this.#deps.folder.fileOf(row))
      metrics.recordingConversions.inc({ outcome: 'converted' })
      log.info({ event: 'recording.converted', ...facts, bytes }, 'recording converted to MP4')
      return converted
    } catch (err) {
      if (this.#end.signal.aborted) return row
      metrics.recordingConversions.inc({ outcome: 'failed' })
      log.error({ event: 'recording.conversion-failed', ...facts, err }, 'recording not converted to MP4')
      const kept: RecordingRow = { ...row, conversion: null, error: row.error ?? 'recording_not_converted' }
      // With a store that fails, the recording is converted again later.
      await save(row, kept).catch(() => undefined)
      return kept
    }
  }

  /** Writes the MP4, and returns its size in bytes. */
  async #convert(row: RecordingRow): Promise<number> {
    const { folder, convert } = this.#deps
    const target = folder.fileOf({ ...row, format: 'mp4' })
    const unfinished = `${target}.new`
    try {
      // A conversion of a killed gateway may still write to it.
      await rm(unfinished, { force: true })
      this.#end.signal.throwIfAborted()
      const maxMs = 2 * row.duration_ms + extraMs
      await convert(folder.fileOf(row), unfinished, { maxMs, signal: this.#end.signal })
      const { size } = await stat(unfinished)
      await rename(unfinished, target)
      return size
    } finally {
      await rm(unfinished, { force: true })
    }
  }
}
