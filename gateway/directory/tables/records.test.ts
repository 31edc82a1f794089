import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FakeClock } from '../../core/clock.ts'
import { migrate } from '../migrations/run.ts'
import { openSqliteStore, type Store } from '../store/sqlite.ts'
import { CallRows } from './calls.ts'
import { CdrRows } from './cdrs.ts'

const count = 100_000
let store: Store
let calls: CallRows
let cdrs: CdrRows

beforeAll(async () => {
  store = openSqliteStore(':memory:')
  await migrate(store, new FakeClock())
  calls = new CallRows(store)
  cdrs = new CdrRows(store)
  const numbers = sql.raw(
    `with recursive n (i) as (select 0 union all select i + 1 from n where i < ${count - 1})`,
  )
  await sql`${numbers} insert into call (id, node_id, project_id, parent_id, direction, type, from_uri, from_user, to_uri, to_user, status,
    created_at, ended_at) select printf('c%06d', i), 'node', 'p' || (i % 2), case when i % 5 = 0 then 'c' || (i / 50) end, 'inbound', 'sip',
    'sip:f' || (i % 100) || '@x', 'f' || (i % 100), 'sip:t' || (i % 100) || '@x', 't' || (i % 100),
    case when i % 50 = 0 then 'busy' else 'completed' end, i, i + 10 from n`.execute(store)
  await sql`${numbers} insert into cdr (id, kind, project_id, call_id, place, type, direction, from_uri, from_user, to_uri, to_user, carrier,
    domain, started_at, ended_at, duration_ms, answered_ms, code, record_json) select printf('c%06d', i), case when i % 4 = 0 then 'call'
    else 'leg' end, 'p' || (i % 2), 'c' || (i / 4), i % 4, 'sip', 'inbound', 'sip:f' || (i % 100) || '@x', 'f' || (i % 100),
    'sip:t' || (i % 100) || '@x', 't' || (i % 100), 'carrier' || (i % 10), 'd' || (i % 10), i, i + 10, 10, 0,
    case when i % 50 = 0 then 'busy' else 'normal' end, '{}' from n`.execute(store)
}, 60_000)
afterAll(() => store.destroy())

/**
 * Every step looks rows up by an index, in the order that is wanted, and none reads all of them or sorts
 * them.
 */
const expectByIndex = (plan: string): void => {
  expect(plan).toMatch(/^(SEARCH \w+ USING (COVERING )?INDEX \w+ \(.*\)\n?)+$/)
}

describe('100,000 calls', () => {
  const page = { number: 0, size: 50 }

  it.each([
    {},
    { fromUser: 'f1' },
    { fromUser: 'f1', fromUri: 'sip:f1@x', status: 'completed' },
    { toUser: 't1' },
    { status: 'busy' },
    { parentId: 'c7' },
    { startedFrom: 500, startedUntil: 90_000 },
    { fromUser: 'f1', startedUntil: 90_000 },
    { endedFrom: 500 },
    { endedUntil: 600 },
    { endedFrom: 500, endedUntil: 600 },
  ])('are listed by an index: %j', async (search) => {
    expectByIndex(await calls.plan('p1', { ...page, ...search }))
  })

  it('give the page that is asked for', async () => {
    const { rows, more } = await calls.list('p1', { ...page, fromUser: 'f1', number: 1, size: 3 })
    expect(rows.map(({ id }) => id)).toEqual(['c099601', 'c099501', 'c099401'])
    expect(more).toBe(true)
    expect((await calls.list('p0', { ...page, fromUser: 'f1' })).rows).toEqual([])
  })

  it('are found for removal, and by their gateway, without reading the others', async () => {
    const plan = async (text: string) => {
      const { rows } = await sql<{ detail: string }>`explain query plan ${sql.raw(text)}`.execute(store)
      return rows.map(({ detail }) => detail).join('\n')
    }
    expect(await plan('select id from call where created_at < 5 order by created_at limit 200')).toMatch(
      /^SEARCH call USING (COVERING )?INDEX call_by_created_at/,
    )
    expect(await plan('select id from cdr where started_at < 5 order by started_at limit 200')).toMatch(
      /^SEARCH cdr USING (COVERING )?INDEX cdr_by_started_at/,
    )
    expect(await plan("update call set status = 'x' where node_id = 'n' and ended_at is null")).toMatch(
      /^SEARCH call USING INDEX call_in_progress/,
    )
    expect(await plan("delete from cdr where project_id = 'p1' and call_id = 'c1'")).toMatch(
      /^SEARCH cdr USING INDEX cdr_by_project_id_call_id_place/,
    )
  })
})

describe('100,000 records', () => {
  it.each([
    {},
    { fromUser: 'f1' },
    { fromUser: 'f1', fromUri: 'sip:f1@x', toUser: 't1' },
    { toUser: 't1' },
    { carrier: 'carrier1' },
    { domain: 'd1' },
    { code: 'busy' },
    { code: 'busy', domain: 'd1' },
    { direction: 'outbound' },
    { sipStatus: 486 },
    { minDurationMs: 1_000 },
    { startedFrom: 500, startedUntil: 90_000 },
    { carrier: 'carrier1', startedFrom: 500 },
  ])('are listed by an index: %j', async (search) => {
    const wanted = { kind: 'leg', ...search } as const
    expectByIndex(await cdrs.plan('p1', wanted))
    expectByIndex(await cdrs.plan('p1', wanted, { startedAt: 50_000, id: 'c050000' }))
  })

  it('are looked at in portions, where few of them are asked for', async () => {
    const search = { kind: 'leg', minDurationMs: 1_000 } as const
    let portions = 0
    let after = (await cdrs.part('p1', search, 50)).next
    while (after) {
      portions++
      after = (await cdrs.part('p1', search, 50, after)).next
    }
    // 50,000 legs of this project, 2,001 at a time.
    expect(portions).toBe(24)
  })

  it('give the page after a place', async () => {
    const { rows, next } = await cdrs.part('p1', { kind: 'leg', fromUser: 'f1' }, 2, {
      startedAt: 99_601,
      id: 'c099601',
    })
    expect(rows.map(({ id }) => id)).toEqual(['c099501', 'c099401'])
    expect(next).toEqual({ startedAt: 99_401, id: 'c099401' })
  })
})

it.each([
  [
    "project_id = 'p' and call_id = 'c' order by started_at desc, id desc limit 51",
    'project_id_call_id_started_at_id',
  ],
  [
    "project_id = 'p' and started_at < 5 order by started_at desc, id desc limit 51",
    'project_id_started_at_id',
  ],
  [
    "node_id = 'n' and ended_at is not null and started_at < 5 order by started_at, id limit 100",
    'node_id_started_at_id',
  ],
])('recordings are listed by an index: %s', async (text, index) => {
  const wanted = sql`explain query plan select * from recording where ${sql.raw(text)}`
  const { rows } = await wanted.execute(store)
  const plan = (rows as { detail: string }[]).map(({ detail }) => detail).join('\n')
  expectByIndex(plan)
  expect(plan).toContain(`recording_by_${index} `)
})
