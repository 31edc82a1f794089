/**
 * Files of recordings for tests: reading them back, and a file system in memory with controllable failures.
 */
import { readFile } from 'node:fs/promises'
import { diskFiles, type RecordingFiles, type RecordingHandle } from '../disk-files.ts'

/** Content of a WAV file with consistent sizes. */
export interface ReadWav {
  readonly rate: number
  readonly channels: readonly Int16Array[]
}

/** Reads a WAV of 16 bit. Throws if its header does not match its length. */
export function readWavBytes(bytes: Buffer): ReadWav {
  if (bytes.toString('latin1', 0, 4) !== 'RIFF') throw new Error('RIFF expected')
  const riff = bytes.readUInt32LE(4)
  const data = bytes.readUInt32LE(40)
  if (riff !== bytes.length - 8 || data !== bytes.length - 44)
    throw new Error(`sizes ${riff} and ${data} in ${bytes.length} bytes`)
  const count = bytes.readUInt16LE(22)
  const channels = Array.from({ length: count }, (_, channel) =>
    Int16Array.from({ length: data / 2 / count }, (_, i) =>
      bytes.readInt16LE(44 + (i * count + channel) * 2),
    ),
  )
  return { rate: bytes.readUInt32LE(24), channels }
}

/** Reads a WAV file. */
export const readWavFile = async (path: string): Promise<ReadWav> => readWavBytes(await readFile(path))

/** Returns an error of the file system. */
export const fileError = (code: string): Error => Object.assign(new Error(`${code}: as configured`), { code })

/** File system in memory. */
export class MemoryFiles implements RecordingFiles {
  readonly files = new Map<string, Buffer>()
  /** Operations in order. */
  readonly log: string[] = []
  /** Maximum size of a file; beyond it ENOSPC occurs. */
  space = Number.POSITIVE_INFINITY
  /** Operations that fail, with their codes. */
  readonly failing: Partial<Record<'open' | 'write' | 'sync' | 'rename' | 'unlink' | 'folder', string>> = {}
  /** Operations of open files wait for this promise. */
  gate: Promise<void> = Promise.resolve()

  async open(path: string): Promise<RecordingHandle> {
    this.#do('open')
    this.files.set(path, Buffer.alloc(0))
    return {
      write: (bytes, offset, length, position) =>
        this.#write(path, bytes.subarray(offset, offset + length), position),
      truncate: async (length) => {
        this.log.push('truncate')
        this.files.set(path, this.files.get(path)!.subarray(0, length))
      },
      sync: async () => {
        await this.gate
        this.#do('sync')
      },
      close: async () => {
        this.log.push('close')
      },
    }
  }

  async rename(from: string, to: string): Promise<void> {
    this.#do('rename')
    this.files.set(to, this.files.get(from)!)
    this.files.delete(from)
  }

  async unlink(path: string): Promise<void> {
    this.#do('unlink')
    this.files.delete(path)
  }

  async syncFolder(): Promise<void> {
    this.#do('folder')
  }

  async #write(path: string, bytes: Uint8Array, position: number): Promise<{ bytesWritten: number }> {
    await this.gate
    this.#do('write')
    const before = this.files.get(path)!
    const room = Math.min(bytes.length, this.space - position)
    if (room <= 0) throw fileError('ENOSPC')
    const after = Buffer.alloc(Math.max(before.length, position + room))
    before.copy(after)
    after.set(bytes.subarray(0, room), position)
    this.files.set(path, after)
    return { bytesWritten: room }
  }

  #do(what: keyof MemoryFiles['failing']): void {
    this.log.push(what)
    const code = this.failing[what]
    if (code) throw fileError(code)
  }
}

/** File system of the machine that tracks pending operations. */
export class WatchedFiles implements RecordingFiles {
  readonly rename = diskFiles.rename
  readonly unlink = diskFiles.unlink
  readonly syncFolder = diskFiles.syncFolder
  #busy = 0

  async open(path: string): Promise<RecordingHandle> {
    const handle = await this.#watch(diskFiles.open(path))
    return {
      write: (...args) => this.#watch(handle.write(...args)),
      truncate: (length) => this.#watch(handle.truncate(length)),
      sync: () => handle.sync(),
      close: () => handle.close(),
    }
  }

  /** Resolves when all pending operations are done. */
  async idle(): Promise<void> {
    do await new Promise(setImmediate)
    while (this.#busy > 0)
  }

  #watch<T>(work: Promise<T>): Promise<T> {
    this.#busy++
    return work.finally(() => this.#busy--)
  }
}
