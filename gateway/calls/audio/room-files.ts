import { randomUUID } from 'node:crypto'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RoomFile, WebRtc } from '../../../media/types.ts'
import type { CustomerHttp } from '../../callbacks/customer-http.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'

/** Options of {@link RoomFiles}. */
export interface RoomFilesOptions {
  /** Whether the gateway has ffmpeg. */
  readonly hasFfmpeg: boolean
  /** Maximum number of files and streams at a time. A project may have half of them, and always one. */
  readonly maxFiles: number
  /** Maximum size of a file in bytes. */
  readonly maxBytes: number
  /** Maximum time for fetching a file, in ms. */
  readonly timeoutMs: number
}

/** Collaborators of {@link RoomFiles}. */
export interface RoomFilesDeps {
  readonly http: Pick<CustomerHttp, 'download'>
  readonly webrtc: Pick<WebRtc, 'openFile'>
}

/** One file that is fetched and played. */
export interface SeatedFile {
  /**
   * Fetches and opens the file; called once. Rejects with a TrunklineError (`document_unreachable`), or with
   * the Error of `WebRtc.openFile`. `signal` aborts the fetch and the opening.
   */
  open(url: string, signal: AbortSignal): Promise<RoomFile>
  /**
   * Closes the file, and makes way for another once nothing of it is left. Always due, also while the file is
   * opened; the signal of `open` shortens the wait. Idempotent.
   */
  close(): Promise<void>
}

/** Customers' files that are played into the rooms of all projects, and the places of streams. */
export class RoomFiles {
  readonly hasFfmpeg: boolean
  readonly #options: RoomFilesOptions
  readonly #deps: RoomFilesDeps
  /** Files, with the ids of their projects. */
  readonly #seated = new Map<SeatedFile, string>()
  /** Streams, with the ids of their projects. */
  readonly #streams = new Map<object, string>()

  constructor(options: RoomFilesOptions, deps: RoomFilesDeps) {
    this.hasFfmpeg = options.hasFfmpeg
    this.#options = options
    this.#deps = deps
  }

  /** Number of files that are fetched or played. */
  get count(): number {
    return this.#seated.size
  }

  /** Number of streams of rooms. */
  get streams(): number {
    return this.#streams.size
  }

  /** Reserves a file for a project. Throws `ffmpeg_missing` and `ffmpeg_busy`. */
  take(projectId: string): SeatedFile {
    this.#check(projectId)
    const seated: SeatedFile = new CustomerFile(this.#options, this.#deps, () => this.#seated.delete(seated))
    this.#seated.set(seated, projectId)
    return seated
  }

  /** Closes all files. Settles when nothing of them is left. Rejects if one cannot be closed. */
  async close(): Promise<void> {
    const ends = await Promise.allSettled([...this.#seated.keys()].map((seated) => seated.close()))
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  }

  /**
   * Reserves ffmpeg for a stream of a project. Throws `ffmpeg_missing` and `ffmpeg_busy`. Returns a
   * function that frees the place.
   */
  takeStream(projectId: string): () => void {
    this.#check(projectId)
    const stream = {}
    this.#streams.set(stream, projectId)
    return () => void this.#streams.delete(stream)
  }

  #check(projectId: string): void {
    if (!this.hasFfmpeg) throw new TrunklineError('ffmpeg_missing')
    const { maxFiles } = this.#options
    const users = [...this.#seated.values(), ...this.#streams.values()]
    if (users.length >= maxFiles) throw new TrunklineError('ffmpeg_busy', undefined, { maxFiles })
    const maxOfProject = Math.max(1, Math.floor(maxFiles / 2))
    if (users.filter((id) => id === projectId).length >= maxOfProject)
      throw new TrunklineError('ffmpeg_busy', `A project has at most ${maxOfProject}.`, { maxOfProject })
  }
}

/** A customer's file on the disk, and its playing. */
class CustomerFile implements SeatedFile {
  readonly #options: RoomFilesOptions
  readonly #deps: RoomFilesDeps
  readonly #onClose: () => void
  #handle: FileHandle | undefined
  #opening: Promise<RoomFile> | undefined
  #closing: Promise<void> | undefined

  constructor(options: RoomFilesOptions, deps: RoomFilesDeps, onClose: () => void) {
    this.#options = options
    this.#deps = deps
    this.#onClose = onClose
  }

  open(url: string, signal: AbortSignal): Promise<RoomFile> {
    this.#opening = this.#open(url, signal)
    return this.#opening
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    // A descriptor that is closed too early would be that of another file.
    const file = await this.#opening?.catch(() => undefined)
    try {
      await file?.close()
    } finally {
      // The fetch, ffprobe and ffmpeg have ended.
      this.#onClose()
      await this.#handle?.close()
    }
  }

  async #open(url: string, signal: AbortSignal): Promise<RoomFile> {
    const { maxBytes, timeoutMs } = this.#options
    const handle = await createNameless()
    this.#handle = handle
    const write = (part: Uint8Array) => handle.writeFile(part)
    await this.#deps.http.download(url, { maxBytes, timeoutMs, signal }, write)
    return this.#deps.webrtc.openFile(randomUUID(), handle.fd, signal)
  }
}

/** Creates a file without a name, which is gone when its descriptor is closed, also by a crash. */
const createNameless = async (): Promise<FileHandle> => {
  const path = join(tmpdir(), `trunkline-${randomUUID()}`)
  const handle = await open(path, 'wx+', 0o600)
  await unlink(path)
  return handle
}
