import { randomUUID } from 'node:crypto'
import { statfs } from 'node:fs/promises'
import type { RecordingsConfig } from '../../config/recording-types.ts'
import type { MediaPort, RecordingResult } from '../../media/types.ts'
import type { Callbacks } from '../calls/call-ports.ts'
import type { RecordingOrder, RecordingStore, StoredRecording } from '../calls/verbs/recording-store.ts'
import type { Clock } from '../core/clock.ts'
import { type Code, catalogue, TrunklineError } from '../core/errors/catalogue.ts'
import type { Log } from '../core/log.ts'
import type { Metrics } from '../core/metrics.ts'
import { PeriodicTask } from '../core/periodic-task.ts'
import type { RecordingQuery, RecordingRow, RecordingRows } from '../directory/recordings.ts'
import type { Listed } from '../directory/resource-types.ts'
import { isUuid } from '../directory/uuid.ts'
import { ActiveRecording } from './active-recording.ts'
import { recordingEndCallback } from './lost-recordings.ts'
import { removeOrphans } from './orphan-recordings.ts'
import { RecordingFolder } from './recording-folder.ts'
import { newRecordingRow, RecordingIndex, type RecordingIndexDeps } from './recording-index.ts'
import { type LinkProof, RecordingLinks } from './recording-links.ts'
import { type RemovedBy, Retention } from './recording-retention.ts'
import { RecordingUploads, type RecordingUploadsDeps } from './recording-uploads.ts'

/** How often the free space is looked at. */
const spaceCheckMs = 10_000
/** How often old and unfinished recordings are looked for. */
const tidyMs = 60_000
/** How often files that no row names are looked for. Not at the start: whoever opens a folder with another database has an hour to notice. */
const orphanCheckMs = 3_600_000

/** What the recordings are kept with. */
export interface RecordingsOptions extends Omit<RecordingsConfig, 'folder'> {
  /** Absolute. */
  readonly folder: string
  /** Longest recording, in ms: that of a call, as it may be paused with silence, and forgotten. */
  readonly longestMs: number
  readonly rows: RecordingRows
  /** Of this gateway, among those that share the store. */
  readonly nodeId: string
  /** Signs links; at least 16 bytes. */
  readonly secret: Uint8Array
  /** Where links start: `https://gw.example.com`. */
  readonly base: () => string
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<Metrics, 'recordingsEnded' | 'recordingsRemoved' | 'recordingUploads' | 'rejections'>
  /** The way to customers' storage. */
  readonly http: RecordingUploadsDeps['http']
  /** Tells customers' servers. */
  readonly callbacks: Callbacks
  /** Bytes that are free for us where the folder lies; default asks the file system. */
  readonly freeBytes?: (folder: string) => Promise<number>
}

/** Rules of recordings that a reload can change. */
export type RecordingRules = Pick<
  RecordingsOptions,
  'keepMs' | 'maxBytes' | 'minFree' | 'linkAgeMs' | 'longestMs'
>

/** Keeps the recordings of calls: their files, what is known of them, and for how long. */
export class Recordings implements RecordingStore {
  readonly folder: RecordingFolder
  #options: RecordingsOptions
  #parts: RecordingIndexDeps
  #ledger: RecordingIndex
  #links: RecordingLinks
  #retention: Retention
  #uploads: RecordingUploads
  #repeats: PeriodicTask[]
  #running = new Map<string, ActiveRecording>()
  /** Undefined: not known. */
  #free: number | undefined
  #tellsEnds = false

