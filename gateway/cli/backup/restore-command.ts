import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Config } from '../../../config/types.ts'
import { takeDataFolder } from '../../cluster/data-folder.ts'
import { SystemClock } from '../../core/clock.ts'
import { makeFolder } from '../../core/make-folder.ts'
import { migrations } from '../../directory/migrations/list.ts'
import { makeOwnDataFolder } from '../own-data-folder.ts'
import { Progress } from '../progress.ts'
import { inspectArchive, unpackArchive } from './backup-archive.ts'
import { isLock, ownFolders, recordingsFolder } from './backup-command.ts'
import { ArchiveInvalid, type Manifest, storePath } from './backup-manifest.ts'
import { postgresVersion, restorePostgres } from './postgres-dump.ts'
import { checkSqlite } from './sqlite-copy.ts'
import { withStaging } from './staging.ts'

/** Options of `trunkline restore`. */
export interface RestoreOptions {
  /** Verifies the archive, and changes nothing. */
  readonly check: boolean
  /** Moves present data aside. */
  readonly force: boolean
  /** Prints the result as JSON. */
  readonly json?: boolean
}

/**
 * `trunkline restore`: verifies an archive of `trunkline backup`, and puts its files into the data folder and
 * its store into the database. Returns the exit code: 1 if the archive is invalid or data would be
 * overwritten. Throws if a gateway runs in the data folder. Until every file is verified, nothing changes.
 */
export const restoreBackup = async (
  config: Config,
  archive: string,
  options: RestoreOptions,
): Promise<number> => {
  const { check } = options
  const isNew = !existsSync(config.dataDir)
  makeOwnDataFolder(config.dataDir)
  const lock = check ? undefined : takeDataFolder(config.dataDir)
  try {
    return await withStaging(join(config.dataDir, ownFolders.restoring), (staging) =>
      restoreIn(staging, config, archive, options),
    )
  } catch (error) {
    if (error instanceof ArchiveInvalid) return refuse(error.message)
    throw error
  } finally {
    lock?.release()
    if (check && isNew) rmdirSync(config.dataDir)
  }
}

const restoreIn = async (
  staging: string,
  config: Config,
  archive: string,
  { check, force, json = false }: RestoreOptions,
): Promise<number> => {
  const manifest = await inspectArchive(archive)
  checkFits(manifest, config)
  await verify(archive, staging, manifest)
  if (check) {
    process.stdout.write(
      json ? jsonReport(archive, manifest) : `${archive} is valid.\n${describeArchive(manifest)}`,
    )
    return 0
  }
  const present = await presentData(config, manifest)
  if (present !== undefined && !force) return refuse(`${present} Use --force to replace it.`)
  const aside = await putInPlace(config, staging, manifest, present !== undefined)
  if (json) {
    process.stdout.write(jsonReport(archive, manifest, { former_data: aside ?? null }))
    return 0
  }
  process.stdout.write(`${archive} is restored.\n${describeArchive(manifest)}`)
  if (aside !== undefined) process.stdout.write(`The former data is in ${aside}.\n`)
  return 0
}

const refuse = (reason: string): number => {
  process.stderr.write(`trunkline: ${reason}\n`)
  return 1
}

/** Throws if this release or this configuration cannot use the archive. */
const checkFits = ({ engine, schema_version: version, release }: Manifest, { store }: Config): void => {
  if (version > migrations.length)
    throw new ArchiveInvalid(
      `Release ${release} made the archive, and its store has version ${version}; ` +
        `this release knows versions up to ${migrations.length}. Install that release or a later one.`,
    )
  const configured = store?.url === undefined ? 'sqlite' : 'postgres'
  if (engine !== configured)
    throw new ArchiveInvalid(
      engine === 'sqlite'
        ? 'The archive has a SQLite store, but the configuration has store.url.'
        : 'The archive has a PostgreSQL store, but the configuration has no store.url.',
    )
}

