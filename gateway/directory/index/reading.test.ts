import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { FakeClock } from '../../core/clock.ts'
import { migrate } from '../migrations/run.ts'
import { openSqliteStore, type Store } from '../store/sqlite.ts'
import { Memory } from './memory.ts'

const count = 5_001

/** Rooms that were made one after the other, by ids in no order. */
const fill = async (store: Store): Promise<void> => {
  await store.insertInto('project').values({ id: 'p', name: 'p', created_at: 0 }).execute()
  await store.transaction().execute(async (write) => {
    for (let i = 0; i < count; i++) {
      const id = randomUUID()
      const times = { created_at: i, updated_at: i }
      const room = { id, project_id: 'p', type: 'room' as const, display_name: `${i}`, details_json: '{}' }
      await write
        .insertInto('resource')
        .values({ ...room, ...times, managed_by_file: 0 })
        .execute()
      const address = { project_id: 'p', context: 'public', name: `room-${i}`, created_at: i }
      await write
        .insertInto('address')
        .values({ id: randomUUID(), resource_id: id, ...address })
        .execute()
    }
  })
}

it('reads very many in their order, and lets others work in between', async () => {
  const store = openSqliteStore(':memory:')
  await migrate(store, new FakeClock())
  await fill(store)
  const memory = new Memory()
  let turns = 0
  let over = false
  const turn = () => {
    turns++
    if (!over) setImmediate(turn)
  }
  setImmediate(turn)
  await memory.readAll(store)
  over = true
  // Two portions are read, and two put in place, before the last one.
  expect(turns).toBeGreaterThanOrEqual(4)
  const names = [...memory.contents.ofProject('p')].map(({ resource }) => resource.displayName)
  expect(names).toEqual(Array.from({ length: count }, (_, i) => `${i}`))
  expect(memory.contents.made('p', false)).toBe(count)
  await store.deleteFrom('resource').where('created_at', '>=', 10).execute()
  await memory.readAll(store)
  expect([memory.contents.size, memory.contents.made('p', false)]).toEqual([10, 10])
  expect(memory.contents.byAddress('p', { context: 'public', name: 'room-11' })).toBeUndefined()
  await store.destroy()
})
