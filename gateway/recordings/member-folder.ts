import { mkdirSync } from 'node:fs'
import { readFile, rename, stat, writeFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { WavFormat } from '../../media/record/wav-format.ts'
import { webmDurationMs } from '../../media/record/webm/complete-webm.ts'
import type { MemberFile, MemberPlace, RecordingManifest } from '../calls/audio/recording-store.ts'
import type { Clock, Timer } from '../core/clock.ts'
import { manifestName } from './member-files.ts'

/** Minimum time between two writes of a manifest with more than so many moments, in ms. */
const saveIntervals = [
  { moments: 2_000, ms: 60_000 },
  { moments: 500, ms: 10_000 },
  { moments: -1, ms: 1_000 },
] as const
/** File mode: private to owner and group, as recordings are. */
const fileMode = 0o640
/** Sampling rate of the WAV files of members, in Hz. */
const wavRate = 16_000

/** Collaborators of a {@link MemberFolder}. */
export interface MemberFolderDeps {
  readonly clock: Pick<Clock, 'after'>
  /** Called for the first write of the manifest that fails. */
  readonly onFault: (error: Error) => void
}

/** Folder with the files of the members of one recording in progress, and their manifest. */
export class MemberFolder implements MemberPlace {
  readonly #path: string
  readonly #deps: MemberFolderDeps
  #manifest: RecordingManifest | undefined
  #writing: Promise<void> = Promise.resolve()
  #timer: Timer | undefined
  #hasFailed = false

  /** Creates the folder. Throws if that fails. */
  constructor(path: string, deps: MemberFolderDeps) {
    this.#path = path
    this.#deps = deps
    mkdirSync(path, { recursive: true, mode: 0o750 })
  }

  pathOf(name: string): string {
    return join(this.#path, name)
  }

  save(manifest: RecordingManifest): void {
    this.#manifest = manifest
    if (this.#timer) return
    this.#write()
    this.#timer = this.#deps.clock.after(saveIntervalOf(manifest), () => {
      this.#timer = undefined
      if (this.#manifest) this.save(this.#manifest)
    })
  }

  /** Writes the last manifest. Never rejects. */
  async close(): Promise<void> {
    this.#timer?.cancel()
    this.#write()
    await this.#writing
  }

  #write(): void {
    const manifest = this.#manifest
    this.#manifest = undefined
    if (!manifest) return
    this.#writing = this.#writing
      .then(() => writeManifest(this.#path, manifest))
      .catch((error: Error) => {
        if (!this.#hasFailed) this.#deps.onFault(error)
        this.#hasFailed = true
      })
  }
}

/** Each write writes the whole manifest, so a long one is written less often. */
const saveIntervalOf = ({ timeline }: RecordingManifest): number =>
  saveIntervals.find(({ moments }) => timeline.length > moments)!.ms

/**
 * Returns the files of a recording that exist, with their durations and sizes, and writes these into the
 * manifest. Returns none without a manifest. Rejects with an error of the file system or of JSON.
 */
export const completeFiles = async (path: string): Promise<readonly MemberFile[]> => {
  const text = await readFile(join(path, manifestName), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (text === undefined) return []
  const manifest = JSON.parse(text) as RecordingManifest
  const measured = await Promise.all(manifest.files.map((file) => measure(path, file)))
  const files = measured.filter((file) => file !== undefined)
  await writeManifest(path, { ...manifest, files })
  return files
}

/** Returns a file with its duration and its size; undefined if it had no content, and so does not exist. */
const measure = async (folder: string, file: MemberFile): Promise<MemberFile | undefined> => {
  const path = join(folder, file.name)
  try {
    const { size } = await stat(path)
    const isWav = extname(file.name) === '.wav'
    const durationMs = isWav ? new WavFormat(wavRate, 1).durationMs(size) : await webmDurationMs(path)
    return { ...file, duration: durationMs / 1000, size_in_bytes: size }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Replaces the manifest at once, so that a crash leaves the former one or the new one. */
const writeManifest = async (folder: string, manifest: RecordingManifest): Promise<void> => {
  const path = join(folder, manifestName)
  await writeFile(`${path}.new`, `${JSON.stringify(manifest)}\n`, { mode: fileMode })
  await rename(`${path}.new`, path)
}
