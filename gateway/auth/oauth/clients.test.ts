import { beforeEach, expect, it } from 'vitest'
import type { FakeClock } from '../../core/clock.ts'
import type { Store } from '../../directory/store/sqlite.ts'
import { describeEngines } from '../../directory/testing/engines.ts'
import { hashOf, OAuthClients } from './clients.ts'

describeEngines('OAuth clients', (engine) => {
  let store: Store
  let clock: FakeClock
  let clients: OAuthClients
  let revoked: string[]
  beforeEach(async () => {
    clock = engine.clock
    store = (await engine.open()).store
    revoked = []
    const revokeClient = async (id: string) => void revoked.push(id)
    clients = new OAuthClients(store, () => clock.now(), { revokeClient })
  })

  const terms = { name: 'Phone', redirectUris: ['https://app.example/cb'], native: false }
  const declared = { id: 'phone', ...terms }

  it('has the clients of the file as they stand there, and no longer than they do', async () => {
    await clients.provision([declared, { ...declared, id: 'other', project: 'p2', native: true }], 'p1')
    expect(await clients.find('phone')).toMatchObject({ ...terms, projectId: 'p1', managedByFile: true })
    expect(await clients.find('other')).toMatchObject({ projectId: 'p2', native: true })
    clock.advance(1_000)
    await clients.provision([{ ...declared, name: 'Renamed' }], 'p1')
    const { name, createdAt, updatedAt } = (await clients.find('phone'))!
    expect([name, updatedAt - createdAt]).toEqual(['Renamed', 1_000])
    expect(await clients.find('other')).toBeUndefined()
    expect(revoked).toEqual(['other'])
    await clients.provision([], 'p1')
    expect(await clients.find('phone')).toBeUndefined()
    expect(revoked).toEqual(['other', 'phone'])
  })

  it('does not take over a client that the API made, and changes nothing then', async () => {
    const { client } = await clients.create('p2', terms, true)
    await clients.provision([declared], 'p1')
    await expect(clients.provision([{ ...declared, id: client.id }], 'p1')).rejects.toThrow(client.id)
    expect(await clients.find(client.id)).toEqual(client)
    expect(await clients.find('phone')).toBeDefined()
  })

  it('tells a secret once, and keeps its hash', async () => {
    const { client, secret = '' } = await clients.create('p1', terms, true)
    expect(secret).toHaveLength(43)
    expect(client.secretHash).toBe(hashOf(secret))
    const renewed = await clients.renewSecret('p1', client.id)
    expect(renewed).not.toBe(secret)
    expect((await clients.find(client.id))?.secretHash).toBe(hashOf(renewed))
    const open = await clients.create('p1', terms, false)
    expect(open).not.toHaveProperty('secret')
    await expect(clients.renewSecret('p1', open.client.id)).rejects.toMatchObject({ code: 'invalid_field' })
  })

  it('lists, changes and removes those of one project', async () => {
    const { client } = await clients.create('p1', terms, false)
    clock.advance(1)
    await clients.create('p1', { ...terms, name: 'Second' }, false)
    await clients.create('p2', terms, false)
    const page = await clients.list('p1', { number: 1, size: 1 })
    expect([page.total, page.items.map(({ name }) => name)]).toEqual([2, ['Second']])
    const changed = await clients.update('p1', client.id, { name: 'Other' })
    expect(changed).toMatchObject({ name: 'Other', redirectUris: terms.redirectUris })
    for (const refused of [
      () => clients.get('p2', client.id),
      () => clients.update('p2', client.id, {}),
      () => clients.renewSecret('p2', client.id),
      () => clients.remove('p2', client.id),
    ])
      await expect(refused()).rejects.toMatchObject({ code: 'unknown_resource' })
    await clients.remove('p1', client.id)
    expect(await clients.find(client.id)).toBeUndefined()
  })

  it('leaves those of the file to the file', async () => {
    await clients.provision([declared], 'p1')
    for (const refused of [
      () => clients.update('p1', 'phone', { name: 'x' }),
      () => clients.renewSecret('p1', 'phone'),
      () => clients.remove('p1', 'phone'),
    ])
      await expect(refused()).rejects.toMatchObject({ code: 'managed_by_file' })
  })
})
