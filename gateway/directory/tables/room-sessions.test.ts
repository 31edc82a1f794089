import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FakeClock } from '../../core/clock.ts'
import { migrate } from '../migrations/run.ts'
import { openSqliteStore, type Store } from '../store/sqlite.ts'
import { RoomSessionRows } from './room-sessions.ts'

const count = 20_000
let store: Store
let rows: RoomSessionRows

beforeAll(async () => {
  store = openSqliteStore(':memory:')
  await migrate(store, new FakeClock())
  rows = new RoomSessionRows(store)
  await sql`with recursive n (i) as (select 0 union all select i + 1 from n where i < ${count - 1})
    insert into room_session (id, node_id, project_id, room_id, name, display_name, settings_json, locked,
    layout, members, present_members, max_members, events, started_at, updated_at, ended_at)
    select printf('s%05d', i), 'node', 'p' || (i % 2), 'r' || (i % 100), 'room-' || (i % 1000), '', '{}', 0,
    '5up', 1, 0, 1, 4, i, i, case when i % 1000 <> 0 then i end from n`.execute(store)
})
afterAll(() => store.destroy())

describe('20,000 sessions of rooms', () => {
  it.each([
    {},
    { roomId: 'r2' },
    { name: 'room-2' },
    { isInProgress: true },
    { isInProgress: false },
    { roomId: 'r2', isInProgress: false },
    { startedFrom: 500, startedUntil: 9_000 },
  ])('are listed by an index: %j', async (search) => {
    expect(await rows.plan('p0', search)).toMatch(
      /^SEARCH room_session USING INDEX room_session_\w+ \(project_id=\?.*\)$/,
    )
  })

  it('are found by a part of the name, in portions', async () => {
    const search = { partOfName: 'OM-98' }
    const found = await rows.list('p0', search, { number: 2, size: 50 })
    // Of 1,000 names, 98, 980, 982 and so on up to 988 belong to this project.
    expect([found.rows.length, found.more]).toEqual([20, false])
    expect(found.rows.map(({ id }) => id).slice(-2)).toEqual(['s00980', 's00098'])
    expect((await rows.list('p0', search, { number: 0, size: 119 })).more).toBe(true)
    expect((await rows.list('p1', { partOfName: 'om-98 ' }, { number: 0, size: 1 })).rows).toEqual([])
  })

  it('are found for removal and by their gateway, without reading the others', async () => {
    const plan = async (text: string) => {
      const { rows: steps } = await sql<{ detail: string }>`explain query plan ${sql.raw(text)}`.execute(
        store,
      )
      return steps.map(({ detail }) => detail).join('\n')
    }
    for (const [table, column] of [
      ['room_session', 'ended_at'],
      ['room_member', 'left_at'],
      ['room_event', 'created_at'],
    ])
      expect(
        await plan(`select id from ${table} where ${column} < 5 order by ${column} limit 200`),
      ).toContain(`${table}_by_${column}`)
    expect(await plan("select id from room_session where node_id = 'n' and ended_at is null")).toContain(
      'room_session_in_progress',
    )
    expect(await plan("select id from room_event where session_id = 's' order by place")).toMatch(
      /^SEARCH room_event USING (COVERING )?INDEX room_event_by_session_id_place [^\n]*$/,
    )
    expect(await plan("select id from room_member where session_id = 's' order by joined_at, id")).toMatch(
      /^SEARCH room_member USING (COVERING )?INDEX room_member_by_session_id_joined_at_id [^\n]*$/,
    )
  })
})
