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
