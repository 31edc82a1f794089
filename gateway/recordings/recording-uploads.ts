import { open } from 'node:fs/promises'
import type { RecordingStorage } from '../../handlers/verbs.ts'
import type { CustomerHttp } from '../callbacks/customer-http.ts'
import { cleanUrl } from '../callbacks/redirects.ts'
import { failureFacts, mayRetryLater } from '../callbacks/retry-policy.ts'
import type { Clock, Timer } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { Metrics } from '../core/metrics.ts'
import type { RecordingRow } from '../directory/recordings.ts'
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
type Stored = Pick<RecordingRow, 'id' | 'project_id' | 'call_id' | 'format'>

/** Waits before retries, in ms. Reports of the recording wait as long. */
const retryWaitsMs = [2_000, 10_000, 60_000] as const
/** Maximum number of concurrent uploads to one server; others wait. */
const maxConcurrentUploads = 4
/** Maximum number of waiting uploads; further ones are dropped. */
const maxWaiting = 1_000
/** Maximum duration of uploads after {@link RecordingUploads.close}, in ms. */
const graceMs = 5_000

const contentTypes = { wav: 'audio/wav', mp3: 'audio/mpeg' } as const

/**
 * Uploads ended recordings to customers' storage. Failed uploads are retried if that is safe: a PUT is
 * idempotent; a POST is retried only if its server has received nothing. Uploads that fail until the gateway
 * stops are not retried later.
 */
export class RecordingUploads {
  readonly #deps: RecordingUploadsDeps
  /** Running and waiting uploads by server. */
  readonly #servers = new Map<string, { running: number; readonly next: (() => void)[] }>()
  readonly #waiting = new Set<Promise<unknown>>()
  /** Pauses before retries, with the functions that end them early. */
  readonly #pauses = new Map<Timer, () => void>()
  readonly #end = new AbortController()
  #closed = false

  constructor(deps: RecordingUploadsDeps) {
    this.#deps = deps
  }

  /** Number of running and waiting uploads. */
  get waiting(): number {
    return this.#waiting.size
  }

  /** Uploads a file. Resolves with its URL without secrets, or undefined after a failure. Never rejects. */
  async send(recording: Stored, to: RecordingStorage): Promise<string | undefined> {
    if (this.#waiting.size >= maxWaiting) {
      this.#report(recording, to, 'dropped', 0, 'too many wait')
      return undefined
    }
    const sent = this.#send(recording, to)
    this.#waiting.add(sent)
    const stored = await sent
    this.#waiting.delete(sent)
    return stored ? cleanUrl(to.url) : undefined
  }

  /** Stops retries, and waits at most 5 s for running uploads. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true
    for (const goOn of this.#pauses.values()) goOn()
    const timer = this.#deps.clock.after(graceMs, () => this.#end.abort())
    await Promise.all(this.#waiting)
    timer.cancel()
  }

  async #send(recording: Stored, to: RecordingStorage): Promise<boolean> {
    for (let tries = 1; ; tries++) {
      const outcome = await this.#turn(to, () => this.#try(recording, to))
      if (typeof outcome === 'number' && outcome >= 200 && outcome < 300)
        return this.#report(recording, to, 'stored', tries)
      const reason = reasonOf(outcome)
      if (!mayBeRepeated(outcome, to.method)) return this.#report(recording, to, 'refused', tries, reason)
      const wait = retryWaitsMs[tries - 1]
      if (wait === undefined || this.#closed) return this.#report(recording, to, 'given-up', tries, reason)
      this.#report(recording, to, 'later', tries, reason)
      await this.#pause(wait)
    }
  }

  /** Resolves with the status, or with the error without one; undefined if no time is left. */
  async #try(recording: Stored, { url, method }: RecordingStorage): Promise<number | Error | undefined> {
    if (this.#closed) return undefined
    const { http, folder } = this.#deps
    const opening = () => opened(folder.fileOf(recording))
    const contentType = contentTypes[recording.format]
    return http
      .upload({ url, method, contentType, open: opening }, this.#end.signal)
      .catch((error: Error) => error)
  }

  /** Runs `work` when the server has a free slot. */
  async #turn<T>({ url }: RecordingStorage, work: () => Promise<T>): Promise<T> {
    const name = URL.parse(url)?.origin ?? ''
    const server = this.#servers.get(name) ?? { running: 0, next: [] }
    this.#servers.set(name, server)
    if (server.running < maxConcurrentUploads) server.running++
    else await new Promise<void>((resolve) => server.next.push(resolve))
    try {
      return await work()
    } finally {
      const next = server.next.shift()
      if (next) next()
      else if (--server.running === 0) this.#servers.delete(name)
    }
  }

  async #pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = this.#deps.clock.after(ms, resolve)
    this.#pauses.set(timer, resolve)
    await promise
    timer.cancel()
    this.#pauses.delete(timer)
  }

  /** Logs and counts an outcome. Returns whether the file is stored. */
  #report(
    { id, call_id: call }: Stored,
    { url }: RecordingStorage,
    outcome: 'stored' | 'later' | 'refused' | 'given-up' | 'dropped',
    tries: number,
    reason?: string,
  ): boolean {
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
    return outcome === 'stored'
  }
}

/** Opens the file with its length; ignores later writes. */
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

/** Whether a retry is possible and safe. */
const mayBeRepeated = (outcome: number | Error | undefined, method: RecordingStorage['method']): boolean => {
  if (outcome === undefined) return true
  if (!mayRetryLater(outcome)) return false
  if (method === 'PUT') return true
  if (typeof outcome === 'number') return outcome === 429
  const { reason, sent } = failureFacts(outcome)
  return sent === false || reason === 'dns' || reason === 'circuit-open'
}
