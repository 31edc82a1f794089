import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import * as tar from 'tar'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { loadConfig } from '../../../config/load.ts'
import type { Config } from '../../../config/types.ts'
import { takeDataFolder } from '../../cluster/data-folder.ts'
import { migrations } from '../../directory/migrations/list.ts'
import { describeEngines } from '../../directory/testing/engines.ts'
import { createBackup } from './backup-command.ts'
import type { Manifest } from './backup-manifest.ts'
import { restoreBackup } from './restore-command.ts'

let folder: string
let archive: string
let out: string
let err: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-backup-'))
  archive = join(folder, 'backup.tar.gz')
  out = ''
  err = ''
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    out += text
    return true
  })
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    err += text
    return true
  })
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(folder, { recursive: true })
})

const configOf = (dataDir: string, more = ''): Config => {
  const file = join(folder, `${dataDir}.yaml`)
  writeFileSync(file, `dataDir: ${dataDir}\n${more}`)
  return loadConfig(file, {})
}

const backup = (config: Config, recordings = false): Promise<number> =>
  createBackup(config, archive, { recordings, json: false })

const restore = (config: Config, options: { check?: boolean; force?: boolean } = {}): Promise<number> =>
  restoreBackup(config, archive, { check: false, force: false, ...options })

/** Writes a file below the test's folder; an old one unless `isFresh`. */
const write = (path: string, text: string, isFresh = false): void => {
  const file = join(folder, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  if (!isFresh) utimesSync(file, 1_700_000_000, 1_700_000_000)
}

/** A data folder with the least that a gateway leaves. */
const smallData = (version = migrations.length): Config => {
  write('data/secret.key', 'k'.repeat(32))
  const database = new DatabaseSync(join(folder, 'data', 'trunkline.db'))
  database.exec('create table schema_version (version integer primary key, name text, applied_at integer)')
  for (let step = 1; step <= version; step++)
    database.exec(`insert into schema_version values (${step}, 'step', 0)`)
  database.exec("create table note (text text); insert into note values ('kept')")
  database.close()
  return configOf('data')
}

describeEngines('a backup', (engine) => {
  const dataOf = (name: string): Config => {
    const { url } = engine.place
    return configOf(name, url === undefined ? '' : `store: { url: "${url}" }`)
  }

  it('of a store in use is restored with its keys, certificates and recordings', async () => {
    const config = dataOf('data')
    mkdirSync(config.dataDir)
    const running = takeDataFolder(config.dataDir)
    const directory = await engine.open(engine.several ? {} : { file: join(config.dataDir, 'trunkline.db') })
    await directory.resources.create({
      projectId: 'project-1',
      type: 'swml_script',
      displayName: 'Menu',
      context: 'public',
      name: 'menu',
      details: { url: 'https://app.example/menu' },
    } as never)
    write('data/secret.key', 'k'.repeat(32))
    write('data/node.id', 'node-1')
    write('data/oauth-keys/one.pem', 'pem')
    write('data/recordings/demo/done.wav', 'audio')
    write('data/recordings/demo/running.wav', 'audi', true)
    expect(await backup(config, true)).toBe(0)
    expect(statSync(archive).mode & 0o777).toBe(0o600)
    expect(out).toContain('1 recordings.')
    expect(out).toContain('1 recordings in progress are left out.')
    expect(readdirSync(config.dataDir).filter((name) => name.startsWith('backup-'))).toEqual([])
    await directory.close()
    running.release()

    const next = dataOf('next')
    if (engine.several) {
      expect(await restore(next)).toBe(1)
      expect(err).toContain('The database has tables of Trunkline. Use --force')
    }
    expect(await restore(next, { force: engine.several })).toBe(0)
    const names = ['oauth-keys/one.pem', 'secret.key', 'recordings/demo/done.wav']
    for (const name of names)
      expect(readFileSync(join(next.dataDir, name), 'utf8')).toBe(
        readFileSync(join(config.dataDir, name), 'utf8'),
      )
    expect(existsSync(join(next.dataDir, 'recordings/demo/running.wav'))).toBe(false)
    expect(existsSync(join(next.dataDir, 'node.id'))).toBe(!engine.several)
    expect(readdirSync(next.dataDir).filter((name) => name.startsWith('restoring-'))).toEqual([])
    const restored = await engine.open(engine.several ? {} : { file: join(next.dataDir, 'trunkline.db') })
    expect(restored.resources.findByAddress('project-1', 'public', 'menu')).toBeDefined()
    await restored.close()
  })
})

describe('a restore', () => {
  beforeEach(async () => {
    expect(await backup(smallData())).toBe(0)
    out = ''
  })

  it('refuses a folder with data, and moves the data aside by force', async () => {
    const config = configOf('data')
    write('data/secret.key', 'another')
    expect(await restore(config)).toBe(1)
    expect(err).toContain(`The data folder ${config.dataDir} is not empty. Use --force`)
    expect(readFileSync(join(config.dataDir, 'secret.key'), 'utf8')).toBe('another')
    expect(await restore(config, { force: true })).toBe(0)
    const aside = /The former data is in (.*)\.\n/.exec(out)?.[1] ?? ''
    expect(readFileSync(join(aside, 'secret.key'), 'utf8')).toBe('another')
    expect(existsSync(join(aside, 'trunkline.db'))).toBe(true)
    expect(readFileSync(join(config.dataDir, 'secret.key'), 'utf8')).toBe('k'.repeat(32))
    // What was moved aside is in no later backup.
    rmSync(archive)
    expect(await backup(config)).toBe(0)
    expect(out).toContain('1 files of the data folder')
  })

  it('changes nothing while a gateway runs', async () => {
    const config = configOf('next')
    mkdirSync(config.dataDir)
    const running = takeDataFolder(config.dataDir)
    await expect(restore(config)).rejects.toThrow('Another gateway runs')
    expect(await restore(config, { check: true })).toBe(0)
    expect(out).toContain(`${archive} is valid.`)
    running.release()
    expect(readdirSync(config.dataDir)).toEqual(['gateway.lock'])
  })

  it('is described for programs', async () => {
    const facts = { archive, engine: 'sqlite', schema_version: migrations.length, files: 2 }
    await restoreBackup(configOf('next'), archive, { check: true, force: false, json: true })
    expect(JSON.parse(out)).toMatchObject({ ...facts, is_restored: false })
    out = ''
    await restoreBackup(configOf('next'), archive, { check: false, force: false, json: true })
    expect(JSON.parse(out)).toMatchObject({ ...facts, is_restored: true, former_data: null })
  })

  it('leaves no data folder behind after a check', async () => {
    const config = configOf('next')
    expect(await restore(config, { check: true })).toBe(0)
    expect(existsSync(config.dataDir)).toBe(false)
  })

  it('names a data folder that cannot be created', async () => {
    const config = { ...configOf('next'), dataDir: '/proc/trunkline/data' }
    await expect(restore(config)).rejects.toThrow('/proc is a system folder')
  })

  it('needs the engine of the archive', async () => {
    expect(await restore(configOf('next', 'store: { url: "postgres://x@localhost/x" }'))).toBe(1)
    expect(err).toContain('The archive has a SQLite store, but the configuration has store.url.')
  })
})

describe('a backup', () => {
  it('does not overwrite an archive', async () => {
    writeFileSync(archive, 'mine')
    expect(await backup(smallData())).toBe(1)
    expect(readFileSync(archive, 'utf8')).toBe('mine')
  })

  it('names a folder that cannot be created', async () => {
    const options = { recordings: false, json: false }
    await expect(createBackup(smallData(), '/proc/trunkline/x.tar.gz', options)).rejects.toThrow(
      '/proc is a system folder',
    )
  })

  it('says that the store is missing', async () => {
    mkdirSync(join(folder, 'data'))
    await expect(backup(configOf('data'))).rejects.toThrow('There is no store')
    expect(existsSync(archive)).toBe(false)
    expect(readdirSync(join(folder, 'data'))).toEqual([])
  })

  it('is described for programs', async () => {
    const config = smallData()
    expect(await createBackup(config, archive, { recordings: false, json: true })).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ engine: 'sqlite', schema_version: migrations.length, files: 2 })
  })
})

