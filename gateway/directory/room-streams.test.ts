import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { describeEngines } from './testing/engines.ts'

const project = 'project-1'
const stream = (name: string) => ({ url: `rtmp://${name}.example/live/secret`, shown: name })

describeEngines('streams of rooms', (engine) => {
  it('are left out and logged if their URL cannot be decrypted', async () => {
    const records: unknown[][] = []
    const log = { info: () => {}, error: (...record: unknown[]) => void records.push(record) }
    const { resources, roomStreams, store } = await engine.open({ log })
    const room = await resources.create({
      projectId: project,
      type: 'room',
      displayName: 'Lounge',
      details: { recordOnStart: false },
    })
    const bad = await roomStreams.add(project, room.id, stream('a'))
    await roomStreams.add(project, room.id, stream('b'))
    await store.updateTable('room_stream').set({ url: 'other' }).where('id', '=', bad.id).execute()
    expect(await roomStreams.urlsOf(room.id)).toEqual([stream('b').url])
    expect(records).toMatchObject([[{ event: 'room.stream-unusable', stream: bad.id }, expect.any(String)]])
  })

  it('are not added to a room that is gone', async () => {
    const { roomStreams } = await engine.open()
    await expect(roomStreams.add(project, randomUUID(), stream('a'))).rejects.toMatchObject({
      code: 'unknown_resource',
    })
  })
})
