import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { PcmRate } from '../types.ts'
import type { Samples } from './job-thread.ts'

/** How a {@link SpeechFolder} is set up. */
export interface SpeechFolderOptions {
  readonly path: string
  readonly maxBytes: number
  /** Told when the folder cannot be used; speech goes on without it. Default: nobody. */
  readonly onFault?: (error: Error) => void
}

/** Bytes before the samples: a mark with the version, and the rate. */
const headBytes = 8
const mark = 'TLS1'
const fileName = /^[0-9a-f]{64}\.pcm$/
const temporaryName = /^[0-9a-f-]{36}\.tmp$/

/**
 * Keeps speech on disk over a restart, up to a number of bytes; what was asked for least lately goes first. Files are named by a hash of
 * the key and hold 16-bit samples, no text. What cannot be read or written is only told to `onFault`.
 */
export class SpeechFolder {
  readonly #options: SpeechFolderOptions
  /** Sizes by name, the least lately used first. */
  #files: Promise<Map<string, number>> | undefined
  #writing: Promise<void> = Promise.resolve()

  constructor(options: SpeechFolderOptions) {
    this.#options = options
  }

  /** What is kept under the key at this rate. */
  async get(key: string, rate: PcmRate): Promise<Samples | undefined> {
    const name = nameOf(key)
    const files = await this.#open()
    const size = files.get(name)
    if (size === undefined) return undefined
    files.delete(name)
    try {
      const samples = samplesOf(await readFile(join(this.#options.path, name)), rate)
      if (samples) files.set(name, size)
      return samples
    } catch (error) {
      this.#fault(error)
      return undefined
    }
  }

  /** Keeps it, unless it alone is over the limit. Resolves when it is written. */
  set(key: string, rate: PcmRate, samples: Samples): Promise<void> {
    // One after the other, so that the limit holds.
    this.#writing = this.#writing
      .then(() => this.#write(nameOf(key), rate, samples))
      .catch((e) => this.#fault(e))
    return this.#writing
  }

  /** Waits for what is being written. */
  close(): Promise<void> {
    return this.#writing
  }

  async #write(name: string, rate: PcmRate, samples: Samples): Promise<void> {
    const { path, maxBytes } = this.#options
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
    files.set(name, size)
    await this.#prune(files)
  }

  async #prune(files: Map<string, number>): Promise<void> {
    let bytes = [...files.values()].reduce((sum, size) => sum + size, 0)
    for (const [name, size] of files) {
      if (bytes <= this.#options.maxBytes) return
      files.delete(name)
      bytes -= size
      await rm(join(this.#options.path, name), { force: true })
    }
  }

  #open(): Promise<Map<string, number>> {
    this.#files ??= this.#list()
    return this.#files
  }

  async #list(): Promise<Map<string, number>> {
    try {
      const { path } = this.#options
      const all = await readdir(path)
      // Left by a crash in the middle of writing.
      for (const name of all) if (temporaryName.test(name)) await rm(join(path, name), { force: true })
      const names = all.filter((name) => fileName.test(name))
      const facts = await Promise.all(
        names.map(async (name) => ({ name, ...(await factsOf(join(path, name))) })),
      )
      return new Map(facts.sort((a, b) => a.at - b.at).map(({ name, size }) => [name, size]))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#fault(error)
      return new Map()
    }
  }

  #fault(error: unknown): void {
    this.#options.onFault?.(error instanceof Error ? error : new Error(String(error)))
  }
}

const factsOf = async (file: string): Promise<{ readonly at: number; readonly size: number }> => {
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