  private constructor(options: RecordingsOptions) {
    const { rows, nodeId, log, clock, metrics, keepMs, maxBytes } = options
    this.#options = options
    this.folder = new RecordingFolder(options.folder)
    this.#links = new RecordingLinks(options.secret)
    const onRemoved = (by: RemovedBy) => metrics.recordingsRemoved.inc({ by })
    this.#parts = { rows, nodeId, folder: this.folder, log, onRemoved, tell: (row) => this.#tellLost(row) }
    this.#ledger = new RecordingIndex(this.#parts)
    this.#uploads = new RecordingUploads({ http: options.http, folder: this.folder, clock, log, metrics })
    this.#retention = new Retention({
      ...(keepMs !== undefined && { keepMs }),
      ...(maxBytes !== undefined && { maxBytes }),
      oldest: (limit, before) => rows.oldest(nodeId, limit, before),
      total: () => this.#ledger.total,
      remove: (row, by) => this.#ledger.remove(row, by),
    })
    this.#repeats = [
      new PeriodicTask(clock, spaceCheckMs, () => this.#look()),
      new PeriodicTask(clock, tidyMs, () => this.#tidy()),
      new PeriodicTask(clock, orphanCheckMs, () => this.#removeOrphans()),
    ]
  }

  /** Opens the folder, settles what the process before left behind, and removes what is due. Rejects when the folder cannot be made. */
  static async open(options: RecordingsOptions): Promise<Recordings> {
    const recordings = new Recordings(options)
    await recordings.folder.make()
    await recordings.#ledger.open()
    await recordings.#tidy()
    await recordings.#look()
    for (const repeat of recordings.#repeats) repeat.start()
    return recordings
  }

  /**
   * Tells of what came to its end without being told of, and from now on of what is settled later. Until then nobody is told: links lead
   * nowhere before the gateway listens.
   */
  async tellEnds(): Promise<void> {
    this.#tellsEnds = true
    await this.#ledger.tellEnds()
  }

  /** Keeps recordings by these rules from now on; those under way may last as long as they could before. */
  change(rules: RecordingRules): void {
    const { keepMs: _keepMs, maxBytes: _maxBytes, ...options } = this.#options
    this.#options = { ...options, ...rules }
    this.#retention.change(rules)
  }

  /** Recordings under way. */
  get count(): number {
    return this.#running.size
  }

  /** Recordings that are being sent to customers' storage. */
  get uploading(): number {
    return this.#uploads.waiting
  }

  /** Bytes of all that are over. */
  get bytes(): number {
    return this.#ledger.total
  }

  /** Bytes free on the disk, as they were found last; −1: nobody knows. */
  get freeBytes(): number {
    return this.#free ?? -1
  }

  start(port: Pick<MediaPort, 'record'>, wanted: RecordingOrder): StoredRecording {
    const { nodeId, minFree, longestMs, clock, log } = this.#options
    const { projectId, callId, legId, request, storage } = wanted
    const facts = { call: callId, leg: legId, projectId }
    if (this.#free !== undefined && this.#free < minFree)
      this.#refuse('recording_no_space', { ...facts, freeBytes: this.#free, minFree })
    const row = newRecordingRow({ id: randomUUID(), node_id: nodeId, started_at: clock.now() }, wanted)
    const { maxMs = longestMs } = request
    const path = this.#placeFor(row, facts)
    const recording = port.record({ ...request, maxMs: Math.min(maxMs, longestMs), path })
    const written = this.#ledger.write(row)
    const done = recording.done.then((result) => this.#over(row, written, result))
    log.info({ ...facts, recording: row.id, format: row.format, tracks: request.tracks }, 'recording begins')
    const underWay = new ActiveRecording(row, recording, done)
    this.#running.set(row.id, underWay)
    const stored =
      storage && done.then(({ hasFile: kept }) => (kept ? this.#uploads.send(row, storage) : undefined))
    return {
      id: row.id,
      url: this.linkTo(row.id),
      done,
      ...(stored && { stored }),
      pause: (how) => underWay.pause(how),
      resume: () => underWay.resume(),
      stop: () => underWay.stop(),
      moveTo: (to) => recording.moveTo(to),
    }
  }

  /** One of this project that is under way. */
  underWay(id: string, project: string): ActiveRecording | undefined {
    const found = this.#running.get(id)
    return found?.row.project_id === project ? found : undefined
  }

  /** One of this project, or of any; undefined: there is none. */
  async find(id: string, project?: string): Promise<RecordingRow | undefined> {
    return isUuid(id) ? this.#ledger.find(id, project) : undefined
  }

  /** A project's, newest first. */
  list(project: string, query: RecordingQuery): Promise<Listed<RecordingRow>> {
    return this.#options.rows.list(project, query)
  }

  /** Removes one because somebody wants it. Throws `recording_in_progress`, and `recording_failed` when its file cannot be removed. */
  async remove(row: RecordingRow): Promise<void> {
    if (!(await this.#ledger.remove(row, 'request')))
      throw new TrunklineError('recording_failed', 'It could not be removed.')
  }

  /** A link to its audio, which works from now on for the configured time. */
  linkTo(id: string): string {
    const { base, clock, linkAgeMs } = this.#options
    const { expires, signature } = this.#links.sign(id, clock.now() + linkAgeMs)
    return `${base()}/api/recordings/${id}/audio?expires=${expires}&signature=${signature}`
  }

  /** Whether a link is ours and still works. */
  checkLink(id: string, proof: LinkProof): 'good' | 'expired' | 'forged' {
    return this.#links.check(id, proof, this.#options.clock.now())
  }

  /** Ends what is under way and waits until it is written down. Idempotent. */
  async close(): Promise<void> {
    await Promise.all(this.#repeats.map((repeat) => repeat.close()))
    const running = [...this.#running.values()]
    for (const each of running) each.stop()
    await Promise.all(running.map(({ done }) => done))
    await this.#uploads.close()
  }

  #placeFor(row: RecordingRow, facts: object): string {
    try {
      return this.folder.placeFor(row)
    } catch (error) {
      return this.#refuse('recording_failed', { ...facts, err: error })
    }
  }

  #refuse(code: Code, facts: object): never {
    this.#options.metrics.rejections.inc({ code })
    this.#options.log[catalogue[code].level]({ code, ...facts }, catalogue[code].text)
    throw new TrunklineError(code)
  }

  async #over(row: RecordingRow, written: Promise<void>, result: RecordingResult): Promise<RecordingResult> {
    const { clock, log, metrics } = this.#options
    const { end, durationMs, bytes } = result
    await written
    await this.#ledger.close(row, result, clock.now())
    this.#running.delete(row.id)
    metrics.recordingsEnded.inc({ reason: end.kind })
    const facts = { recording: row.id, call: row.call_id, reason: end.kind, durationMs, bytes }
    if (end.kind === 'error')
      log.error(
        { ...facts, code: 'recording_failed', errno: end.code, detail: end.message },
        catalogue.recording_failed.text,
      )
    else log.info(facts, 'recording over')
    return result
  }

  #tellLost(row: RecordingRow): void {
    if (!this.#tellsEnds) return
    const { callbacks, clock, rows, log } = this.#options
    const callback = recordingEndCallback(row, { now: clock.now(), url: () => this.linkTo(row.id) })
    if (callback) callbacks.notify({ projectId: row.project_id, callId: row.call_id }, callback)
    else if (row.status_json !== null)
      rows
        .toldOf(row.id)
        .catch((err) => log.error({ recording: row.id, err }, 'a recording could not be written down'))
  }

  async #tidy(): Promise<void> {
    const now = this.#options.clock.now()
    try {
      await this.#ledger.settle(now, (id) => this.#running.has(id))
      await this.#ledger.count()
      await this.#retention.run(now)
    } catch (error) {
      this.#options.log.error({ err: error }, 'old recordings could not be looked for')
    }
  }

  async #removeOrphans(): Promise<void> {
    try {
      await removeOrphans(this.#parts, this.#options.clock.now())
    } catch (error) {
      this.#options.log.error({ err: error }, 'recordings that no row names could not be looked for')
    }
  }

  async #look(): Promise<void> {
    const { freeBytes = freeOf, folder, log } = this.#options
    try {
      this.#free = await freeBytes(folder)
    } catch (error) {
      this.#free = undefined
      log.error({ folder, err: error }, 'the free space for recordings cannot be found')
    }
  }
}

const freeOf = async (folder: string): Promise<number> => {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}
