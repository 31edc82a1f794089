import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { mkdir, readdir, stat, unlink } from 'node:fs/promises'
import { join, parse } from 'node:path'
import { recoverRecordings } from '../../media/record/recover-recordings.ts'
import { WavFormat } from '../../media/record/wav-format.ts'
import type { RecordingRow } from '../directory/recordings.ts'

/** What says where a recording lies. */
export type RecordingPlace = Pick<RecordingRow, 'id' | 'project_id' | 'format'>

/** What was found of recordings that a crash had cut off. */
export interface CompletionResult {
  /** Ids of those whose files are complete now. */
  readonly completed: readonly string[]
  /** Files that could not be completed, and are left as they are. */
  readonly failed: readonly { readonly file: string; readonly code: string; readonly message: string }[]
}

/** A file that is complete. */
export interface RecordingFile {
  /** Of the recording. */
  readonly id: string
  readonly path: string
}

/** The files: a folder for each project, and in it one file for each recording, named by its id. */
export class RecordingFolder {
  readonly path: string
  #made = new Set<string>()

  /** `path` is absolute. */
  constructor(path: string) {
    this.path = path
  }

  /** Makes the folder where it is missing. Rejects when that cannot be. */
  async make(): Promise<void> {
    await mkdir(this.path, { recursive: true, mode: 0o750 })
  }

  /** The recording's file. Nothing of it but the id comes from outside, and no id is used that is none of ours. */
  fileOf({ id, project_id: project, format }: RecordingPlace): string {
    return join(this.path, folderName(project), `${id}.${format}`)
  }

  /** As {@link fileOf}, with the folder in place. Throws when that cannot be made. */
  placeFor(recording: RecordingPlace): string {
    const file = this.fileOf(recording)
    const { dir } = parse(file)
    if (!this.#made.has(dir)) mkdirSync(dir, { recursive: true, mode: 0o750 })
    this.#made.add(dir)
    return file
  }

  /** Bytes of the file; undefined when it is not there. */
  async sizeOf(recording: RecordingPlace): Promise<number | undefined> {
    try {
      return (await stat(this.fileOf(recording))).size
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
  }

  /** Harmless when the file is not there. Rejects when it cannot be removed. */
  async remove(recording: RecordingPlace): Promise<void> {
    try {
      await unlink(this.fileOf(recording))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }

  /** Everything that {@link fileOf} could name and that is complete, folder by folder; what else lies there is not ours. */
  async *files(): AsyncGenerator<readonly RecordingFile[]> {
    for (const entry of await readdir(this.path, { withFileTypes: true })) {
      if (!entry.isDirectory() || !folderNames.test(entry.name)) continue
      const dir = join(this.path, entry.name)
      const found = await readdir(dir, { withFileTypes: true })
      yield found
        .filter((file) => file.isFile() && fileNames.test(file.name))
        .map(({ name }) => ({ id: parse(name).name, path: join(dir, name) }))
    }
  }

  /** Removes a file that was written before `before` (ms since the Unix epoch), or at that moment. False: it was not. */
  async removeOlder(path: string, before: number): Promise<boolean> {
    if ((await stat(path)).mtimeMs > before) return false
    await unlink(path)
    return true
  }

  /** Completes files that a crash cut off; those that were written in the last 2 minutes before `now` are left alone. */
  async complete(now: number): Promise<CompletionResult> {
    const completed: string[] = []
    const failed: CompletionResult['failed'][number][] = []
    for (const entry of await readdir(this.path, { withFileTypes: true })) {
      if (!entry.isDirectory()) continue
      const found = await recoverRecordings(join(this.path, entry.name), now)
      completed.push(...found.completed.map((file) => parse(file).name))
      failed.push(...found.failed)
    }
    return { completed, failed }
  }

  /** Whether there is an unfinished file of it, which may still be written by another process, or be completed later. */
  async isUnfinished(recording: RecordingPlace): Promise<boolean> {
    const { dir, base } = parse(this.fileOf(recording))
    const names = await readdir(dir).catch(() => [])
    return names.some((name) => name.startsWith(`.${base}.`))
  }
}

/** What {@link folderName} gives, and the names that recordings have there. */
const folderNames = /^(?:[\w-]{1,100}|project\.[0-9a-f]{64})$/
const fileNames = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\.(?:wav|mp3)$/

/** A project's id may hold what a file system does not like. */
const folderName = (project: string): string =>
  /^[\w-]{1,100}$/.test(project) ? project : `project.${createHash('sha256').update(project).digest('hex')}`

/** Bits per second of MP3, of each channel, by sample rate: as media/record writes it. */
const mp3Bits: Readonly<Record<number, number>> = { 8000: 24_000, 16000: 32_000 }

/** Length of a file of so many bytes, in ms. */
export const durationOf = (
  { format, channels, sample_rate: rate }: Pick<RecordingRow, 'format' | 'channels' | 'sample_rate'>,
  bytes: number,
): number => {
  if (bytes === 0) return 0
  if (format === 'wav')
    return new WavFormat(rate === 16_000 ? 16_000 : 8000, channels === 2 ? 2 : 1).durationMs(bytes)
  return Math.round((bytes * 8000) / ((mp3Bits[rate] ?? 24_000) * channels))
}
