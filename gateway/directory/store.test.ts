import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { migrations } from './migrations/list.ts'
import { config, everythingOf, TestStore } from './testing/directories.ts'

const testStore = new TestStore()
const { open, query } = testStore

/** A store as the first release left it. */
const firstRelease = `
  create table schema_version (version integer primary key, name text not null, applied_at bigint not null);
  create table domain_app (id text primary key, project_id text not null, domain text not null unique, allow_json text,
    handler_json text, max_calls integer, managed_by_file integer not null, created_at bigint not null);
  create table resource (id text primary key, project_id text not null,
    type text not null check (type in ('subscriber', 'app')), display_name text not null, handler_json text,
    managed_by_file integer not null, created_at bigint not null);
  create table subscriber (resource_id text primary key references resource (id) on delete cascade,
    email text not null unique, password_hash text not null, password_mark text not null, first_name text not null,
    last_name text not null, may_dial_out integer not null);
  create table address (id text primary key,
    resource_id text not null unique references resource (id) on delete cascade, context text not null,
    name text not null, created_at bigint not null, constraint address_context_name unique (context, name));
  insert into schema_version values (1, 'first', 1);
  insert into domain_app values ('d1', 'project-1', 'demo.example', null, null, null, 1, 1);
  insert into resource values ('r1', 'project-1', 'subscriber', 'alice', null, 1, 1);
  insert into resource values ('r2', 'project-1', 'app', 'mine',
    '{"kind":"xml","url":"https://a.example/x","fallbackUrl":"https://b.example/x"}', 0, 1);
  insert into resource values ('r3', 'project-1', 'app', 'flow', '{"kind":"flow","document":"{}","name":"f.yaml"}', 0, 1);
  insert into subscriber values ('r1', 'alice@example.test', 'hash', 'mark', '', '', 1);
  insert into address values ('a1', 'r1', 'public', 'alice', 1);
  insert into address values ('a2', 'r2', 'public', 'mine', 1);
  insert into address values ('a3', 'r3', 'public', 'flow', 1);`

describe('the store', () => {
  it('records the migrations that ran and runs none of them twice', async () => {
    ;(await open()).close()
    ;(await open()).close()
    expect(query('select version from schema_version')).toEqual(
      migrations.map((_, index) => ({ version: index + 1 })),
    )
  })

  it('takes over a store of the first release, with its ids, passwords and references', async () => {
    const before = new DatabaseSync(testStore.file)
    before.exec(firstRelease)
    before.close()
    const directory = await open()
    expect(everythingOf(directory).map(({ id, address }) => `${address.id} ${id} ${address.name}`)).toEqual(
      expect.arrayContaining(['a1 r1 alice', 'a2 r2 mine']),
    )
    expect(directory.domainApp('demo.example')).toMatchObject({ id: 'd1', projectId: 'project-1' })
    expect(directory.domainApp('demo.example')?.challenge).toBeUndefined()
    expect(directory.resources.find('project-1', 'cxml_webhook', 'r2')?.details).toEqual({
      url: 'https://a.example/x',
      method: 'POST',
      fallbackUrl: 'https://b.example/x',
    })
    expect(directory.resources.find('project-1', 'call_flow', 'r3')?.details).toEqual({
      flow: '{}',
      declaredAt: 'f.yaml',
      version: 1,
    })
    expect(query("select resource_id from subscriber where email = 'alice@example.test'")).toEqual([
      { resource_id: 'r1' },
    ])
    directory.close()
    const after = new DatabaseSync(testStore.file)
    after.exec('pragma foreign_keys = on')
    expect(after.prepare('pragma foreign_key_check').all()).toEqual([])
    after.exec("delete from resource where id = 'r1'")
    expect(after.prepare("select * from address where id = 'a1'").all()).toEqual([])
    expect(after.prepare("select * from subscriber where resource_id = 'r1'").all()).toEqual([])
    after.close()
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
