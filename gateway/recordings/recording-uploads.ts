import { open } from 'node:fs/promises'
import type { RecordingStorage } from '../../handlers/verbs.ts'
import type { CustomerHttp } from '../callbacks/customer-http.ts'
import { cleanUrl } from '../callbacks/redirects.ts'
import { failureFacts, mayRetryLater } from '../callbacks/retry-policy.ts'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import { MemoryRetryQueue } from '../core/memory-retry-queue.ts'
import type { Metrics } from '../core/metrics.ts'
import type { RecordingRow } from '../directory/tables/recordings.ts'
import type { RecordingFolder } from './recording-folder.ts'

/** Collaborators of {@link RecordingUploads}. */
export interface RecordingUploadsDeps {
  readonly http: Pick<CustomerHttp, 'upload'>
  readonly folder: Pick<RecordingFolder, 'fileOf'>
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<Metrics, 'recordingUploads'>
}

/** Ended recording. */
type EndedRecording = Pick<RecordingRow, 'id' | 'project_id' | 'call_id' | 'format'>

/** Waits before retries, in ms. The callback about the recording is sent only after the last attempt. */
const retryWaitsMs = [2_000, 10_000, 60_000] as const
/** Maximum number of concurrent uploads to one server; others wait. */
const maxConcurrentUploads = 4
/** Maximum number of waiting uploads. Further uploads are dropped. */
const maxWaiting = 1_000
/** Maximum duration of uploads after {@link RecordingUploads.close}, in ms. */
const graceMs = 5_000

const contentTypes = { wav: 'audio/wav', mp3: 'audio/mpeg', webm: 'video/webm', mp4: 'video/mp4' } as const

/** Upload of a recording. */
interface PendingUpload {
  readonly recording: EndedRecording
  readonly storage: RecordingStorage
}

/**
 * Uploads ended recordings to customers' storage. Failed uploads are retried if that is safe: a PUT is
 * idempotent; a POST is retried only if its server has received nothing. Uploads that fail until the gateway
 * stops are not retried later.
 */
export class RecordingUploads {
  readonly #deps: RecordingUploadsDeps
  /** Queues by server; each exists while uploads wait in it. */
  readonly #queues = new Map<string, MemoryRetryQueue<PendingUpload, boolean>>()
  readonly #end = new AbortController()
  #isClosed = false

  constructor(deps: RecordingUploadsDeps) {
    this.#deps = deps
  }

  /** Number of running and waiting uploads. */
  get waiting(): number {
    let waiting = 0
    for (const { size } of this.#queues.values()) waiting += size
    return waiting
  }

  /** Uploads a file. Resolves with its URL without secrets, or undefined after a failure. Never rejects. */
  async send(recording: EndedRecording, storage: RecordingStorage): Promise<string | undefined> {
    if (this.waiting >= maxWaiting) {
      this.#report(recording, storage, 'dropped', 0, 'too many wait')
      return undefined
    }
    const server = URL.parse(storage.url)?.origin ?? ''
    const queue = this.#queues.get(server) ?? this.#open(server)
    const isStored = await queue.run({ recording, storage })
    return isStored ? cleanUrl(storage.url) : undefined
  }

  /** Stops retries, and waits at most 5 s for running uploads. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true
    const queues = [...this.#queues.values()]
    for (const queue of queues) queue.hurry()
    const timer = this.#deps.clock.after(graceMs, () => this.#end.abort())
    await Promise.all(queues.map((queue) => queue.drain()))
    timer.cancel()
  }

  #open(server: string): MemoryRetryQueue<PendingUpload, boolean> {
    const { clock, log } = this.#deps
    const queue = new MemoryRetryQueue<PendingUpload, boolean>({
      clock,
      attempt: (upload, tries) => this.#attempt(upload, tries + 1),
      maxConcurrent: maxConcurrentUploads,
      failure: false,
      onError: (error) =>
        log.error({ event: 'recording.upload-failed', err: error }, 'upload failed for an unknown reason'),
      onIdle: () => this.#queues.delete(server),
    })
    this.#queues.set(server, queue)
    return queue
  }

  async #attempt(
    { recording, storage }: PendingUpload,
    tries: number,
  ): Promise<number | { readonly result: boolean }> {
    const outcome = await this.#upload(recording, storage)
    if (typeof outcome === 'number' && outcome >= 200 && outcome < 300) {
      this.#report(recording, storage, 'stored', tries)
      return { result: true }
    }
    const reason = reasonOf(outcome)
    const wait = retryWaitsMs[tries - 1]
    const canRepeat = mayBeRepeated(outcome, storage.method)
    if (canRepeat && wait !== undefined && !this.#isClosed) {
      this.#report(recording, storage, 'later', tries, reason)
      return wait
    }
    this.#report(recording, storage, canRepeat ? 'given-up' : 'refused', tries, reason)
    return { result: false }
  }

  /** Resolves with the status, or with the error if no response arrived; undefined if no time is left. */
  async #upload(
    recording: EndedRecording,
    { url, method }: RecordingStorage,
  ): Promise<number | Error | undefined> {
    if (this.#isClosed) return undefined
    const { http, folder } = this.#deps
    const openFile = () => opened(folder.fileOf(recording))
    const contentType = contentTypes[recording.format]
    return http
      .upload({ url, method, contentType, open: openFile }, this.#end.signal)
      .catch((error: Error) => error)
  }

  /** Logs and counts an outcome. */
  #report(
    { id, call_id: call }: EndedRecording,
    { url }: RecordingStorage,
    outcome: 'stored' | 'later' | 'refused' | 'given-up' | 'dropped',
    tries: number,
    reason?: string,
  ): void {
    const { log, metrics } = this.#deps
    metrics.recordingUploads.inc({ outcome })
    const level = outcome === 'stored' || outcome === 'later' ? 'info' : 'warn'
    log[level](
      {
        event: 'recording.upload-finished',
        recording: id,
        call,
        url: cleanUrl(url),
        outcome,
        tries,
        ...(reason && { reason }),
      },
      `recording upload ${outcome}`,
    )
  }
}

/** Opens a file and returns its content up to its present length. */
const opened = async (path: string) => {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    // The stream closes the file. An empty file has nothing to stream.
    return { bytes: size, stream: file.createReadStream({ start: 0, end: Math.max(0, size - 1) }) }
  } catch (error) {
    await file.close()
    throw error
  }
}

const reasonOf = (outcome: number | Error | undefined): string => {
  if (outcome === undefined) return 'the gateway is shutting down'
  return typeof outcome === 'number' ? `its server answered ${outcome}` : outcome.message
}

/** Returns whether a retry is possible and safe. */
const mayBeRepeated = (outcome: number | Error | undefined, method: RecordingStorage['method']): boolean => {
  if (outcome === undefined) return true
  if (!mayRetryLater(outcome)) return false
  if (method === 'PUT') return true
  if (typeof outcome === 'number') return outcome === 429
  const { reason, sent } = failureFacts(outcome)
  return sent === false || reason === 'dns' || reason === 'circuit-open'
}
