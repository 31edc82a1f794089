import { join } from 'node:path'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { FakeClock } from '../core/clock.ts'
import { migrations } from './migrations/list.ts'
import type { Migration } from './migrations/migration.ts'
import { migrate, missingSteps } from './migrations/run.ts'
import { openSqliteStore } from './store/sqlite.ts'
import { config, TestStore } from './testing/directories.ts'

const testStore = new TestStore()
const { open, query } = testStore

describe('the store', () => {
  it('records the migrations that ran and runs none of them twice', async () => {
    ;(await open()).close()
    ;(await open()).close()
    expect(query('select version from schema_version')).toEqual(
      migrations.map((_, index) => ({ version: index + 1 })),
    )
  })

  it('runs a later step once, on a store with the steps before it', async () => {
    ;(await open()).close()
    query("insert into project values ('p1', 'one', 1)")
    const later: Migration = {
      name: 'notes of projects',
      up: async (db, now) => {
        await db.schema.alterTable('project').addColumn('note', 'text').execute()
        await sql`update project set note = ${`added at ${now}`}`.execute(db)
      },
    }
    const clock = new FakeClock(7)
    const store = openSqliteStore(testStore.file)
    const steps = [...migrations, later]
    expect(await missingSteps(store, steps)).toEqual(['notes of projects'])
    expect(await migrate(store, clock, undefined, steps)).toBe(steps.length)
    expect(await migrate(store, clock, undefined, steps)).toBe(steps.length)
    expect(await missingSteps(store, steps)).toEqual([])
    await store.destroy()
    expect(query("select note from project where id = 'p1'")).toEqual([{ note: 'added at 7' }])
    expect(query('select version, name, applied_at from schema_version').at(-1)).toEqual({
      version: steps.length,
      name: 'notes of projects',
      applied_at: 7,
    })
  })

  it('keeps the settings of voice agents as their first version', async () => {
    const store = openSqliteStore(testStore.file)
    const clock = new FakeClock(7)
    const before = migrations.slice(
      0,
      migrations.findIndex(({ name }) => name === 'versions of voice agents'),
    )
    await migrate(store, clock, undefined, before)
    query("insert into project values ('p1', 'one', 1)")
    const insert = 'insert into resource (id, project_id, type, display_name, details_json, managed_by_file,'
    const details = JSON.stringify({ settings: { prompt: 'Hi' } })
    for (const [id, type, isManaged] of [
      ['a1', 'ai_agent', 0],
      ['a2', 'ai_agent', 1],
      ['s1', 'sip_gateway', 0],
    ] as const)
      query(`${insert} created_at, updated_at) values
        ('${id}', 'p1', '${type}', 'x', '${details}', ${isManaged}, 1, 1)`)
    await migrate(store, clock)
    await store.destroy()
    expect(
      query('select resource_id, version, settings_json, created_at, is_current from agent_version'),
    ).toEqual([
      { resource_id: 'a1', version: 1, settings_json: '{"prompt":"Hi"}', created_at: 7, is_current: 1 },
    ])
  })

  it('leaves the store as it was if a later step fails', async () => {
    ;(await open()).close()
    const faulty: Migration = {
      name: 'faulty',
      up: async (db) => {
        await db.schema.alterTable('project').addColumn('note', 'text').execute()
        throw new Error('no further')
      },
    }
    const store = openSqliteStore(testStore.file)
    const migrated = migrate(store, new FakeClock(), undefined, [...migrations, faulty])
    await expect(migrated).rejects.toThrow('no further')
    await store.destroy()
    expect(query("select name from pragma_table_info('project') where name = 'note'")).toEqual([])
    expect(query('select version from schema_version')).toHaveLength(migrations.length)
  })

  it('says what to do with a store of a development version', async () => {
    ;(await open()).close()
    query("update schema_version set name = 'domain apps, resources, subscribers and addresses'")
    await expect(open()).rejects.toThrow(
      /by a development version before the first release.* Move the SQLite file/,
    )
    const tables = query("select name from sqlite_master where type = 'table'")
    expect(tables).toContainEqual({ name: 'project' })
  })

  it('refuses a store of a later release', async () => {
    ;(await open()).close()
    query("insert into schema_version values (99, 'later', 1)")
    await expect(open()).rejects.toThrow(/has version 99/)
  })

  it('says which file cannot be opened', async () => {
    await expect(open(config(), join(testStore.folder, 'none', 'x.sqlite'))).rejects.toThrow(
      /none\/x\.sqlite cannot be opened/,
    )
  })

  it('closes more than once without harm', async () => {
    const directory = await open()
    directory.close()
    directory.close()
  })
})
