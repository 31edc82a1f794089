import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import type { Directory } from './directory.ts'
import { ConferenceTokenRows } from './tables/conference-tokens.ts'
import { RevokedTokenRows } from './tables/revoked-tokens.ts'
import { describeEngines } from './testing/engines.ts'

const project = 'project-1'

const opened = async (directory: Directory, clock: { now(): number }) => {
  const room = await directory.resources.create({
    projectId: project,
    type: 'room',
    displayName: 'Lounge',
    details: { recordOnStart: false },
  })
  return { room, rows: new ConferenceTokenRows(directory.store, clock) }
}

describeEngines('tokens of conferences', (engine) => {
  it('are made once, also by simultaneous requests', async () => {
    const { room, rows } = await opened(await engine.open(), engine.clock)
    const [first, second] = await Promise.all([rows.ofRoom(project, room.id), rows.ofRoom(project, room.id)])
    expect(first.map(({ name }) => name)).toEqual(['moderator', 'guest'])
    expect(second).toEqual(first)
    expect(await rows.find(first[1]!.id)).toEqual(first[1])
  })

  it('have a new version after simultaneous renewals, one for all', async () => {
    const directory = await engine.open()
    const { store } = directory
    const { room, rows } = await opened(directory, engine.clock)
    const [moderator, guest] = await rows.ofRoom(project, room.id)
    engine.clock.advance(1000)
    const revoked = { id: guest!.version, expiresAt: engine.clock.now() + 1000 }
    await rows.renew(guest!, revoked)
    const renewed = await rows.find(guest!.id)
    expect(renewed!.version).not.toBe(guest!.version)
    expect(Number(renewed!.updated_at)).toBe(Number(guest!.updated_at) + 1000)
    await rows.renew(guest!, { ...revoked, expiresAt: 1 })
    expect(await rows.ofRoom(project, room.id)).toEqual([moderator, renewed])
    expect(await new RevokedTokenRows(store).all(engine.clock.now())).toEqual([revoked])
  })

  it('go with their room, and are not made for one that is gone', async () => {
    const directory = await engine.open()
    const { room, rows } = await opened(directory, engine.clock)
    const [token] = await rows.ofRoom(project, room.id)
    await directory.resources.remove(project, 'room', room.id)
    expect(await rows.find(token!.id)).toBeUndefined()
    for (const gone of [room.id, randomUUID()])
      await expect(rows.ofRoom(project, gone)).rejects.toMatchObject({ code: 'unknown_resource' })
    expect(await rows.find('x')).toBeUndefined()
  })
})
