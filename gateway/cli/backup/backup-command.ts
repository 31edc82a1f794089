import { existsSync, mkdirSync, readdirSync, renameSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import type { Config } from '../../../config/types.ts'
import { SystemClock } from '../../core/clock.ts'
import { makeFolder } from '../../core/make-folder.ts'
import { releaseVersion } from '../../core/version.ts'
import { checkDataOwner } from '../own-data-folder.ts'
import { Progress, sizeText } from '../progress.ts'
import { inspectArchive, packArchive } from './backup-archive.ts'
import {
  type ArchivedFile,
  archiveFormat,
  hashOf,
  type Manifest,
  manifestName,
  storePath,
} from './backup-manifest.ts'
import { dumpPostgres, postgresVersion } from './postgres-dump.ts'
import { checkSqlite, copySqlite } from './sqlite-copy.ts'
import { withStaging } from './staging.ts'

/** Beginning of the names of folders that a backup or a restore makes in the data folder. */
export const ownFolders = { staging: 'backup-', restoring: 'restoring-', aside: 'before-restore-' } as const

/** Age in ms below which a recording may still be in progress. */
const restMs = 30_000

/** Options of `trunkline backup`. */
export interface BackupOptions {
  readonly recordings: boolean
  readonly json: boolean
}

/**
 * `trunkline backup`: writes an archive of the store and the data folder, while the gateway runs or not, and
 * checks it. Returns the exit code. Throws if a part cannot be read or the archive cannot be written.
 */
export const createBackup = async (
  config: Config,
  archive: string,
  { recordings, json }: BackupOptions,
): Promise<number> => {
  const file = resolve(archive)
  if (existsSync(file)) {
    process.stderr.write(`trunkline: ${archive} exists. Name another file.\n`)
    return 1
  }
  checkDataOwner(config.dataDir)
  makeFolder(dirname(file))
  const partial = `${file}.${process.pid}.part`
  const work = async (staging: string): Promise<number> => {
    const { manifest, busy } = await stage(config, staging, recordings)
    await pack(partial, staging, manifest)
    renameSync(partial, file)
    process.stdout.write(json ? jsonReport(file, manifest, busy) : report(archive, manifest, busy))
    return 0
  }
  return withStaging(join(config.dataDir, ownFolders.staging), work, [partial])
}

/** Puts the store, links to the other files, and the manifest into the staging folder. */
const stage = async (
  config: Config,
  staging: string,
  recordings: boolean,
): Promise<{ readonly manifest: Manifest; readonly busy: number }> => {
  const { path: store, engine, version } = await stageStore(config, staging)
  const recorded = recordings ? recordingFiles(config) : { files: [], busy: 0 }
  const data = dataFiles(config).map((path) => ({ path: `data/${path}`, from: join(config.dataDir, path) }))
  const found = [...data, ...recorded.files]
  for (const { path, from } of found) {
    mkdirSync(dirname(join(staging, path)), { recursive: true })
    symlinkSync(from, join(staging, path))
  }
  const manifest = await describe(staging, [store, ...found.map(({ path }) => path)], {
    engine,
    schema_version: version,
    has_recordings: recordings,
  })
  writeFileSync(join(staging, manifestName), `${JSON.stringify(manifest)}\n`, { mode: 0o600 })
  return { manifest, busy: recorded.busy }
}

/** Copies the store into the staging folder, and checks the copy. */
const stageStore = async (
  { dataDir, store }: Config,
  staging: string,
): Promise<{ readonly path: string; readonly engine: Manifest['engine']; readonly version: number }> => {
  const engine = store?.url === undefined ? 'sqlite' : 'postgres'
  const path = storePath[engine]
  const to = join(staging, path)
  mkdirSync(dirname(to))
  if (store?.url !== undefined) {
    const version = await postgresVersion(store.url)
    if (version === undefined) throw new Error('The database has no tables of Trunkline.')
    await dumpPostgres(store.url, to)
    return { path, engine, version }
  }
  const from = join(dataDir, 'trunkline.db')
  if (!existsSync(from)) throw new Error(`There is no store ${from}: has the gateway run with this file?`)
  const progress = new Progress('Copying the store', statSync(from).size)
  copySqlite(from, to)
  const version = checkSqlite(to)
  progress.end()
  return { path, engine, version }
}

/** Returns the paths in the data folder that a backup holds, besides the store and the recordings. */
const dataFiles = (config: Config): readonly string[] => {
  const { dataDir, store } = config
  const others = [recordingsFolder(config), config.media.speech.folder].flatMap((folder) =>
    folder === undefined ? [] : [relative(dataDir, resolve(folder))],
  )
  return filesBelow(dataDir, (path) => {
    const top = path.split(sep)[0] ?? ''
    return (
      /^trunkline\.db(?:-|$)/.test(path) ||
      isLock(path) ||
      // The id belongs to one gateway of those that share a database.
      (path === 'node.id' && store?.url !== undefined) ||
      Object.values(ownFolders).some((name) => top.startsWith(name)) ||
      others.includes(path)
    )
  })
}

/** Whether a name in the data folder is the lock of a gateway, or the journal of the lock. */
export const isLock = (name: string): boolean => /^gateway\.lock(?:-|$)/.test(name)

/** Returns the folder of the recordings. */
export const recordingsFolder = ({ dataDir, media }: Config): string =>
  resolve(media.recordings.folder ?? join(dataDir, 'recordings'))

const recordingFiles = (config: Config) => {
  const folder = recordingsFolder(config)
  const all = existsSync(folder) ? filesBelow(folder, () => false) : []
  const now = new SystemClock().now()
  const files = all.filter((path) => now - statSync(join(folder, path)).mtimeMs > restMs)
  return {
    files: files.map((path) => ({ path: `recordings/${path}`, from: join(folder, path) })),
    /** Number of recordings that may be in progress. */
    busy: all.length - files.length,
  }
}

/** Returns the paths of the regular files below a folder, relative to it, in order. Sockets are left out. */
const filesBelow = (root: string, isLeftOut: (path: string) => boolean, below = ''): readonly string[] =>
  readdirSync(join(root, below), { withFileTypes: true })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(below, entry.name)
      if (isLeftOut(path)) return []
      if (entry.isDirectory()) return filesBelow(root, isLeftOut, path)
      return entry.isFile() ? [path] : []
    })

