import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { PcmRate } from '../types.ts'
import type { Samples } from './job-thread.ts'

/** Options of a {@link SpeechFolder}. */
export interface SpeechFolderOptions {
  readonly path: string
  readonly maxBytes: number
  /** Returns the time in ms since the Unix epoch. */
  readonly now: () => number
  /** Called if the folder cannot be used; speech continues without it. Default: ignored. */
  readonly onFault?: (error: Error) => void
}

/** Length of the file header: a signature with the version, and the rate. */
const headBytes = 8
const mark = 'TLS1'
const fileName = /^[0-9a-f]{64}\.pcm$/
const temporaryName = /^[0-9a-f-]{36}\.tmp$/
/** Interval within which further uses are not recorded, in ms. */
const markMs = 3_600_000

/** Metadata of a file. */
interface FileInfo {
  readonly size: number
  /** Last use in ms since the Unix epoch, within {@link markMs}. */
  readonly at: number
}

/**
 * Cache of speech on disk that lasts over restarts. Holds up to a number of bytes; the least recently used
 * files are removed first. A file's modification time is its last use, to the hour. Files are named by a hash
 * of the key and contain 16-bit samples, no text. Failures are reported to `onFault`, and never thrown.
 */
export class SpeechFolder {
  readonly #options: SpeechFolderOptions
  /** Files by name, least recently used first. */
  #files: Promise<Map<string, FileInfo>> | undefined
  #writing: Promise<void> = Promise.resolve()

  constructor(options: SpeechFolderOptions) {
    this.#options = options
  }

  /** Returns the speech of the key at this rate; undefined if absent. */
  async get(key: string, rate: PcmRate): Promise<Samples | undefined> {
    const name = nameOf(key)
    const files = await this.#open()
    if (!files.has(name)) return undefined
    try {
      const samples = samplesOf(await readFile(join(this.#options.path, name)), rate)
      if (samples) void this.used(key)
      else files.delete(name)
      return samples
    } catch (error) {
      files.delete(name)
      this.#fault(error)
      return undefined
    }
  }

  /** Records a use of the key. Resolves when recorded; no effect for an absent key. */
  used(key: string): Promise<void> {
    return this.#inTurn(() => this.#mark(nameOf(key)))
  }

  /** Stores speech, unless it alone exceeds the limit. Resolves when written. */
  set(key: string, rate: PcmRate, samples: Samples): Promise<void> {
    return this.#inTurn(() => this.#write(nameOf(key), rate, samples))
  }

  /** Waits for pending writes. */
  close(): Promise<void> {
    return this.#writing
  }

  /** Runs writes sequentially, so that the limit holds. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    this.#writing = this.#writing.then(work).catch((e) => this.#fault(e))
    return this.#writing
  }

  async #mark(name: string): Promise<void> {
    const files = await this.#open()
    const facts = files.get(name)
    if (!facts) return
    const now = this.#options.now()
    const isDue = now - facts.at >= markMs
    files.delete(name)
    files.set(name, isDue ? { ...facts, at: now } : facts)
    if (isDue) await utimes(join(this.#options.path, name), now / 1000, now / 1000)
  }

  async #write(name: string, rate: PcmRate, samples: Samples): Promise<void> {
    const { path, maxBytes, now } = this.#options
    const size = headBytes + samples.byteLength
    if (size > maxBytes) return
    const files = await this.#open()
    const head = Buffer.alloc(headBytes)
    head.write(mark)
    head.writeUInt32LE(rate, 4)
    const temporary = join(path, `${randomUUID()}.tmp`)
    await mkdir(path, { recursive: true, mode: 0o700 })
    try {
      await writeFile(temporary, Buffer.concat([head, bytesOf(samples)]), { mode: 0o600 })
      await rename(temporary, join(path, name))
    } catch (error) {
      await rm(temporary, { force: true })
      throw error
    }
    files.delete(name)
    files.set(name, { size, at: now() })
    await this.#prune(files)
  }

  async #prune(files: Map<string, FileInfo>): Promise<void> {
    let bytes = [...files.values()].reduce((sum, { size }) => sum + size, 0)
    for (const [name, { size }] of files) {
      if (bytes <= this.#options.maxBytes) return
      files.delete(name)
      bytes -= size
      await rm(join(this.#options.path, name), { force: true })
    }
  }

  #open(): Promise<Map<string, FileInfo>> {
    this.#files ??= this.#list()
    return this.#files
  }

  async #list(): Promise<Map<string, FileInfo>> {
    try {
      const { path } = this.#options
      const found = await readdir(path)
      // Removes files left by a crash during writing.
      for (const name of found) if (temporaryName.test(name)) await rm(join(path, name), { force: true })
      const names = found.filter((name) => fileName.test(name))
      const all = await Promise.all(
        names.map(async (name) => [name, await fileInfoOf(join(path, name))] as const),
      )
      const files = new Map(all.sort(([, a], [, b]) => a.at - b.at))
      // The limit may have been lowered.
      await this.#prune(files)
      return files
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#fault(error)
      return new Map()
    }
  }

  #fault(error: unknown): void {
    this.#options.onFault?.(error instanceof Error ? error : new Error(String(error)))
  }
}

const fileInfoOf = async (file: string): Promise<FileInfo> => {
  const { mtimeMs, size } = await stat(file)
  return { at: mtimeMs, size }
}

const nameOf = (key: string): string => `${createHash('sha256').update(key).digest('hex')}.pcm`

const bytesOf = (samples: Samples): Uint8Array =>
  new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength)

/** Returns the samples of a file; undefined if incomplete, or of another version. */
const samplesOf = (file: Buffer, rate: PcmRate): Samples | undefined => {
  const isOurs = file.length > headBytes && file.length % 2 === 0 && file.toString('latin1', 0, 4) === mark
  if (!isOurs || file.readUInt32LE(4) !== rate) return undefined
  const samples = new Int16Array(new SharedArrayBuffer(file.length - headBytes))
  bytesOf(samples).set(file.subarray(headBytes))
  return samples
}
