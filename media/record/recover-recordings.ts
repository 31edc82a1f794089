import { type FileHandle, open, readdir, rename, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { wavHeaderBytes } from '../codecs/wav-header.ts'
import { failureOf } from './disk-files.ts'
import { WavFormat } from './wav-format.ts'
import { completeWebm, isWebm } from './webm/complete-webm.ts'

/**
 * Time after its last change for which an unfinished file counts as in use: 2 minutes, because recordings are
 * touched every 30 s.
 */
const inUseMs = 120_000

/** Result of recovering recordings after a crash. */
export interface RecoveredRecordings {
  /** Paths of recordings completed with the audio written so far. */
  readonly completed: readonly string[]
  /** Paths of recordings removed because they contained no audio. */
  readonly removed: readonly string[]
  /** Files that could not be completed and were left unchanged. */
  readonly failed: readonly { readonly file: string; readonly code: string; readonly message: string }[]
}

/**
 * Completes the unfinished recordings of a folder after a crash, and removes those without audio. Must be
 * called at start and periodically. Skips files changed within 2 minutes before `now` (ms since the Unix
 * epoch), which another process may still be writing. Existing recordings are not replaced. Rejects if the
 * folder cannot be read.
 */
export async function recoverRecordings(folder: string, now: number): Promise<RecoveredRecordings> {
  const completed: string[] = []
  const removed: string[] = []
  const failed: { file: string; code: string; message: string }[] = []
  for (const name of await readdir(folder)) {
    const final = /^\.(.+)\.[0-9a-f]{8}\.part$/.exec(name)?.[1]
    if (final === undefined) continue
    const file = join(folder, name)
    try {
      if (now - (await stat(file)).mtimeMs < inUseMs) continue
      const path = join(folder, final)
      ;((await complete(file, path)) ? completed : removed).push(path)
    } catch (error) {
      failed.push({ file, ...failureOf(error) })
    }
  }
  return { completed, removed, failed }
}

/** Completes one file. Returns false if it contained no audio and was removed. */
async function complete(file: string, path: string): Promise<boolean> {
  const handle = await open(file, 'r+')
  try {
    const { size } = await handle.stat()
    const start = Buffer.alloc(wavHeaderBytes)
    const { bytesRead } = await handle.read(start, 0, wavHeaderBytes, 0)
    const isWav = start.toString('latin1', 0, 4) === 'RIFF'
    if (await exists(path)) throw Object.assign(new Error(`${path} already exists`), { code: 'EEXIST' })
    const length = await playableLength(handle, size, start.subarray(0, bytesRead))
    if (length === 0) {
      await unlink(file)
      return false
    }
    if (length < size) await handle.truncate(length)
    if (isWav) await handle.write(formatOf(start).header(length), 0, wavHeaderBytes, 0)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(file, path)
  return true
}

const formatOf = (header: Buffer): WavFormat =>
  new WavFormat(header.readUInt32LE(24) === 16_000 ? 16_000 : 8000, header.readUInt16LE(22) === 2 ? 2 : 1)

/** Returns the length up to which the file can be played. A WebM has its end then. */
const playableLength = async (handle: FileHandle, size: number, start: Buffer): Promise<number> => {
  if (isWebm(start)) return completeWebm(handle, size)
  // An MP3 needs no repair: players skip an incomplete frame.
  if (start.toString('latin1', 0, 4) !== 'RIFF') return size
  return start.length < wavHeaderBytes ? 0 : formatOf(start).playable(size)
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )
