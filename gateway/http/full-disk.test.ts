import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ApiTestSite } from './testing/api-test-site.ts'

let rig: ApiTestSite

beforeEach(async () => {
  rig = await ApiTestSite.open()
})
afterEach(() => rig.close())

/** The database takes no further page, as on a disk without room. */
const fill = async (): Promise<void> => {
  const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(rig.directory.store)
  await limitPages(rows[0]!.page_count)
}
const limitPages = (pages: number) => sql.raw(`pragma max_page_count = ${pages}`).execute(rig.directory.store)
const add = (n: number) => {
  const play = { play: { url: `say:${'x'.repeat(1_000)}` } }
  const contents = { version: '1.0.0', sections: { main: Array.from({ length: 40 }, () => play) } }
  return rig.ask('POST', '/api/fabric/resources/swml_scripts', { name: `s${n}`, contents })
}
const said = (text: string) => rig.lines.filter((line) => line.includes(text)).length

it('requests get 503 with Retry-After while the disk is full, with one log line, and succeed when there is space', async () => {
  await fill()
  for (let n = 0; n < 3; n++) {
    const refused = await add(n)
    expect([refused.statusCode, refused.json().errors[0].code]).toEqual([503, 'store_unavailable'])
    expect(refused.headers['retry-after']).toBe('10')
  }
  expect((await rig.ask('GET', '/api/fabric/resources')).statusCode).toBe(200)
  expect([said('store cannot be written'), said('Something failed inside')]).toEqual([1, 0])
  await limitPages(100_000)
  expect((await add(4)).statusCode).toBe(201)
  expect(said('store writable again')).toBe(1)
})