const describe = async (
  staging: string,
  paths: readonly string[],
  facts: Pick<Manifest, 'engine' | 'schema_version' | 'has_recordings'>,
): Promise<Manifest> => {
  const sizes = paths.map((path) => statSync(join(staging, path)).size)
  const progress = new Progress('Reading the files', sum(sizes))
  const files: ArchivedFile[] = []
  for (const [index, path] of paths.entries()) {
    const sha256 = await hashOf(join(staging, path), (bytes) => progress.add(bytes))
    files.push({ path, bytes: sizes[index] ?? 0, sha256 })
  }
  progress.end()
  const made_at = new Date(new SystemClock().now()).toISOString()
  return { format: archiveFormat, release: releaseVersion(), made_at, ...facts, files }
}

const pack = async (file: string, staging: string, manifest: Manifest): Promise<void> => {
  const progress = new Progress('Writing the archive', sum(manifest.files.map(({ bytes }) => bytes)))
  await packArchive(file, staging, manifest, (bytes) => progress.add(bytes))
  progress.end()
  await inspectArchive(file)
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)

const countOf = ({ files }: Manifest, folder: string): number =>
  files.filter(({ path }) => path.startsWith(`${folder}/`)).length

const report = (archive: string, manifest: Manifest, busy: number): string => {
  const { engine, schema_version: version, has_recordings: hasRecordings } = manifest
  const recordings = hasRecordings ? `${countOf(manifest, 'recordings')} recordings` : 'no recordings'
  return [
    `${archive} is written: ${sizeText(statSync(archive).size)}.`,
    `It has the ${engine === 'sqlite' ? 'SQLite' : 'PostgreSQL'} store (version ${version}), ` +
      `${countOf(manifest, 'data')} files of the data folder, and ${recordings}.`,
    ...(busy > 0 ? [`${busy} recordings in progress are left out.`] : []),
    'It contains secret keys: keep it private. The configuration file is not in it.',
    '',
  ].join('\n')
}

const jsonReport = (file: string, { files, ...facts }: Manifest, busy: number): string =>
  `${JSON.stringify({
    file,
    bytes: statSync(file).size,
    ...facts,
    files: files.length,
    recordings_in_progress: busy,
  })}\n`
