import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'

/** Name of the manifest, which is the first entry of an archive. */
export const manifestName = 'manifest.json'

/** Format of the archive that this release writes and reads. */
export const archiveFormat = 1

/** Maximum size of a manifest, in bytes; about a million recordings. */
export const maxManifestBytes = 256 << 20

/** One file of an archive. */
export interface ArchivedFile {
  /** Path in the archive: `data/…`, `store/…` or `recordings/…`. */
  readonly path: string
  readonly bytes: number
  /** SHA-256 of the content, hexadecimal. */
  readonly sha256: string
}

/** Description of an archive, in its first entry. */
export interface Manifest {
  readonly format: number
  /** Version of the release that made the archive. */
  readonly release: string
  /** Time of the backup, ISO 8601. */
  readonly made_at: string
  readonly engine: 'sqlite' | 'postgres'
  /** Version of the store's tables. */
  readonly schema_version: number
  /** Whether the archive has the recordings. */
  readonly has_recordings: boolean
  readonly files: readonly ArchivedFile[]
}

/** The archive is damaged, is no backup of Trunkline, or has entries that a backup never has. */
export class ArchiveInvalid extends Error {
  override readonly name = 'ArchiveInvalid'
}

/** Path of the store in an archive. */
export const storePath = { sqlite: 'store/trunkline.db', postgres: 'store/trunkline.pgdump' } as const

/**
 * Whether a path may stand in an archive: relative, below one of the three folders, without `.` and `..`,
 * backslashes and control characters.
 */
export const isArchivePath = (path: string): boolean => {
  const [folder, ...rest] = path.split('/')
  return (
    ['data', 'store', 'recordings'].includes(folder ?? '') &&
    rest.length > 0 &&
    rest.every((part) => part !== '' && part !== '.' && part !== '..' && !/[\\\p{Cc}]/u.test(part))
  )
}

/** Reads a manifest. Throws {@link ArchiveInvalid} if it is malformed or of a later format. */
export const readManifest = (text: string): Manifest => {
  const value = parsed(text)
  if (typeof value?.format !== 'number') throw new ArchiveInvalid('The manifest of the archive is malformed.')
  if (value.format > archiveFormat)
    throw new ArchiveInvalid(
      `A later release (${value.release}) made the archive: its format is ${value.format}, ` +
        `and this release reads formats up to ${archiveFormat}.`,
    )
  const { engine, schema_version: version, files } = value
  const isComplete =
    (engine === 'sqlite' || engine === 'postgres') &&
    Number.isInteger(version) &&
    typeof value.has_recordings === 'boolean' &&
    Array.isArray(files) &&
    files.every(isArchivedFile) &&
    new Set(files.map(({ path }) => path)).size === files.length &&
    files.some(({ path }) => path === storePath[engine])
  if (!isComplete) throw new ArchiveInvalid('The manifest of the archive is malformed.')
  return value as Manifest
}

const parsed = (text: string): Partial<Manifest> | undefined => {
  try {
    return JSON.parse(text) ?? undefined
  } catch {
    return undefined
  }
}

const isArchivedFile = (file: Partial<ArchivedFile> | null): boolean =>
  typeof file?.path === 'string' &&
  isArchivePath(file.path) &&
  Number.isSafeInteger(file.bytes) &&
  Number(file.bytes) >= 0 &&
  typeof file.sha256 === 'string'

/** Returns the SHA-256 of a file, hexadecimal. `onBytes` receives the size of each part that was read. */
export const hashOf = async (file: string, onBytes: (bytes: number) => void = () => {}): Promise<string> => {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), async (chunks) => {
    for await (const chunk of chunks as AsyncIterable<Buffer>) {
      hash.update(chunk)
      onBytes(chunk.length)
    }
  })
  return hash.digest('hex')
}
