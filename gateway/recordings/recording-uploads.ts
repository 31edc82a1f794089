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

/** What {@link RecordingUploads} work with. */
export interface RecordingUploadsDeps {
  readonly http: Pick<CustomerHttp, 'upload'>
  readonly folder: Pick<RecordingFolder, 'fileOf'>
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<Metrics, 'recordingUploads'>
}

/** A recording that is over. */
type Stored = Pick<RecordingRow, 'id' | 'project_id' | 'call_id' | 'format'>

/** Waits before the second try and those after it, in ms. Who is told of the recording waits as long. */
const retryWaitsMs = [2_000, 10_000, 60_000] as const
/** Files on their way to one server; the others wait for their turn. */
const maxConcurrentUploads = 4
/** Files that wait at once, in all; beyond, what comes is dropped. */
const maxWaiting = 1_000
/** At the end of the gateway nothing goes on for longer, in ms. */
const graceMs = 5_000

const contentTypes = { wav: 'audio/wav', mp3: 'audio/mpeg' } as const

/**
 * Sends finished recordings to where customers want them. What was not taken is tried again where that is safe: a PUT says the same thing
 * twice, a POST may not, and is repeated only where its server has seen nothing of it. What is not taken before the gateway ends is not
 * sent later.
 */
export class RecordingUploads {
  readonly #parts: RecordingUploadsDeps
  /** By server: how many are on their way, and who comes next. A server is there while there is anything for it. */
  readonly #servers = new Map<string, { running: number; readonly next: (() => void)[] }>()
  readonly #waiting = new Set<Promise<unknown>>()
  /** Waits for a later try, and what ends each early. */
  readonly #pauses = new Map<Timer, () => void>()
  readonly #end = new AbortController()
  #closed = false

  constructor(parts: RecordingUploadsDeps) {
    this.#parts = parts
  }

  /** Recordings that are on their way, or wait for their turn or another try. */
  get waiting(): number {
    return this.#waiting.size
  }

  /** Sends a file. Resolves with where it is then, without what a URL may hold of secrets; undefined: it was not taken. Never rejects. */
  async send(recording: Stored, to: RecordingStorage): Promise<string | undefined> {
    if (this.#waiting.size >= maxWaiting) {
      this.#tell(recording, to, 'dropped', 0, 'too many wait')
      return undefined
    }
    const sent = this.#send(recording, to)
    this.#waiting.add(sent)
    const stored = await sent
    this.#waiting.delete(sent)
    return stored ? cleanUrl(to.url) : undefined
  }

  /** No later tries from now on; waits 5 s at most for what is on its way. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true
    for (const goOn of this.#pauses.values()) goOn()
    const timer = this.#parts.clock.after(graceMs, () => this.#end.abort())
    await Promise.all(this.#waiting)
    timer.cancel()
  }

  async #send(recording: Stored, to: RecordingStorage): Promise<boolean> {
    for (let tries = 1; ; tries++) {
      const outcome = await this.#turn(to, () => this.#try(recording, to))
      if (typeof outcome === 'number' && outcome >= 200 && outcome < 300)
        return this.#tell(recording, to, 'stored', tries)
      const reason = reasonOf(outcome)
      if (!mayBeRepeated(outcome, to.method)) return this.#tell(recording, to, 'refused', tries, reason)
      const wait = retryWaitsMs[tries - 1]
      if (wait === undefined || this.#closed) return this.#tell(recording, to, 'given-up', tries, reason)
      this.#tell(recording, to, 'later', tries, reason)
      await this.#pause(wait)
    }
  }

  /** The status that came, or why none did; undefined where there is no time for a try any more. */
  async #try(recording: Stored, { url, method }: RecordingStorage): Promise<number | Error | undefined> {
    if (this.#closed) return undefined
    const { http, folder } = this.#parts
    const opening = () => opened(folder.fileOf(recording))
    const contentType = contentTypes[recording.format]
    return http
      .upload({ url, method, contentType, open: opening }, this.#end.signal)
      .catch((error: Error) => error)
  }

  /** Runs `work` when it is its turn at the server. */
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
    const timer = this.#parts.clock.after(ms, resolve)
    this.#pauses.set(timer, resolve)
    await promise
    timer.cancel()
    this.#pauses.delete(timer)
  }

  /** Whether it is stored. */
  #tell(
    { id, call_id: call }: Stored,
    { url }: RecordingStorage,
    outcome: 'stored' | 'later' | 'refused' | 'given-up' | 'dropped',
    tries: number,
    reason?: string,
  ): boolean {
    const { log, metrics } = this.#parts
    metrics.recordingUploads.inc({ outcome })
    const level = outcome === 'stored' || outcome === 'later' ? 'info' : 'warn'
    log[level](
      { recording: id, call, url: cleanUrl(url), tries, ...(reason && { reason }) },
      `upload ${outcome}`,
    )
    return outcome === 'stored'
  }
}

/** The file, with its length; what is written to it meanwhile is not read. */
const opened = async (path: string) => {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    // The stream closes the file. Of a length of 0 there is nothing to stream.
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

/** Whether another try may be taken, and is safe. */
const mayBeRepeated = (outcome: number | Error | undefined, method: RecordingStorage['method']): boolean => {
  if (outcome === undefined) return true
  if (!mayRetryLater(outcome)) return false
  if (method === 'PUT') return true
  if (typeof outcome === 'number') return outcome === 429
  const { reason, sent } = failureFacts(outcome)
  return sent === false || reason === 'dns' || reason === 'circuit-open'
}
