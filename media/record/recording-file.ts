import { randomBytes } from 'node:crypto'
import { basename, dirname, join } from 'node:path'
import {
  diskFiles,
  type FileFailure,
  failureOf,
  type RecordingFiles,
  type RecordingHandle,
} from './disk-files.ts'
import type { RecordingFormat } from './recording-format.ts'

/**
 * Maximum number of waiting chunks, each of a second at the maximum data rate. With more, the disk counts as
 * too slow.
 */
const maxWaitingChunks = 5
/** Maximum number of seconds in which the disk finishes nothing. With more, it counts as hung. */
const maxStillSeconds = 10

/** Result of writing a file. */
export interface FileResult {
  /** Length in bytes; 0: no file. */
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
  /** Seconds since the disk has finished something. */
  #stillSeconds = 0
  /** Resolves when the disk counts as hung. */
  readonly #hung = Promise.withResolvers<'hung'>()
  #isHung = false

  /** `bytesPerSecond` is the maximum data rate. `onFailure` is called at most once. */
  constructor(
    path: string,
    bytesPerSecond: number,
    onFailure: (failure: FileFailure) => void,
    files: RecordingFiles = diskFiles,
  ) {
    this.#path = path
    this.#unfinished = unfinishedName(path)
    this.#files = files
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
   * Counts a second. A recorder whose chunks take longer than a second calls this every second, also while
   * {@link finish} is waiting. A disk that has finished nothing for ten seconds counts as too slow.
   */
  countSecond(): void {
    this.#stillSeconds = this.#pump ? this.#stillSeconds + 1 : 0
    if (this.#stillSeconds <= maxStillSeconds || this.#isHung) return
    this.#isHung = true
    this.#waiting.length = 0
    this.#fail({ code: 'too_slow', message: `the disk has written nothing for ${maxStillSeconds} s` })
    this.#hung.resolve('hung')
  }

  /**
   * Completes the file with at most `maxBytes` bytes, cut to a playable length. Data written before a failure
   * is kept. An unfinished file that cannot be renamed, or whose disk hangs, stays, and {@link
   * recoverRecordings} finds it. Never rejects.
   */
  async finish(format: Pick<RecordingFormat, 'playable' | 'header'>, maxBytes: number): Promise<FileResult> {
    if (!this.#failure && this.#used > 0) this.#waiting.push(this.#chunk.subarray(0, this.#used))
    this.#used = 0
    if ((await Promise.race([this.#drain(), this.#hung.promise])) === 'hung')
      return { bytes: 0, failure: this.#failure }
    const bytes = format.playable(Math.min(maxBytes, this.#written))
    try {
      if (bytes > 0) await this.#complete(format.header(bytes), bytes)
      else await this.#discard()
      return { bytes, failure: this.#failure }
    } catch (error) {
      return { bytes: 0, failure: this.#failure ?? failureOf(error) }
    } finally {
      await this.#handle?.close().catch(() => {})
    }
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
        // The file was given up. A hung operation has ended after all.
        if (this.#isHung) return void this.#handle?.close().catch(() => {})
        // Something may have been added after the last check.
        const hasMore = this.#waiting.length > 0 || (!this.#failure && (this.#mustFlush || this.#header))
        if (hasMore) this.#start()
      })
  }

  /** Writes until nothing waits. */
  async #run(): Promise<void> {
    this.#handle ??= await this.#files.open(this.#unfinished)
    for (let chunk = this.#nextWaiting(); chunk; chunk = this.#nextWaiting()) {
      await this.#writeAll(chunk, this.#handle)
      this.#waiting.shift()
      if (chunk.length === this.#chunkBytes) this.#free ??= chunk
    }
    const header = this.#header
    this.#header = undefined
    if (header) await this.#handle.write(header, 0, header.length, 0)
    if (!this.#mustTouch) return
    this.#mustTouch = false
    // Truncating to the current length only updates the modification time.
    await this.#handle.truncate(this.#written)
  }

  async #writeAll(chunk: Buffer, handle: RecordingHandle): Promise<void> {
    for (let at = 0; at < chunk.length; ) {
      const { bytesWritten } = await handle.write(chunk, at, chunk.length - at, this.#written)
      this.#stillSeconds = 0
      this.#written += bytesWritten
      at += bytesWritten
    }
  }

  async #complete(header: Uint8Array, bytes: number): Promise<void> {
    const handle = this.#handle!
    if (bytes < this.#written) await handle.truncate(bytes)
    if (header.length > 0) await handle.write(header, 0, header.length, 0)
    await handle.sync()
    await this.#files.rename(this.#unfinished, this.#path)
    // Without this the new name may not survive a power failure. An error is ignored, because the file itself
    // exists.
    await this.#files.syncFolder(dirname(this.#path)).catch((error: unknown) => this.#fail(failureOf(error)))
  }

  async #discard(): Promise<void> {
    if (this.#handle) await this.#files.unlink(this.#unfinished)
  }
}
