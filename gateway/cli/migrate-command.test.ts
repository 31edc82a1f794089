import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { loadConfig } from '../../config/load.ts'
import { takeDataFolder } from '../cluster/data-folder.ts'
import { migrations } from '../directory/migrations/list.ts'
import { migrateStore } from './migrate-command.ts'

let folder: string
let out: string
let err: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-migrate-'))
  out = ''
  err = ''
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    err += text
    return true
  })
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    out += text
    return true
  })
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(folder, { recursive: true })
})

const run = async (check: boolean): Promise<{ readonly code: number; readonly out: string }> => {
  const file = join(folder, 'trunkline.yaml')
  writeFileSync(file, 'dataDir: data')
  out = ''
  return { code: await migrateStore(loadConfig(file, {}), { check }), out }
}

it('lists the migrations that a store needs, and carries them out', async () => {
  const first = migrations[0]?.name ?? ''
  const lacking = await run(true)
  expect(lacking.code).toBe(1)
  expect(lacking.out).toContain(`needs these migrations:\n  ${first}\n`)
  expect((await run(true)).code).toBe(1)
  const brought = await run(false)
  expect(brought.code).toBe(0)
  expect(err).toContain(`Step 1 of ${migrations.length}: ${first}\n`)
  expect(brought.out).toContain(`was migrated to version ${migrations.length}:\n  ${first}\n`)
  expect(await run(true)).toMatchObject({
    code: 0,
    out: expect.stringContaining('has the current version'),
  })
})

it('leaves alone a store of a later release', async () => {
  await run(false)
  const database = new DatabaseSync(join(folder, 'data', 'trunkline.db'))
  database.exec("insert into schema_version values (999, 'later', 1)")
  database.close()
  await expect(run(false)).rejects.toThrow(/has version 999/)
})

it('does nothing under a gateway that runs', async () => {
  await run(true)
  const taken = takeDataFolder(join(folder, 'data'))
  await expect(run(false)).rejects.toThrow(/Another gateway runs with the data folder/)
  expect((await run(true)).code).toBe(1)
  taken.release()
  expect((await run(false)).code).toBe(0)
})

it('is described for programs', async () => {
  const file = join(folder, 'trunkline.yaml')
  writeFileSync(file, 'dataDir: data')
  const config = loadConfig(file, {})
  const migrate = async (check: boolean) => {
    out = ''
    const code = await migrateStore(config, { check, json: true })
    return { code, ...JSON.parse(out) }
  }
  const missing = migrations.map(({ name }) => name)
  const store = join(folder, 'data', 'trunkline.db')
  expect(await migrate(true)).toEqual({
    code: 1,
    store,
    version: missing.length,
    missing,
    is_migrated: false,
  })
  expect(await migrate(false)).toMatchObject({ code: 0, missing, is_migrated: true })
  expect(await migrate(false)).toMatchObject({ code: 0, missing: [], is_migrated: false })
})
