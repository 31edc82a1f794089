import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { config } from './testing/directories.ts'
import { describeEngines } from './testing/engines.ts'

const project = 'project-1'
const stream = (name: string) => ({ url: `rtmp://${name}.example/live/secret`, shown: name })

const shown = /^rtmp:\/\/[ab]\.example\/live\/\*\*\*$/
const limits = { subscribers: 9, resources: 9, domainApps: 9, carriers: 9, tokens: 9 }

/** Room of the configuration file with streams to servers of these names. */
const lounge = (...names: readonly string[]) => ({
  address: '/public/lounge',
  maxMembers: 20,
  layout: 'grid-responsive' as const,
  recordOnStart: false,
  recordMembers: false,
  tones: true,
  videoOff: false,
  names: false,
  handsFirst: false,
  streams: names.map((name) => ({ url: stream(name).url })),
})

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

  it('are logged by their number if they are beyond the maximum', async () => {
    const records: unknown[][] = []
    const log = { info: (...record: unknown[]) => void records.push(record), error: () => {} }
    const first = await engine.open({ config: config({ rooms: [lounge('a')] }) })
    const { id: room } = first.room('lounge', project).resource!
    for (const name of ['b', 'c']) await first.roomStreams.add(project, room, stream(name))
    expect(await first.roomStreams.urlsOf(room)).toHaveLength(3)
    await first.close()
    const { roomStreams } = await engine.open({ config: config({ rooms: [lounge('d', 'e')] }), log })
    expect(await roomStreams.urlsOf(room)).toHaveLength(3)
    const fields = { event: 'room.streams-left-out', room, count: 1, limit: 3 }
    expect(records.filter(([field]) => (field as { event?: string }).event === fields.event)).toEqual([
      [fields, expect.any(String)],
    ])
  })

  it('have different URLs in a room, however these are written', async () => {
    const { resources, roomStreams } = await engine.open()
    const [room, other] = await Promise.all(
      ['Lounge', 'Board'].map((displayName) =>
        resources.create({
          projectId: project,
          type: 'room',
          displayName,
          details: { recordOnStart: false },
        }),
      ),
    )
    const a = await roomStreams.add(project, room!.id, stream('a'))
    const b = await roomStreams.add(project, room!.id, stream('b'))
    await roomStreams.add(project, other!.id, stream('a'))
    const exists = { code: 'room_stream_exists' }
    for (const url of [stream('a').url, 'RTMP://A.example:1935/live/secret']) {
      const same = { ...stream('a'), url }
      await expect(roomStreams.add(project, room!.id, same)).rejects.toMatchObject(exists)
      await expect(roomStreams.change(project, b.id, same)).rejects.toMatchObject(exists)
      await roomStreams.change(project, a.id, same)
    }
    await roomStreams.add(project, room!.id, { ...stream('a'), url: 'rtmp://a.example/live/other' })
    expect(await roomStreams.ofRoom(room!.id)).toHaveLength(3)
  })

  it('belong to the configuration file once it has their URL, and keep their ids', async () => {
    const first = await engine.open({ config: config({ rooms: [lounge()] }) })
    const { id: room } = first.room('lounge', project).resource!
    const moved = await first.roomStreams.add(project, room, stream('a'))
    const own = await first.roomStreams.add(project, room, stream('b'))
    await first.close()
    const second = await engine.open({ config: config({ rooms: [lounge('a')] }) })
    expect(await second.roomStreams.ofRoom(room)).toMatchObject([
      { id: moved.id, managed_by_file: 1 },
      { id: own.id, managed_by_file: 0 },
    ])
    await expect(second.roomStreams.remove(project, moved.id)).rejects.toMatchObject({
      code: 'managed_by_file',
    })
  })

  it('of the API are removed if the configuration file already has their URL', async () => {
    const now = { config: config({ rooms: [lounge('a')] }) }
    const first = await engine.open(now)
    const { id: room } = first.room('lounge', project).resource!
    const [declared] = await first.roomStreams.ofRoom(room)
    const other = await first.resources.create({
      projectId: project,
      type: 'room',
      displayName: 'Board',
      details: { recordOnStart: false },
    })
    const { id } = await first.roomStreams.add(project, other.id, stream('a'))
    await first.store.updateTable('room_stream').set({ room_id: room }).where('id', '=', id).execute()
    await first.close()
    const second = await engine.open(now)
    expect(await second.roomStreams.ofRoom(room)).toEqual([declared])
  })

  it('are not added to a room that is gone', async () => {
    const { roomStreams } = await engine.open()
    await expect(roomStreams.add(project, randomUUID(), stream('a'))).rejects.toMatchObject({
      code: 'unknown_resource',
    })
  })

  it('follow the configuration file, encrypted, and keep their ids while they stay in it', async () => {
    const first = await engine.open({ config: config({ rooms: [lounge('a', 'b')] }) })
    const room = first.room('lounge', project).resource!
    const before = await first.roomStreams.ofRoom(room.id)
    expect(before).toMatchObject([
      { room_id: room.id, project_id: project, managed_by_file: 1, shown_url: expect.stringMatching(shown) },
      { managed_by_file: 1 },
    ])
    const stored = await first.store.selectFrom('room_stream').selectAll().execute()
    expect(JSON.stringify(stored)).not.toContain('secret')
    await first.roomStreams.add(project, room.id, stream('own'))
    await expect(first.roomStreams.add(project, room.id, stream('fourth'))).rejects.toMatchObject({
      code: 'too_many_room_streams',
    })
    await first.close()

    const second = await engine.open({ config: config({ rooms: [lounge('c', 'b')] }) })
    const urls = await second.roomStreams.urlsOf(room.id)
    expect(urls.toSorted()).toEqual(['b', 'c', 'own'].map((name) => stream(name).url))
    expect(urls.at(-1)).toBe(stream('own').url)
    const kept = before.find(({ shown_url }) => shown_url.includes('//b.'))
    expect(await second.roomStreams.find(project, kept!.id)).toEqual(kept)
    for (const change of [
      second.roomStreams.change(project, kept!.id, stream('d')),
      second.roomStreams.remove(project, kept!.id),
    ])
      await expect(change).rejects.toMatchObject({ code: 'managed_by_file' })
    await second.close()

    const third = await engine.open({ config: config({ rooms: [lounge('e', 'f', 'g')] }) })
    expect((await third.roomStreams.urlsOf(room.id)).toSorted()).toEqual(
      ['e', 'f', 'g'].map((name) => stream(name).url),
    )
    await third.close()
    const last = await engine.open({ config: config({ rooms: [lounge()] }) })
    expect(await last.roomStreams.urlsOf(room.id)).toEqual([stream('own').url])
  })

  it('of the configuration file are written anew if they cannot be decrypted', async () => {
    const rooms = [lounge('a')]
    const first = await engine.open({ config: config({ rooms }) })
    const { id } = first.room('lounge', project).resource!
    await first.store.updateTable('room_stream').set({ url: 'other' }).execute()
    await first.close()
    const second = await engine.open({ config: config({ rooms }) })
    expect(await second.roomStreams.urlsOf(id)).toEqual([stream('a').url])
  })

  it('of the configuration file change with a reload', async () => {
    const now = { config: config({ rooms: [lounge('a')] }), limits, domainSuffix: 'd.example' }
    const directory = await engine.open({ config: now.config })
    const { id } = directory.room('lounge', project).resource!
    const next = { ...now, config: config({ rooms: [lounge('b')] }) }
    const step = await directory.prepareDeclared(next, now)
    await directory.transaction((write) => step!.write!(write))
    expect(await directory.roomStreams.urlsOf(id)).toEqual([stream('b').url])
  })

  it('are refused without their URL if it is none', async () => {
    const room = { ...lounge(), streams: [{ url: 'https://secret.example/' }] }
    const opened = engine.open({ config: config({ rooms: [room] }) })
    await expect(opened).rejects.toThrow(/^A stream of the room \/public\/lounge has no URL(?!.*secret)/)
  })
})
