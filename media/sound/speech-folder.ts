import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { PcmRate } from '../types.ts'
import type { Samples } from './job-thread.ts'

/** How a {@link SpeechFolder} is set up. */
export interface SpeechFolderOptions {
  readonly path: string
  readonly maxBytes: number
  /** In ms since the Unix epoch. */
  readonly now: () => number
  /** Told when the folder cannot be used; speech goes on without it. Default: nobody. */
  readonly onFault?: (error: Error) => void
}

/** Bytes before the samples: a mark with the version, and the rate. */
const headBytes = 8
const mark = 'TLS1'
const fileName = /^[0-9a-f]{64}\.pcm$/
const temporaryName = /^[0-9a-f-]{36}\.tmp$/
/** Uses within this time of the last one that was written down are not, in ms. */
const markMs = 3_600_000

/** What is known of a file. */
interface Facts {
  readonly size: number
  /** When it was used, in ms since the Unix epoch, within {@link markMs}. */
  readonly at: number
}

/**
 * Keeps speech on disk over a restart, up to a number of bytes; what was used least lately goes first, also after a restart: a file's time is
 * that of its last use, to the hour. Files are named by a hash of the key and hold 16-bit samples, no text. What cannot be read or written
 * is only told to `onFault`.
 */
export class SpeechFolder {
  readonly #options: SpeechFolderOptions
  /** By name, the least lately used first. */
  #files: Promise<Map<string, Facts>> | undefined
  #writing: Promise<void> = Promise.resolve()

  constructor(options: SpeechFolderOptions) {
    this.#options = options
  }

  /** What is kept under the key at this rate. */
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

  /** What is kept under the key was used, wherever it was had from. Resolves when that is written down; harmless where there is nothing. */
  used(key: string): Promise<void> {
    return this.#inTurn(() => this.#mark(nameOf(key)))
  }

  /** Keeps it, unless it alone is over the limit. Resolves when it is written. */
  set(key: string, rate: PcmRate, samples: Samples): Promise<void> {
    return this.#inTurn(() => this.#write(nameOf(key), rate, samples))
  }

  /** Waits for what is being written. */
  close(): Promise<void> {
    return this.#writing
  }

  /** One after the other, so that the limit holds. */
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

  async #prune(files: Map<string, Facts>): Promise<void> {
    let bytes = [...files.values()].reduce((sum, { size }) => sum + size, 0)
    for (const [name, { size }] of files) {
      if (bytes <= this.#options.maxBytes) return
      files.delete(name)
      bytes -= size
      await rm(join(this.#options.path, name), { force: true })
    }
  }

  #open(): Promise<Map<string, Facts>> {
    this.#files ??= this.#list()
    return this.#files
  }

  async #list(): Promise<Map<string, Facts>> {
    try {
      const { path } = this.#options
      const found = await readdir(path)
      // Left by a crash in the middle of writing.
      for (const name of found) if (temporaryName.test(name)) await rm(join(path, name), { force: true })
      const names = found.filter((name) => fileName.test(name))
      const all = await Promise.all(
        names.map(async (name) => [name, await factsOf(join(path, name))] as const),
      )
      const files = new Map(all.sort(([, a], [, b]) => a.at - b.at))
      // The limit may be lower than it was.
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

const factsOf = async (file: string): Promise<Facts> => {
  const { mtimeMs, size } = await stat(file)
  return { at: mtimeMs, size }
}

const nameOf = (key: string): string => `${createHash('sha256').update(key).digest('hex')}.pcm`

const bytesOf = (samples: Samples): Uint8Array =>
  new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength)

/** Undefined for a file that was not written whole, or by another version. */
const samplesOf = (file: Buffer, rate: PcmRate): Samples | undefined => {
  const isOurs = file.length > headBytes && file.length % 2 === 0 && file.toString('latin1', 0, 4) === mark
  if (!isOurs || file.readUInt32LE(4) !== rate) return undefined
  const samples = new Int16Array(new SharedArrayBuffer(file.length - headBytes))
  bytesOf(samples).set(file.subarray(headBytes))
  return samples
}