describe('an invalid archive', () => {
  /** Makes an archive by hand of the files below `made`, in this order. */
  const make = async (paths: readonly string[]): Promise<void> => {
    const cwd = join(folder, 'made')
    await tar.create({ file: archive, cwd, gzip: true, preservePaths: true }, [...paths])
  }

  const manifestOf = (files: Readonly<Record<string, string>>, more: Partial<Manifest> = {}): string =>
    JSON.stringify({
      format: 1,
      release: '0.1.0',
      made_at: '2026-01-01T00:00:00Z',
      engine: 'sqlite',
      schema_version: migrations.length,
      has_recordings: false,
      files: Object.entries(files).map(([path, text]) => ({
        path,
        bytes: text.length,
        sha256: createHash('sha256').update(text).digest('hex'),
      })),
      ...more,
    })

  const refused = async (reason: string): Promise<void> => {
    const config = configOf('next')
    expect(await restore(config)).toBe(1)
    expect(err).toContain(reason)
    expect(readdirSync(config.dataDir)).toEqual(['gateway.lock'])
    expect(readdirSync(folder).filter((name) => name.startsWith('evil'))).toEqual([])
  }

  const store = { 'store/trunkline.db': 'text' }

  it.each([
    ['no archive at all', () => writeFileSync(archive, 'no archive'), 'cannot be read as an archive'],
    ['cut off', () => cut(0.6), 'cannot be read as an archive'],
    ['with a changed byte', () => flip(), 'cannot be read as an archive'],
  ])('is refused: %s', async (_, damage, reason) => {
    expect(await backup(smallData())).toBe(0)
    damage()
    await refused(reason)
  })

  const cut = (part: number): void => {
    const bytes = readFileSync(archive)
    writeFileSync(archive, bytes.subarray(0, Math.floor(bytes.length * part)))
  }

  const flip = (): void => {
    const bytes = readFileSync(archive)
    const middle = Math.floor(bytes.length / 2)
    bytes[middle] = (bytes[middle] ?? 0) ^ 0xff
    writeFileSync(archive, bytes)
  }

  it('is refused: of another program', async () => {
    write('made/hello.txt', 'hello')
    await make(['hello.txt'])
    await refused('The archive is no backup of Trunkline.')
  })

  it.each(['../evil.txt', 'data/../../evil.txt', '/tmp/evil.txt', 'data\\..\\evil.txt'])(
    'is refused: with the path %s in its manifest',
    async (path) => {
      write('made/manifest.json', manifestOf({ ...store, [path]: 'x' }))
      write('made/store/trunkline.db', 'text')
      await make(['manifest.json', 'store/trunkline.db'])
      await refused('The manifest of the archive is malformed.')
    },
  )

  it('is refused: with an entry outside of the folder', async () => {
    write('made/manifest.json', manifestOf(store))
    write('made/store/trunkline.db', 'text')
    write('evil/evil.txt', 'x')
    await make(['manifest.json', 'store/trunkline.db', '../evil/evil.txt'])
    rmSync(join(folder, 'evil'), { recursive: true })
    await refused('The archive has the entry "../evil/evil.txt", which its manifest does not list.')
  })

  it('is refused: with a symbolic link, even one that the manifest lists', async () => {
    write('made/manifest.json', manifestOf({ ...store, 'data/link': '' }))
    write('made/store/trunkline.db', 'text')
    mkdirSync(join(folder, 'made/data'))
    symlinkSync('/etc', join(folder, 'made/data/link'))
    await make(['manifest.json', 'store/trunkline.db', 'data/link'])
    await refused('The archive has the entry "data/link", which is no file (SymbolicLink).')
  })

  it('is refused: with a file whose content differs from its checksum', async () => {
    write('made/manifest.json', manifestOf(store))
    write('made/store/trunkline.db', 'texT')
    await make(['manifest.json', 'store/trunkline.db'])
    await refused('"store/trunkline.db" in the archive differs from its checksum.')
  })

  it('is refused: with a store that is none', async () => {
    write('made/manifest.json', manifestOf(store))
    write('made/store/trunkline.db', 'text')
    await make(['manifest.json', 'store/trunkline.db'])
    await refused('is damaged')
  })

  it('is refused: without a file of its manifest', async () => {
    write('made/manifest.json', manifestOf({ ...store, 'data/secret.key': 'x' }))
    write('made/store/trunkline.db', 'text')
    await make(['manifest.json', 'store/trunkline.db'])
    await refused('The archive lacks "data/secret.key".')
  })

  it('is refused: of a later release', async () => {
    expect(await backup(smallData(migrations.length + 1))).toBe(0)
    await refused(`its store has version ${migrations.length + 1}; this release knows versions up to`)
  })

  it('is refused: of a later format', async () => {
    write('made/manifest.json', manifestOf(store, { format: 2, release: '9.0.0' }))
    write('made/store/trunkline.db', 'text')
    await make(['manifest.json', 'store/trunkline.db'])
    await refused('A later release (9.0.0) made the archive')
  })
})
