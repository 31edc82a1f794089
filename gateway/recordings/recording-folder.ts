import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, parse } from 'node:path'
import { recoverRecordings } from '../../media/record/recover-recordings.ts'
import { WavFormat } from '../../media/record/wav-format.ts'
import { webmDurationMs } from '../../media/record/webm/complete-webm.ts'
import { makeFolder } from '../core/make-folder.ts'
import { isOfRoom, type RecordingRow, roomFormats } from '../directory/tables/recordings.ts'

/** Fields that determine the path of a recording. */
export type RecordingPlace = Pick<RecordingRow, 'id' | 'project_id' | 'format'>

/** Outcome of {@link RecordingFolder.complete}. */
export interface CompletionResult {
  /** Ids of recordings whose files are complete now. */
  readonly completed: readonly string[]
  /** Files that could not be completed; they stay unchanged. */
  readonly failed: readonly { readonly file: string; readonly code: string; readonly message: string }[]
}

/** Complete file. */
export interface RecordingFile {
  /** Id of the recording. */
  readonly id: string
  readonly path: string
}

/** Folder of recordings: a subfolder per project, and in it a file per recording, named by its id. */
export class RecordingFolder {
  readonly path: string
  #made = new Set<string>()

  /** `path` is absolute. */
  constructor(path: string) {
    this.path = path
  }

  /** Creates the folder if it is missing. Rejects if that fails. */
  async make(): Promise<void> {
    makeFolder(this.path, 0o750)
  }

  /**
   * Returns the path of the recording's file. Of the path, clients choose only the id, and only ids of stored
   * recordings are used.
   */
  fileOf({ id, project_id: project, format }: RecordingPlace): string {
    return join(this.path, folderName(project), `${id}.${format}`)
  }

  /** Returns the same path as {@link fileOf}, and creates the project's folder. Throws if that fails. */
  placeFor(recording: RecordingPlace): string {
    const file = this.fileOf(recording)
    const { dir } = parse(file)
    if (!this.#made.has(dir)) mkdirSync(dir, { recursive: true, mode: 0o750 })
    this.#made.add(dir)
    return file
  }

  /** Returns the path of the folder with the files of the recording's members. */
  membersOf({ id, project_id: project }: Pick<RecordingPlace, 'id' | 'project_id'>): string {
    return join(this.path, folderName(project), `${id}.members`)
  }

  /** Returns the size of the file in bytes; undefined if it does not exist. */
  async sizeOf(recording: RecordingPlace): Promise<number | undefined> {
    try {
      return (await stat(this.fileOf(recording))).size
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
  }

  /** Returns the duration of the complete file in ms. `bytes`: its size; 0 without a file. */
  async durationOf(recording: RecordingRow, bytes: number): Promise<number> {
    if (!isOfRoom(recording)) return audioDurationOf(recording, bytes)
    return bytes === 0 ? 0 : webmDurationMs(this.fileOf(recording))
  }

  /** Removes the files, if they exist. Rejects if that fails. */
  async remove(recording: RecordingPlace): Promise<void> {
    await rm(this.membersOf(recording), { recursive: true, force: true })
    // A conversion may have left the file that it has replaced.
    const formats = isOfRoom(recording) ? roomFormats : [recording.format]
    for (const format of formats) await rm(this.fileOf({ ...recording, format }), { force: true })
  }

  /** Yields the complete files that {@link fileOf} can name, folder by folder; ignores others. */
  async *files(): AsyncGenerator<readonly RecordingFile[]> {
    for (const entry of await readdir(this.path, { withFileTypes: true })) {
      if (!entry.isDirectory() || !folderNames.test(entry.name)) continue
      const dir = join(this.path, entry.name)
      const found = await readdir(dir, { withFileTypes: true })
      yield found
        .filter(
          (file) => (file.isFile() ? fileNames : membersNames).test(file.name) && !file.isSymbolicLink(),
        )
        .map(({ name }) => ({ id: parse(name).name, path: join(dir, name) }))
    }
  }

  /**
   * Removes a file that was written at or before `before` (ms since the Unix epoch). Returns whether the file
   * was removed.
   */
  async removeOlder(path: string, before: number): Promise<boolean> {
    if ((await stat(path)).mtimeMs > before) return false
    await rm(path, { recursive: true })
    return true
  }

  /**
   * Completes files that a crash has interrupted, unless they were written in the last 2 minutes before
   * `now`. `recordings`: reads their folders alone; default all.
   */
  async complete(now: number, recordings?: readonly RecordingPlace[]): Promise<CompletionResult> {
    const completed: string[] = []
    const failed: CompletionResult['failed'][number][] = []
    const folders = recordings ? this.#foldersOf(recordings) : await this.#allFolders()
    for (const folder of folders) {
      const found = await recoverRecordings(folder, now).catch(noneIfMissing)
      if (!found) continue
      failed.push(...found.failed)
      if (!membersNames.test(basename(folder)))
        completed.push(...found.completed.map((file) => parse(file).name))
    }
    return { completed, failed }
  }

  // Folders of members come first: the row of a recording is settled once its own file is complete.

  #foldersOf(recordings: readonly RecordingPlace[]): Iterable<string> {
    const members = recordings.map((each) => this.membersOf(each))
    return new Set([...members, ...recordings.map((each) => dirname(this.fileOf(each)))])
  }

  async #allFolders(): Promise<Iterable<string>> {
    const entries = (await readdir(this.path, { withFileTypes: true }).catch(noneIfMissing)) ?? []
    const projects = entries.filter((each) => each.isDirectory()).map(({ name }) => join(this.path, name))
    const members: string[] = []
    for (const project of projects) {
      const names = (await readdir(project).catch(noneIfMissing)) ?? []
      members.push(...names.filter((name) => membersNames.test(name)).map((name) => join(project, name)))
    }
    return [...members, ...projects]
  }