const verify = async (archive: string, staging: string, manifest: Manifest): Promise<void> => {
  const total = manifest.files.reduce((sum, { bytes }) => sum + bytes, 0)
  const progress = new Progress('Verifying the archive', total)
  await unpackArchive(archive, staging, manifest, (bytes) => progress.add(bytes))
  progress.end()
  if (manifest.engine === 'postgres') return
  const version = readVersion(join(staging, storePath.sqlite))
  if (version !== manifest.schema_version)
    throw new ArchiveInvalid(
      `The store in the archive has version ${version}, and its manifest says ${manifest.schema_version}.`,
    )
}

const readVersion = (file: string): number => {
  try {
    return checkSqlite(file)
  } catch (error) {
    throw new ArchiveInvalid(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

/** Returns a sentence about data that a restore would overwrite; undefined if nothing would be. */
const presentData = async (
  config: Config,
  { has_recordings: hasRecordings }: Manifest,
): Promise<string | undefined> => {
  const { dataDir, store } = config
  if (presentFiles(config).length > 0) return `The data folder ${dataDir} is not empty.`
  const recordings = recordingsFolder(config)
  if (hasRecordings && existsSync(recordings) && readdirSync(recordings).length > 0)
    return `The folder of recordings ${recordings} is not empty.`
  if (store?.url !== undefined && (await postgresVersion(store.url)) !== undefined)
    return 'The database has tables of Trunkline.'
  return undefined
}

/** Returns the names in the data folder that belong to the data: not the recordings, and no working files. */
const presentFiles = (config: Config): readonly string[] =>
  readdirSync(config.dataDir).filter(
    (name) =>
      !isLock(name) &&
      name !== 'control.sock' &&
      join(config.dataDir, name) !== recordingsFolder(config) &&
      !Object.values(ownFolders).some((own) => name.startsWith(own)),
  )

/**
 * Moves the verified files into place, the SQLite store last. Returns the folder with the former data. The
 * data folder itself stays, as it may be a mount point.
 */
const putInPlace = async (
  config: Config,
  staging: string,
  manifest: Manifest,
  isReplacing: boolean,
): Promise<string | undefined> => {
  const { dataDir, store } = config
  const recordings = recordingsFolder(config)
  const time = new Date(new SystemClock().now()).toISOString().replaceAll(/[:.]/g, '-')
  const aside = isReplacing ? join(dataDir, `${ownFolders.aside}${time}`) : undefined
  // The database comes first: it takes the whole dump or nothing, and may fail.
  if (store?.url !== undefined)
    await restorePostgres(store.url, join(staging, storePath.postgres), isReplacing)
  if (aside !== undefined) {
    mkdirSync(aside, { mode: 0o700 })
    for (const name of presentFiles(config)) renameSync(join(dataDir, name), join(aside, name))
    if (manifest.has_recordings && existsSync(recordings)) renameSync(recordings, `${recordings}.${time}`)
  }
  const places = { data: dataDir, store: dataDir, recordings } as const
  const storeLast = manifest.files.toSorted((a, b) => Number(isOfStore(a.path)) - Number(isOfStore(b.path)))
  for (const { path } of storeLast) {
    if (path === storePath.postgres) continue
    const [folder = 'data', ...rest] = path.split('/')
    const to = join(places[folder as keyof typeof places], ...rest)
    makeFolder(dirname(to))
    chmodSync(join(staging, path), 0o600)
    moveFile(join(staging, path), to)
  }
  return aside
}

const isOfStore = (path: string): boolean => path.startsWith('store/')

/** Moves a file, also to another file system. */
const moveFile = (from: string, to: string): void => {
  try {
    renameSync(from, to)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EXDEV')) throw error
    copyFileSync(from, to)
  }
}

const describeArchive = ({
  made_at: madeAt,
  release,
  schema_version: version,
  files,
  ...facts
}: Manifest): string =>
  `Release ${release} made it at ${madeAt}. Its store has version ${version}; ` +
  `it has ${files.length} files, ${facts.has_recordings ? 'with' : 'without'} recordings.\n`

/** Returns the report of `restore --json`. `former_data` is only in that of a restore, not of a check. */
const jsonReport = (
  archive: string,
  { files, ...facts }: Manifest,
  outcome: { readonly former_data?: string | null } = {},
): string => {
  const is_restored = 'former_data' in outcome
  return `${JSON.stringify({ archive, is_restored, ...facts, files: files.length, ...outcome })}\n`
}
