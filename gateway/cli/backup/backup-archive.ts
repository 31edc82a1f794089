import { join } from 'node:path'
import * as tar from 'tar'
import {
  ArchiveInvalid,
  hashOf,
  type Manifest,
  manifestName,
  maxManifestBytes,
  readManifest,
} from './backup-manifest.ts'

/** Maximum number of entries that are no files: folders of the paths. */
const maxFolders = 1_000_000

/**
 * Writes the files of a folder as a compressed tar archive that only its user can read. The manifest must be
 * in the folder, and comes first. Links are followed. `onBytes` receives the size of each packed file.
 */
export const packArchive = async (
  file: string,
  folder: string,
  { files }: Manifest,
  onBytes: (bytes: number) => void = () => {},
): Promise<void> => {
  const sizes = new Map(files.map(({ path, bytes }) => [path, bytes]))
  await tar.create(
    {
      file,
      cwd: folder,
      gzip: true,
      portable: true,
      follow: true,
      strict: true,
      mode: 0o600,
      onWriteEntry: (entry) => onBytes(sizes.get(entry.path) ?? 0),
    },
    [manifestName, ...files.map(({ path }) => path)],
  )
}

/**
 * Reads the list of an archive without writing anything, and returns its manifest. Throws
 * {@link ArchiveInvalid} if the archive is damaged, if an entry is no regular file, or if an entry is not in
 * the manifest.
 */
export const inspectArchive = async (file: string): Promise<Manifest> => {
  const entries: { readonly path: string; readonly type: string; readonly size: number }[] = []
  let text = ''
  await readingArchive(file, () =>
    tar.list({
      file,
      strict: true,
      onReadEntry: (entry) => {
        const { path, type, size } = entry
        if (entries.push({ path, type, size }) === 1 && path === manifestName && size <= maxManifestBytes)
          entry.on('data', (chunk) => {
            text += String(chunk)
          })
        if (entries.length > maxFolders + 1) throw new ArchiveInvalid('The archive has too many entries.')
      },
    }),
  )
  if (entries[0]?.path !== manifestName) throw new ArchiveInvalid('The archive is no backup of Trunkline.')
  const manifest = readManifest(text)
  const sizes = new Map(manifest.files.map(({ path, bytes }) => [path, bytes]))
  const seen = new Set<string>()
  for (const { path, type, size } of entries.slice(1)) {
    if (type !== 'File')
      throw new ArchiveInvalid(`The archive has the entry ${printable(path)}, which is no file (${type}).`)
    if (sizes.get(path) !== size || seen.has(path))
      throw new ArchiveInvalid(
        `The archive has the entry ${printable(path)}, which its manifest does not list.`,
      )
    seen.add(path)
  }
  const missing = manifest.files.find(({ path }) => !seen.has(path))
  if (missing) throw new ArchiveInvalid(`The archive lacks ${printable(missing.path)}.`)
  return manifest
}

/**
 * Extracts an inspected archive into an empty folder, and verifies each file. Throws {@link ArchiveInvalid}
 * if a file differs from the manifest. `onBytes` receives the size of each verified part.
 */
export const unpackArchive = async (
  file: string,
  folder: string,
  { files }: Manifest,
  onBytes: (bytes: number) => void = () => {},
): Promise<void> => {
  const listed = new Set(files.map(({ path }) => path))
  await readingArchive(file, () =>
    tar.extract({
      file,
      cwd: folder,
      strict: true,
      preserveOwner: false,
      dmode: 0o700,
      filter: (path, entry) => listed.has(path) && 'type' in entry && entry.type === 'File',
    }),
  )
  for (const { path, sha256 } of files)
    if ((await hashOf(join(folder, path), onBytes)) !== sha256)
      throw new ArchiveInvalid(`${printable(path)} in the archive differs from its checksum.`)
}

const readingArchive = async (file: string, read: () => Promise<unknown>): Promise<void> => {
  try {
    await read()
  } catch (error) {
    if (error instanceof ArchiveInvalid || isMissing(error)) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new ArchiveInvalid(`${file} cannot be read as an archive: ${reason}`, { cause: error })
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOSPC')

/** Returns a path of an archive without control characters, which could change a terminal. */
const printable = (path: string): string => JSON.stringify(path)