  /**
   * Returns whether an unfinished file exists. Another process may still be writing the file, or it may be
   * completed later.
   */
  async isUnfinished(recording: RecordingPlace): Promise<boolean> {
    const { dir, base } = parse(this.fileOf(recording))
    const names = await readdir(dir).catch(() => [])
    if (names.some((name) => name.startsWith(`.${base}.`))) return true
    const members = await readdir(this.membersOf(recording)).catch(() => [])
    return members.some((name) => unfinishedNames.test(name))
  }
}

/** Names of folders and files of recordings: projects, files of members, unfinished and finished files. */
const folderNames = /^(?:[\w-]{1,100}|project\.[0-9a-f]{64})$/
const membersNames = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\.members$/
const unfinishedNames = /^\..+\.part$/
const fileNames =
  /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\.(?:wav|mp3|webm|mp4)$/

/** A folder that does not exist, or no longer, has no files. Throws other errors. */
const noneIfMissing = (error: NodeJS.ErrnoException): undefined => {
  if (error.code !== 'ENOENT') throw error
}

/** Returns a name without characters that a file system rejects. */
const folderName = (project: string): string =>
  /^[\w-]{1,100}$/.test(project) ? project : `project.${createHash('sha256').update(project).digest('hex')}`

/** Bits per second of MP3 per channel, by sample rate, as media/record writes it. */
const mp3Bits: Readonly<Record<number, number>> = { 8000: 24_000, 16000: 32_000 }

/** Returns the duration of a WAV or an MP3 in ms, computed from its size in bytes. */
const audioDurationOf = (
  { format, channels, sample_rate: rate }: Pick<RecordingRow, 'format' | 'channels' | 'sample_rate'>,
  bytes: number,
): number => {
  if (bytes === 0) return 0
  if (format === 'wav')
    return new WavFormat(rate === 16_000 ? 16_000 : 8000, channels === 2 ? 2 : 1).durationMs(bytes)
  return Math.round((bytes * 8000) / ((mp3Bits[rate] ?? 24_000) * channels))
}
