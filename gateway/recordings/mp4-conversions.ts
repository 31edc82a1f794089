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
  /** Returns the present row of a recording; undefined if it was removed. */
  readonly find: (id: string) => Promise<RecordingRow | undefined>
  /** Saves the row of a recording whose conversion has ended, in place of its former row. */
  readonly save: (former: RecordingRow, row: RecordingRow) => Promise<void>
  readonly log: Log
  readonly metrics: Pick<Metrics, 'recordingConversions'>
}

/** Recording that waits for its conversion. */
interface WaitingRecording {
  readonly row: RecordingRow
  readonly resolve: (row: RecordingRow | undefined) => void
  /** Ends this conversion alone. */
  readonly end: AbortController
}

/**
 * Converts ended recordings of rooms to MP4, one after the other, and projects by turns. An MP4 replaces the
 * WebM; a conversion that fails leaves it. Those that the gateway did not finish begin anew with the next
 * one.
 */
export class Mp4Conversions {
  readonly #deps: Mp4ConversionsDeps
  /** Conversions by the id of their recording. */
  readonly #known = new Map<string, Promise<RecordingRow | undefined>>()
  /** Those that wait, by project, in the order of the projects' turns. */
  readonly #waiting = new Map<string, readonly WaitingRecording[]>()
  readonly #end = new AbortController()
  #current: WaitingRecording | undefined
  /** Recordings that are not converted now, see {@link without}. */
  readonly #withheld = new Set<string>()
  #running: Promise<void> | undefined

  constructor(deps: Mp4ConversionsDeps) {
    this.#deps = deps
  }

  /** Number of running and waiting conversions. */
  get size(): number {
    return this.#known.size
  }

  /**
   * Converts a recording, once. Resolves with its row after that, which is still pending if the gateway
   * closes; undefined if the recording was removed. Never rejects.
   */
  add(row: RecordingRow): Promise<RecordingRow | undefined> {
    const known = this.#known.get(row.id)
    if (known) return known
    if (this.#withheld.has(row.id)) return Promise.resolve(row)
    const { promise, resolve } = Promise.withResolvers<RecordingRow | undefined>()
    this.#known.set(row.id, promise)
    const others = this.#waiting.get(row.project_id) ?? []
    this.#waiting.set(row.project_id, [...others, { row, resolve, end: new AbortController() }])
    this.#running ??= this.#runAll()
    return promise
  }

  /**
   * Ends the conversion of a recording, in progress or waiting, and runs `work` without it. `work` receives
   * the row that is left, which is the converted one if the conversion has just succeeded. Rejects as `work`
   * does.
   */
  async without<T>(row: RecordingRow, work: (row: RecordingRow) => Promise<T>): Promise<T> {
    this.#withheld.add(row.id)
    try {
      const known = this.#known.get(row.id)
      this.#cancel(row)
      return await work((await known) ?? row)
    } finally {
      this.#withheld.delete(row.id)
    }
  }

  /** Ends the conversion in progress, and begins no other. Idempotent. */
  async close(): Promise<void> {
    this.#end.abort()
    await this.#running
  }

  async #runAll(): Promise<void> {
    for (let next = this.#next(); next; next = this.#next()) {
      this.#current = next
      const done = await this.#read(next)
      this.#current = undefined
      this.#known.delete(next.row.id)
      next.resolve(done)
    }
    this.#running = undefined
  }

  #cancel({ id, project_id: project }: RecordingRow): void {
    if (this.#current?.row.id === id) {
      this.#current.end.abort()
      return
    }
    const all = this.#waiting.get(project) ?? []
    const found = all.find(({ row }) => row.id === id)
    if (!found) return
    const rest = all.filter((each) => each !== found)
    if (rest.length > 0) this.#waiting.set(project, rest)
    else this.#waiting.delete(project)
    this.#known.delete(id)
    found.resolve(found.row)
  }

  /** Takes the next recording. Its project has its next turn after all others that wait. */
  #next(): WaitingRecording | undefined {
    const [turn] = this.#waiting
    if (!turn) return undefined
    const [project, [next, ...rest]] = turn
    this.#waiting.delete(project)
    if (rest.length > 0) this.#waiting.set(project, rest)
    return next
  }

  /** Converts a recording as its present row says: another conversion may have ended since it was added. */
  async #read({ row: added, end }: WaitingRecording): Promise<RecordingRow | undefined> {
    const signal = AbortSignal.any([this.#end.signal, end.signal])
    if (signal.aborted) return added
    try {
      const row = await this.#deps.find(added.id)
      return row?.conversion ? await this.#run(row, signal) : row
    } catch (err) {
      this.#deps.log.error(
        { event: 'recording.conversion-put-off', recording: added.id, err },
        'row of a recording not read; its conversion begins later',
      )
      return added
    }
  }

  async #run(row: RecordingRow, signal: AbortSignal): Promise<RecordingRow> {
    const { log, metrics, save } = this.#deps
    const facts = { recording: row.id, call: row.call_id }
    try {
      const bytes = await this.#convert(row, signal)
      const converted: RecordingRow = { ...row, format: 'mp4', bytes, conversion: null }
      await save(row, converted)
      await this.#removeSource(row)
      metrics.recordingConversions.inc({ outcome: 'converted' })
      log.info({ event: 'recording.converted', ...facts, bytes }, 'recording converted to MP4')
      return converted
    } catch (err) {
      if (signal.aborted) return row
      metrics.recordingConversions.inc({ outcome: 'failed' })
      log.error({ event: 'recording.conversion-failed', ...facts, err }, 'recording not converted to MP4')
      const kept: RecordingRow = { ...row, conversion: null, error: row.error ?? 'recording_not_converted' }
      // With a store that fails, the recording is converted again later.
      await save(row, kept).catch(() => undefined)
      return kept
    }
  }

  /** Removes the WebM. One that stays is removed with its recording. */
  async #removeSource(row: RecordingRow): Promise<void> {
    try {
      await unlink(this.#deps.folder.fileOf(row))
    } catch (err) {
      this.#deps.log.warn(
        { event: 'recording.source-not-removed', recording: row.id, err },
        'WebM of a converted recording not removed',
      )
    }
  }

  /** Writes the MP4, and returns its size in bytes. */
  async #convert(row: RecordingRow, signal: AbortSignal): Promise<number> {
    const { folder, convert } = this.#deps
    const target = folder.fileOf({ ...row, format: 'mp4' })
    const unfinished = `${target}.new`
    try {
      // A conversion of a killed gateway may still write to it.
      await rm(unfinished, { force: true })
      signal.throwIfAborted()
      const maxMs = 2 * row.duration_ms + extraMs
      await convert(folder.fileOf(row), unfinished, { maxMs, signal })
      const { size } = await stat(unfinished)
      await rename(unfinished, target)
      return size
    } finally {
      await rm(unfinished, { force: true })
    }
  }
}
