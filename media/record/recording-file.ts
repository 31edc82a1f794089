import { randomBytes } from 'node:crypto'
import { basename, dirname, join } from 'node:path'
import { systemClock, type Timers } from '../clock.ts'
import { type FileFailure, failureOf, type RecordingFiles, type RecordingHandle } from './disk-files.ts'
import type { RecordingFormat } from './recording-format.ts'

/**
 * Maximum number of waiting chunks, each of a second at the maximum data rate. With more, the disk counts as
 * too slow.
 */
const maxWaitingChunks = 5
/** Time after which a disk that does not finish an operation counts as hung, in ms. */
const maxStillMs = 10_000
/** The same for operations that write out what the system has in memory, up to a whole file of 4 GiB. */
const maxSyncMs = 60_000

/** Options of a {@link RecordingFile}. */
export interface RecordingFileOptions {
  readonly path: string
  /** Maximum data rate. */
  readonly bytesPerSecond: number
  /** Called at most once. */
  readonly onFailure: (failure: FileFailure) => void
  readonly files: RecordingFiles
  /** Default the machine's. */
  readonly timers?: Timers
}

/** Result of writing a file. */
export interface FileResult {
  /** Length in bytes; 0: no file, or none yet. */
  readonly bytes: number
  /** Last failure, if any. */
  readonly failure: FileFailure | undefined
}

/** Returns a temporary name for the recording at `path`, in the same folder so that renaming is atomic. */
export const unfinishedName = (path: string): string =>
  join(dirname(path), `.${basename(path)}.${randomBytes(4).toString('hex')}.part`)

/**
 * Writes one recording in chunks of a second, under a temporary name in the same folder. When complete, the
 * file is synchronised to the disk and renamed. Writing returns at once. If the disk falls five chunks
 * behind, hangs, or fails, this is reported once and no more data is accepted.
 */
export class RecordingFile {
  #path: string
  #unfinished: string
  #files: RecordingFiles
  #onFailure: (failure: FileFailure) => void
  #chunkBytes: number
  #chunk: Buffer
  #used = 0
  /** Full chunks that wait; the first of them is being written. */
  #waiting: Buffer[] = []
  /** Empty chunk for reuse. Only one is kept, so that a slow moment of the disk leaves no memory behind. */
  #free: Buffer | undefined
  #handle: RecordingHandle | undefined
  #written = 0
  #failure: FileFailure | undefined
  #pump: Promise<void> | undefined
  #mustTouch = false
  /** Whether what has not filled a chunk yet must be written. */
  #mustFlush = false
  /** Bytes that are to replace the first ones of the file. */
  #header: Uint8Array | undefined
  readonly #timers: Timers
  /** Resolves with the result of {@link finish} when the disk counts as hung. */
  readonly #hung = Promise.withResolvers<FileResult>()
  #isHung = false
  /** Length of the file in bytes once it has its name. */
  #completed = 0

  constructor({ path, bytesPerSecond, onFailure, files, timers = systemClock }: RecordingFileOptions) {
    this.#path = path
    this.#unfinished = unfinishedName(path)
    this.#files = files
    this.#timers = timers
    this.#onFailure = onFailure
    this.#chunkBytes = bytesPerSecond
    this.#chunk = Buffer.allocUnsafe(bytesPerSecond)
    // Opened at once, so that a missing or forbidden folder is detected immediately.
    this.#start()
  }

