/** Order of conversions, and rows that have changed while a recording waits. */
import { mkdtempSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Metrics } from '../core/metrics.ts'
import type { RecordingRow } from '../directory/tables/recordings.ts'
import { Mp4Conversions } from './mp4-conversions.ts'
import { newRoomRecordingRow } from './recording-index.ts'

let folder = ''
let rows: Map<string, RecordingRow>
let converted: string[]
let conversions: Mp4Conversions
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'conversions-'))
  rows = new Map()
  converted = []
  conversions = new Mp4Conversions({
    folder: { fileOf: ({ id, format }) => join(folder, `${id}.${format}`) },
    convert: async (from, to) => {
      converted.push(from.slice(folder.length + 1))
      await writeFile(to, 'an mp4')
    },
    find: async (id) => rows.get(id),
    save: async (_, row) => void rows.set(row.id, row),
    log: pino({ enabled: false }),
    metrics: new Metrics(),
  })
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Stores a recording that waits. */
const waiting = async (id: string, projectId = 'p1') => {
  const order = { projectId, callId: 'c', legId: 'l', roomSessionId: 's' }
  const row: RecordingRow = {
    ...newRoomRecordingRow({ id, node_id: 'n', started_at: 0 }, order),
    conversion: 'pending',
  }
  rows.set(id, row)
  await writeFile(join(folder, `${id}.webm`), 'x')
  return row
}

it('takes projects by turns', async () => {
  // The first one begins at once, before the second project is known.
  const all = [await waiting('a1'), await waiting('a2'), await waiting('a3'), await waiting('b1', 'p2')]
  await Promise.all(all.map((row) => conversions.add(row)))
  expect(converted).toEqual(['a1.webm', 'a2.webm', 'b1.webm', 'a3.webm'])
})

it('leaves a recording alone that is converted by now, or removed', async () => {
  const done = await waiting('done')
  const removed = await waiting('removed')
  const other = await waiting('other')
  const first = conversions.add(other)
  const later = [conversions.add(done), conversions.add(removed)]
  const now: RecordingRow = { ...done, format: 'mp4', conversion: null }
  rows.set('done', now)
  rows.delete('removed')
  expect(await first).toMatchObject({ format: 'mp4', bytes: 6, conversion: null })
  expect(await Promise.all(later)).toEqual([now, undefined])
  expect([converted, conversions.size]).toEqual([['other.webm'], 0])
})
