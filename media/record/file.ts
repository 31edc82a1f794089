import { randomBytes } from 'node:crypto'
import { basename, dirname, join } from 'node:path'
import { diskFiles, type FileFailure, failureOf, type RecordingFiles, type RecordingHandle } from './disk.ts'
import type { Format } from './format.ts'

/** How much a disk may fall behind: so many chunks of a second each wait to be written. */
const WAITING_CHUNKS = 5

/** What became of a file. */
export interface FileResult {
  /** 0: there is none. */
  readonly bytes: number
  /** What went wrong last, if anything did. */
  readonly failure: FileFailure | undefined
}

/** Name under which the recording at `path` is written; beside it, so that renaming it is atomic. */
export const unfinishedName = (path: string): string =>
  join(dirname(path), `.${basename(path)}.${randomBytes(4).toString('hex')}.part`)

/**
 * Writes one recording: in chunks of a second, under another name in the same folder; complete, it is synchronised to the disk and renamed.
 * Writing returns at once. Where the disk falls behind by five chunks, or fails, that is told once, and nothing more is taken.
 */
export class RecordingFile {
  #path: string
  #unfinished: string
  #files: RecordingFiles
  #onFailure: (failure: FileFailure) => void
  #chunkBytes: number
  #chunk: Buffer
  #used = 0
  /** Full chunks that wait, the first of which is being written; and empty ones to be used again. */
  #waiting: Buffer[] = []
  #free: Buffer[] = []
  #handle: RecordingHandle | undefined
  #written = 0
  #failure: FileFailure | undefined
  #pump: Promise<void> | undefined
  #touch = false

  /** `bytesPerSecond` is at least what will come. `onFailure` is called at most once. */
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
    // Opened at once, so that a folder that is missing or not permitted is known from the beginning.
    this.#start()
  }

  /** Takes bytes; they are copied. */
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

  /** Marks the file as being in use, while nothing is written: `completeRecordings` knows those that nobody writes by their age. */
  touch(): void {
    this.#touch = true
    this.#start()
  }

  /**
   * Completes the file: the first `most` bytes of it, as far as they can be played. What was written before a failure is kept, and so is
   * an unfinished file that cannot be renamed: `completeRecordings` finds it. Never rejects.
   */
  async finish(format: Format, most: number): Promise<FileResult> {
    if (!this.#failure && this.#used > 0) this.#waiting.push(this.#chunk.subarray(0, this.#used))
    while (this.#pump || this.#waiting.length > 0) {
      this.#start()
      await this.#pump
    }
    const bytes = format.playable(Math.min(most, this.#written))
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

  #next(): void {
    this.#used = 0
    this.#waiting.push(this.#chunk)
    if (this.#waiting.length > WAITING_CHUNKS) {
      this.#fail({ code: 'too_slow', message: `the disk is ${WAITING_CHUNKS} s behind` })
      return
    }
    this.#chunk = this.#free.pop() ?? Buffer.allocUnsafe(this.#chunkBytes)
    this.#start()
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
        // Something may have come after it looked for the last time.
        if (this.#waiting.length > 0) this.#start()
      })
  }

  /** Writes until nothing waits. */
  async #run(): Promise<void> {
    this.#handle ??= await this.#files.open(this.#unfinished)
    while (this.#waiting.length > 0) {
      const chunk = this.#waiting[0]!
      await this.#writeAll(chunk, this.#handle)
      this.#waiting.shift()
      if (chunk.length === this.#chunkBytes) this.#free.push(chunk)
    }
    if (!this.#touch) return
    this.#touch = false
    // To the length that it has: that changes nothing but the time.
    await this.#handle.truncate(this.#written)
  }

  async #writeAll(chunk: Buffer, handle: RecordingHandle): Promise<void> {
    for (let at = 0; at < chunk.length; ) {
      const { bytesWritten } = await handle.write(chunk, at, chunk.length - at, this.#written)
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
    // The name lasts only when the folder is on the disk too; but the file is there.
    await this.#files.syncFolder(dirname(this.#path)).catch((error: unknown) => this.#fail(failureOf(error)))
  }

  async #discard(): Promise<void> {
    if (this.#handle) await this.#files.unlink(this.#unfinished)
  }
}