  /** Writes bytes; they are copied. */
  write(bytes: Uint8Array): void {
    let from = 0
    while (from < bytes.length && !this.#failure) {
      const count = Math.min(bytes.length - from, this.#chunkBytes - this.#used)
      this.#chunk.set(bytes.subarray(from, from + count), this.#used)
      this.#used += count
      from += count
      if (this.#used === this.#chunkBytes) this.#next()
    }
  }

  /** Writes what has not filled a chunk yet, once the disk has nothing else to write. */
  flush(): void {
    if (this.#used === 0 || this.#failure) return
    this.#mustFlush = true
    this.#start()
  }

  /** Replaces the first bytes of the file after everything written so far. */
  replaceHeader(bytes: Uint8Array): void {
    this.#header = bytes
    this.flush()
    this.#start()
  }

  /**
   * Marks the file as in use while nothing is written: {@link recoverRecordings} detects abandoned files by
   * their age.
   */
  touch(): void {
    this.#mustTouch = true
    this.#start()
  }

  /**
   * Completes the file with at most `maxBytes` bytes, cut to a playable length. Data written before a failure
   * is kept. An unfinished file that cannot be renamed, or whose disk hangs, stays, and {@link
   * recoverRecordings} finds it. Never rejects.
   */
  finish(format: Pick<RecordingFormat, 'playable' | 'header'>, maxBytes: number): Promise<FileResult> {
    return Promise.race([this.#finish(format, maxBytes), this.#hung.promise])
  }

  async #finish(format: Pick<RecordingFormat, 'playable' | 'header'>, maxBytes: number): Promise<FileResult> {
    if (!this.#failure && this.#used > 0) this.#waiting.push(this.#chunk.subarray(0, this.#used))
    this.#used = 0
    await this.#drain()
    const bytes = format.playable(Math.min(maxBytes, this.#written))
    try {
      if (bytes > 0) await this.#complete(format.header(bytes), bytes)
      else await this.#discard()
      return { bytes, failure: this.#failure }
    } catch (error) {
      return { bytes: this.#completed, failure: this.#failure ?? failureOf(error) }
    } finally {
      if (this.#handle) await this.#limit(this.#handle.close(), maxSyncMs).catch(() => {})
    }
  }

  /**
   * Performs an operation of the disk. Gives the file up if it takes too long. Rejects, before and after the
   * operation, if the file was given up: the recovery may complete it.
   */
  async #do<T>(operate: () => Promise<T>, maxMs = maxStillMs): Promise<T> {
    if (this.#isHung) throw new Error('the file was given up')
    const result = await this.#limit(operate(), maxMs)
    if (this.#isHung) throw new Error('the file was given up')
    return result
  }

  #limit<T>(operation: Promise<T>, maxMs: number): Promise<T> {
    const timer = this.#timers.after(maxMs, () => this.#giveUp(maxMs))
    return operation.finally(() => timer.cancel())
  }

  #giveUp(afterMs: number): void {
    this.#isHung = true
    this.#waiting.length = 0
    this.#fail({ code: 'too_slow', message: `the disk has finished nothing for ${afterMs / 1000} s` })
    this.#hung.resolve({ bytes: this.#completed, failure: this.#failure })
  }

  /** Resolves when the disk has nothing left to do. */
  async #drain(): Promise<void> {
    while (this.#pump || this.#waiting.length > 0) {
      this.#start()
      await this.#pump
    }
  }

  #next(): void {
    this.#used = 0
    this.#waiting.push(this.#chunk)
    this.#chunk = this.#free ?? Buffer.allocUnsafe(this.#chunkBytes)
    this.#free = undefined
    this.#checkDisk()
  }

  #checkDisk(): void {
    const maxBytes = maxWaitingChunks * this.#chunkBytes
    if (this.#waiting.length > maxWaitingChunks)
      this.#fail({ code: 'too_slow', message: `more than ${maxBytes} bytes wait for the disk` })
    else this.#start()
  }

  /** Returns the bytes that are written next; undefined if none are. */
  #nextWaiting(): Buffer | undefined {
    if (this.#waiting.length === 0 && this.#mustFlush) {
      this.#mustFlush = false
      // A copy, because chunks are much larger than what a slow recording writes.
      if (this.#used > 0) this.#waiting.push(Buffer.from(this.#chunk.subarray(0, this.#used)))
      this.#used = 0
    }
    return this.#waiting[0]
  }

  #fail(failure: FileFailure): void {
    if (this.#failure) return
    this.#failure = failure
    this.#onFailure(failure)
  }

  #start(): void {
    this.#pump ??= this.#run()
      .catch((error: unknown) => {
        this.#waiting.length = 0
        this.#fail(failureOf(error))
      })
      .finally(() => {
        this.#pump = undefined
        // Something may have been added after the last check.
        const hasMore = this.#waiting.length > 0 || (!this.#failure && (this.#mustFlush || this.#header))
        if (hasMore) this.#start()
      })
  }

  /** Writes until nothing waits. */
  async #run(): Promise<void> {
    if (!this.#handle) await this.#do(() => this.#open())
    const handle = this.#handle!
    for (let chunk = this.#nextWaiting(); chunk; chunk = this.#nextWaiting()) {
      await this.#writeAll(chunk, handle)
      this.#waiting.shift()
      if (chunk.length === this.#chunkBytes) this.#free ??= chunk
    }
    const header = this.#header
    this.#header = undefined
    if (header) await this.#do(() => handle.write(header, 0, header.length, 0))
    if (!this.#mustTouch) return
    this.#mustTouch = false
    // Truncating to the current length only updates the modification time.
    await this.#do(() => handle.truncate(this.#written))
  }

  async #open(): Promise<void> {
    this.#handle = await this.#files.open(this.#unfinished)
  }

  async #writeAll(chunk: Buffer, handle: RecordingHandle): Promise<void> {
    for (let at = 0; at < chunk.length; ) {
      const write = () => handle.write(chunk, at, chunk.length - at, this.#written)
      const { bytesWritten } = await this.#do(write)
      this.#written += bytesWritten
      at += bytesWritten
    }
  }

  async #complete(header: Uint8Array, bytes: number): Promise<void> {
    const handle = this.#handle!
    if (bytes < this.#written) await this.#do(() => handle.truncate(bytes))
    if (header.length > 0) await this.#do(() => handle.write(header, 0, header.length, 0))
    await this.#do(() => handle.sync(), maxSyncMs)
    await this.#do(() => this.#files.rename(this.#unfinished, this.#path))
    this.#completed = bytes
    // Without this the new name may not survive a power failure. An error is ignored, because the file itself
    // exists.
    await this.#do(() => this.#files.syncFolder(dirname(this.#path)), maxSyncMs).catch((error: unknown) =>
      this.#fail(failureOf(error)),
    )
  }

  async #discard(): Promise<void> {
    if (this.#handle) await this.#do(() => this.#files.unlink(this.#unfinished))
  }
}
