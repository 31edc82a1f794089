import { open, readdir, rename, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { failureOf } from './disk.ts'
import { WAV_HEADER, WavFormat } from './wav-format.ts'

/** Written or touched more recently than this, an unfinished file is somebody's: 2 minutes, as recordings are touched every 30 s. */
const IN_USE_MS = 120_000

/** What was found of recordings that were cut off by a crash. */
export interface Leftovers {
  /** Paths of recordings that are complete now, as far as they had been written. */
  readonly completed: readonly string[]
  /** Paths that would have been recordings, of which there was no sound. */
  readonly removed: readonly string[]
  /** Files that could not be completed, and are left as they are. */
  readonly failed: readonly { readonly file: string; readonly code: string; readonly message: string }[]
}

/**
 * Completes what a crash left unfinished in a folder of recordings, and removes what has no sound in it. To be called when the daemon starts
 * and now and then: files that were written within 2 minutes before `now` (ms since the Unix epoch) are left alone, as another process that
 * still has calls may be writing them. A recording of the same name is not replaced. Rejects when the folder cannot be read.
 */
export async function completeRecordings(folder: string, now: number): Promise<Leftovers> {
  const completed: string[] = []
  const removed: string[] = []
  const failed: { file: string; code: string; message: string }[] = []
  for (const name of await readdir(folder)) {
    const final = /^\.(.+)\.[0-9a-f]{8}\.part$/.exec(name)?.[1]
    if (final === undefined) continue
    const file = join(folder, name)
    try {
      if (now - (await stat(file)).mtimeMs < IN_USE_MS) continue
      const path = join(folder, final)
      ;((await complete(file, path)) ? completed : removed).push(path)
    } catch (error) {
      failed.push({ file, ...failureOf(error) })
    }
  }
  return { completed, removed, failed }
}

/** False: there was no sound, and the file is gone. */
async function complete(file: string, path: string): Promise<boolean> {
  const handle = await open(file, 'r+')
  try {
    const { size } = await handle.stat()
    const start = Buffer.alloc(WAV_HEADER)
    const { bytesRead } = await handle.read(start, 0, WAV_HEADER, 0)
    const isWav = start.toString('latin1', 0, 4) === 'RIFF'
    // An MP3 needs nothing: a frame that is cut off is passed over.
    const length = isWav ? playable(start, bytesRead, size) : size
    if (length === 0) {
      await unlink(file)
      return false
    }
    if (await exists(path)) throw Object.assign(new Error(`${path} is there already`), { code: 'EEXIST' })
    if (length < size) await handle.truncate(length)
    if (isWav) await handle.write(formatOf(start).header(length), 0, WAV_HEADER, 0)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(file, path)
  return true
}

const formatOf = (header: Buffer): WavFormat =>
  new WavFormat(header.readUInt32LE(24) === 16_000 ? 16_000 : 8000, header.readUInt16LE(22) === 2 ? 2 : 1)

const playable = (header: Buffer, bytesRead: number, size: number): number =>
  bytesRead < WAV_HEADER ? 0 : formatOf(header).playable(size)

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )
