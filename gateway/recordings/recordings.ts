import { randomUUID } from 'node:crypto'
import { statfs } from 'node:fs/promises'
import type { RecordingsConfig } from '../../config/types.ts'
import type { RecordingStorage } from '../../handlers/verbs.ts'
import type { ConvertToMp4 } from '../../media/ffmpeg/convert-mp4.ts'
import type {
  MediaPort,
  Recording,
  RecordingResult,
  RecordRequest,
  RoomRecording,
  RoomRecordRequest,
} from '../../media/types.ts'
import type { Callbacks } from '../callbacks/callback-outbox.ts'
import type {
  MemberPlace,
  RecordingOrder,
  RecordingStore,
  RoomRecordingOrder,
  RoomRecordingStore,
  StoredRecording,
  StoredRoomRecording,
} from '../calls/audio/recording-store.ts'
import type { Clock } from '../core/clock.ts'
import { type Code, catalogue, TrunklineError } from '../core/errors/catalogue.ts'
import type { Log } from '../core/log.ts'
import type { Metrics } from '../core/metrics.ts'
import { PeriodicTask } from '../core/periodic-task.ts'
import type { Listed } from '../directory/model/resource-types.ts'
import { isUuid } from '../directory/model/uuid.ts'
import type { RecordingQuery, RecordingRow, RecordingRows } from '../directory/tables/recordings.ts'
import { ActiveRecording } from './active-recording.ts'
import { recordingEndCallback } from './lost-recordings.ts'
import { MemberFolder } from './member-folder.ts'
import { Mp4Conversions } from './mp4-conversions.ts'
import { removeOrphans } from './orphan-recordings.ts'
import { RecordingFolder } from './recording-folder.ts'
import {
  newRecordingRow,
  newRoomRecordingRow,
  RecordingIndex,
  type RecordingIndexDeps,
} from './recording-index.ts'
import { type LinkProof, RecordingLinks } from './recording-links.ts'
import { type RemovedBy, Retention } from './recording-retention.ts'
import { RecordingUploads, type RecordingUploadsDeps } from './recording-uploads.ts'

/** Interval of checks of the free space. */
const spaceCheckMs = 10_000
/** Interval of searches for old and unfinished recordings. */
const tidyMs = 60_000
/**
 * Interval of searches for files without a row. The first search is after an hour, so that an operator who
 * opened a folder with the wrong database has time to notice.
 */
const orphanCheckMs = 3_600_000

/** Collaborators and settings of {@link Recordings}. */
export interface RecordingsOptions extends Omit<RecordingsConfig, 'folder'> {
  /** Folder of the recordings, an absolute path. */
  readonly folder: string
  /** Maximum duration of a recording, in ms: the maximum duration of a call. */
  readonly longestMs: number
  readonly rows: RecordingRows
  /** Id of this gateway on the shared store. */
  readonly nodeId: string
  /** Signs links; at least 16 bytes. */
  readonly secret: Uint8Array
  /** Returns the beginning of links, such as `https://gw.example.com`. */
  readonly base: () => string
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<
    Metrics,
    'recordingsEnded' | 'recordingsRemoved' | 'recordingUploads' | 'recordingConversions' | 'rejections'
  >
  /** HTTP client for customers' storage. */
  readonly http: RecordingUploadsDeps['http']
  /** Callbacks to customers' servers. */
  readonly callbacks: Callbacks
  /** Returns the free bytes in the folder; default: asks the file system. */
  readonly freeBytes?: (folder: string) => Promise<number>
  /** Converts a file to MP4. */
  readonly convert: ConvertToMp4
}

/** Settings that a reload can change. */
export type RecordingRules = Pick<
  RecordingsOptions,
  'keepMs' | 'maxBytes' | 'minFree' | 'linkAgeMs' | 'longestMs' | 'roomFormat'
>

/** Stores the recordings of calls and rooms: their files, their rows, and their removal. */
export class Recordings implements RecordingStore, RoomRecordingStore {
  readonly folder: RecordingFolder
  #options: RecordingsOptions
  #indexDeps: RecordingIndexDeps
  #index: RecordingIndex
  #links: RecordingLinks
  #retention: Retention
  #uploads: RecordingUploads
  #conversions: Mp4Conversions
  #repeats: PeriodicTask[]
  #running = new Map<string, ActiveRecording>()
  /** Free bytes; undefined if unknown. */
  #free: number | undefined
  #reportsEnds = false
  /** Ended recordings that are being converted and uploaded, by id. */
  #finishing = new Map<string, Promise<void>>()
  #isClosed = false

  private constructor(options: RecordingsOptions) {
    const { rows, nodeId, log, clock, metrics, keepMs, maxBytes } = options
    this.#options = options
    this.folder = new RecordingFolder(options.folder)
    this.#links = new RecordingLinks(options.secret)
    const onRemoved = (by: RemovedBy) => metrics.recordingsRemoved.inc({ by })
    this.#indexDeps = {
      rows,
      nodeId,
      folder: this.folder,
      log,
      onRemoved,
      reportEnd: (row) => this.#reportLost(row),
      convertsRooms: () => this.#options.roomFormat === 'mp4',
    }
    this.#index = new RecordingIndex(this.#indexDeps)
    this.#uploads = new RecordingUploads({ http: options.http, folder: this.folder, clock, log, metrics })
    this.#conversions = new Mp4Conversions({
      folder: this.folder,
      convert: options.convert,
      find: (id) => rows.find(id),
      save: (former, row) => this.#index.change(former, row),
      log,
      metrics,
    })
    this.#retention = new Retention({
      ...(keepMs !== undefined && { keepMs }),
      ...(maxBytes !== undefined && { maxBytes }),
      oldest: (limit, before) => rows.oldest(nodeId, limit, before),
      total: () => this.#index.total,
      remove: (row, by) => this.#index.remove(row, by),
    })
    this.#repeats = [
      new PeriodicTask(clock, spaceCheckMs, () => this.#checkSpace()),
      new PeriodicTask(clock, tidyMs, () => this.#tidy()),
      new PeriodicTask(clock, orphanCheckMs, () => this.#removeOrphans()),
    ]
  }

  /**
   * Opens the folder, completes recordings that the previous process left, and removes expired ones. Rejects
   * if the folder cannot be created.
   */
  static async open(options: RecordingsOptions): Promise<Recordings> {
    const recordings = new Recordings(options)
    await recordings.folder.make()
    await recordings.#index.open()
    await recordings.#tidy()
    await recordings.#checkSpace()
    for (const repeat of recordings.#repeats) repeat.start()
    return recordings
  }

  /**
   * Reports recordings whose end is unreported, now and whenever more are found. Must be called once the
   * gateway listens, because the callbacks contain links to it.
   */
  async reportEnds(): Promise<void> {
    this.#reportsEnds = true
    await this.#index.reportEnds()
  }

  /** Changes the rules from now on. Recordings in progress keep their maximum duration. */
  change(rules: RecordingRules): void {
    const { keepMs: _keepMs, maxBytes: _maxBytes, ...options } = this.#options
    this.#options = { ...options, ...rules }
    this.#retention.change(rules)
  }

  /** Number of recordings in progress. */
  get count(): number {
    return this.#running.size
  }

  /** Number of recordings that are being uploaded. */
  get uploading(): number {
    return this.#uploads.waiting
  }

  /** Number of recordings that are being converted, or wait for it. */
  get converting(): number {
    return this.#conversions.size
  }

  /** Bytes of all ended recordings. */
  get bytes(): number {
    return this.#index.total
  }

  /** Free bytes on the disk at the last check; −1 if unknown. */
  get freeBytes(): number {
    return this.#free ?? -1
  }

  start(port: Pick<MediaPort, 'record'>, wanted: RecordingOrder): StoredRecording {
    const { longestMs } = this.#options
    const { request, storage } = wanted
    const maxMs = Math.min(request.maxMs ?? longestMs, longestMs)
    const row = newRecordingRow(this.#newRow(), wanted)
    const { recording, active, done } = this.#begin(row, request.tracks, (path) =>
      port.record({ ...request, maxMs, path }),
    )
    const stored =
      storage && done.then(({ hasFile: kept }) => (kept ? this.#uploads.send(row, storage) : undefined))
    return {
      id: row.id,
      url: this.linkTo(row.id),
      done,
      ...(stored && { stored }),
      pause: (how) => active.pause(how),
      resume: () => active.resume(),
      stop: () => active.stop(),
      moveTo: (to) => recording.moveTo(to),
    }
  }

  startRoom(
    record: (request: RoomRecordRequest, members?: MemberPlace) => RoomRecording,
    order: RoomRecordingOrder,
  ): StoredRoomRecording {
    const { longestMs: maxMs } = this.#options
    const row = newRoomRecordingRow(this.#newRow(), order)
    let members: MemberFolder | undefined
    const start = (path: string) => {
      if (order.hasMembers) members = this.#membersOf(row)
      return record({ path, maxMs }, members)
    }
    const { active, done } = this.#begin(row, 'both', start, () => members?.close())
    return {
      id: row.id,
      done,
      pause: () => active.pause('skip'),
      resume: () => active.resume(),
      stop: () => active.stop(),
    }
  }

  /** Returns a recording of this project in progress, if any. */
  underWay(id: string, project: string): ActiveRecording | undefined {
    const found = this.#running.get(id)
    return found?.row.project_id === project ? found : undefined
  }

  /** Returns a recording of this project, or of any project; undefined if it does not exist. */
  async find(id: string, project?: string): Promise<RecordingRow | undefined> {
    return isUuid(id) ? this.#index.find(id, project) : undefined
  }

  /** Returns the recordings of a project, newest first. */
  list(project: string, query: RecordingQuery): Promise<Listed<RecordingRow>> {
    return this.#options.rows.list(project, query)
  }

  /**
   * Removes a recording on request, and ends its conversion. Throws `recording_in_progress`, also while
   * another gateway converts it, and `recording_failed` if its file cannot be removed.
   */
  async remove(row: RecordingRow): Promise<void> {
    const isRemoved =
      row.conversion && row.node_id === this.#options.nodeId
        ? await this.#conversions.without(row, (left) =>
            this.#index.remove({ ...left, conversion: null }, 'request'),
          )
        : await this.#index.remove(row, 'request')
    if (!isRemoved) throw new TrunklineError('recording_failed', 'The file could not be removed.')
  }

  /** Returns a link to a recording's file, valid from now for `ageMs`; default the configured time. */
  linkTo(id: string, ageMs?: number): string {
    return this.#link(id, `${id}/audio`, ageMs)
  }

  /** Returns a link to a file of a member, or to the manifest, as {@link linkTo} does. */
  linkToFile(id: string, name: string, ageMs?: number): string {
    return this.#link(`${id}/${name}`, `${id}/files/${name}`, ageMs)
  }

  /** Checks a link of this gateway. `name`: that of a file of a member; default the recording's file. */
  checkLink(id: string, proof: LinkProof, name?: string): 'good' | 'expired' | 'forged' {
    const signed = name === undefined ? id : `${id}/${name}`
    return this.#links.check(signed, proof, this.#options.clock.now())
  }

  /** Ends the recordings in progress, and waits until their rows are saved. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all(this.#repeats.map((repeat) => repeat.close()))
    const running = [...this.#running.values()]
    for (const each of running) each.stop()
    await Promise.all(running.map(({ done }) => done))
    await this.#conversions.close()
    await this.#uploads.close()
    await Promise.all(this.#finishing.values())
  }

  #link(signed: string, path: string, ageMs = this.#options.linkAgeMs): string {
    const { base, clock } = this.#options
    const { expires, signature } = this.#links.sign(signed, clock.now() + ageMs)
    return `${base()}/api/recordings/${path}?expires=${expires}&signature=${signature}`
  }

  #newRow(): Pick<RecordingRow, 'id' | 'node_id' | 'started_at'> {
    const { nodeId, clock } = this.#options
    return { id: randomUUID(), node_id: nodeId, started_at: clock.now() }
  }

  /** Starts a recording with `record`, which receives the path of its file. */
  #begin<R extends Pick<Recording, 'done' | 'pause' | 'resume' | 'stop'>>(
    row: RecordingRow,
    tracks: RecordRequest['tracks'],
    record: (path: string) => R,
    onEnd: () => Promise<void> | undefined = () => undefined,
  ) {
    const { minFree, log } = this.#options
    const { call_id: call, leg_id: leg, project_id: projectId, format } = row
    const facts = { call, leg, projectId }
    if (this.#free !== undefined && this.#free < minFree)
      this.#refuse('recording_no_space', { ...facts, freeBytes: this.#free, minFree })
    const recording = record(this.#placeFor(row, facts))
    const written = this.#index.write(row)
    const done = recording.done.then(async (result) => {
      await Promise.all([written, onEnd()])
      return this.#over(row, result)
    })
    log.info({ event: 'recording.started', ...facts, recording: row.id, format, tracks }, 'recording started')
    const active = new ActiveRecording(row, recording, done)
    this.#running.set(row.id, active)
    return { recording, active, done }
  }

  #finish(row: RecordingRow): void {
    if (this.#finishing.has(row.id)) return
    const done = this.#convertAndUpload(row).finally(() => this.#finishing.delete(row.id))
    this.#finishing.set(row.id, done)
  }

  /** Converts and uploads an ended recording of a room, as its row says. Never rejects. */
  async #convertAndUpload(row: RecordingRow): Promise<void> {
    const { id: recording } = row
    try {
      const ready = row.conversion ? await this.#conversions.add(row) : row
      // One that still waits is converted and uploaded by a later search, or by the next gateway.
      if (ready?.storage_json && ready.bytes > 0 && !ready.conversion)
        await this.#upload(ready, JSON.parse(ready.storage_json))
    } catch (err) {
      this.#options.log.error(
        { event: 'recording.upload-failed', recording, err },
        'upload failed for an unknown reason',
      )
    }
  }

  /** Uploads a recording of a room. The next gateway repeats a PUT that this one does not finish. */
  async #upload(row: RecordingRow, storage: RecordingStorage): Promise<void> {
    const { rows } = this.#options
    const sending = this.#uploads.send(row, storage)
    if (storage.method === 'POST') return void (await Promise.all([rows.markUploaded(row.id), sending]))
    const url = await sending
    if (url !== undefined || !this.#isClosed) await rows.markUploaded(row.id)
  }

  #membersOf(row: RecordingRow): MemberFolder {
    const { clock, log } = this.#options
    const recording = row.id
    const onFault = (err: Error) =>
      log.error(
        { event: 'recording.manifest-not-saved', recording, err },
        'manifest of a recording not saved',
      )
    try {
      return new MemberFolder(this.folder.membersOf(row), { clock, onFault })
    } catch (err) {
      return this.#refuse('recording_failed', { recording, err })
    }
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
    this.#options.log[catalogue[code].level](
      { event: 'recording.rejected', code, ...facts },
      catalogue[code].text,
    )
    throw new TrunklineError(code)
  }

  async #over(row: RecordingRow, result: RecordingResult): Promise<RecordingResult> {
    const { clock, log, metrics } = this.#options
    const { end, durationMs, bytes } = result
    const ended = await this.#index.close(row, result, clock.now())
    if (ended.conversion || ended.storage_json) this.#finish(ended)
    this.#running.delete(row.id)
    metrics.recordingsEnded.inc({ reason: end.kind })
    const { id: recording, call_id: call, conference_id: conference } = row
    const facts = { recording, call, ...(conference && { conference }), reason: end.kind, durationMs, bytes }
    if (end.kind === 'error')
      log.error(
        {
          event: 'recording.failed',
          ...facts,
          code: 'recording_failed',
          errno: end.code,
          detail: end.message,
        },
        catalogue.recording_failed.text,
      )
    else log.info({ event: 'recording.ended', ...facts }, 'recording ended')
    return result
  }

  #reportLost(row: RecordingRow): void {
    if (!this.#reportsEnds) return
    const { callbacks, clock, rows, log } = this.#options
    const callback = recordingEndCallback(row, { now: clock.now(), url: () => this.linkTo(row.id) })
    if (callback) callbacks.notify({ projectId: row.project_id, callId: row.call_id }, callback)
    else if (row.status_json !== null)
      rows
        .markReported(row.id)
        .catch((err) =>
          log.error(
            { event: 'recording.row-not-saved', recording: row.id, err },
            'row of a recording not saved',
          ),
        )
  }

  async #tidy(): Promise<void> {
    const now = this.#options.clock.now()
    try {
      await this.#index.settle(now, (id) => this.#running.has(id))
      const { rows, nodeId } = this.#options
      for (const row of await rows.unfinished(nodeId)) this.#finish(row)
      await this.#index.count()
      await this.#retention.run(now)
    } catch (error) {
      this.#options.log.error({ event: 'recording.tidying-failed', err: error }, 'old recordings not removed')
    }
  }

  async #removeOrphans(): Promise<void> {
    try {
      await removeOrphans(this.#indexDeps, this.#options.clock.now())
    } catch (error) {
      this.#options.log.error(
        { event: 'recording.orphan-search-failed', err: error },
        'recordings without a row not removed',
      )
    }
  }

  async #checkSpace(): Promise<void> {
    const { freeBytes = freeOf, folder, log } = this.#options
    try {
      this.#free = await freeBytes(folder)
    } catch (error) {
      this.#free = undefined
      log.error({ event: 'recording.space-unknown', folder, err: error }, 'free space for recordings unknown')
    }
  }
}

const freeOf = async (folder: string): Promise<number> => {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}
