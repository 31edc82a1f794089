import { randomUUID } from 'node:crypto'
import { expect, it, vi } from 'vitest'
import { openTokens } from '../auth/open-tokens.ts'
import { PushKeys } from '../push/push-keys.ts'
import type { Directory } from './directory.ts'
import { DeviceRows } from './tables/devices.ts'
import { config } from './testing/directories.ts'
import { describeEngines, describePostgres, type TestEngine } from './testing/engines.ts'

const p = 'project-1'
const secret = new Uint8Array(32).fill(3)

const opened = async (engine: TestEngine) => {
  const directory = await engine.open()
  return { directory, ...(await openTokens(directory, { secret, clock: engine.clock })) }
}

const nora = ({ resources }: Directory) =>
  resources.create({
    projectId: p,
    type: 'subscriber',
    displayName: 'Nora',
    details: { email: 'nora@example.test', mayDialOut: false },
  })

const isGood = (verifying: Promise<unknown>): Promise<boolean> =>
  verifying.then(
    () => true,
    () => false,
  )

describeEngines('tokens', (engine) => {
  it('are refreshed once, by one of many who try at once, and a copy ends the family', async () => {
    const { directory, pairs, tokens } = await opened(engine)
    const { id } = await nora(directory)
    const first = await pairs.issue({ kind: 'subscriber', subscriberId: id, projectId: p })
    const second = await pairs.refresh(first.refreshToken, { projectId: p })
    expect(await isGood(tokens.verify(second!.token))).toBe(true)
    const tries = Array.from({ length: 6 }, () =>
      pairs.refresh(second!.refreshToken, { projectId: p, subscriberId: id }),
    )
    const made = (await Promise.all(tries)).filter((pair) => pair !== undefined)
    expect(made.length).toBeLessThanOrEqual(1)
    for (const { token } of [first, second!, ...made]) expect(await isGood(tokens.verify(token))).toBe(false)
    expect(await directory.store.selectFrom('refresh_token').selectAll().execute()).toEqual([])
  })

  it('go with their subscriber, and are forgotten when they have ended', async () => {
    const { directory, pairs } = await opened(engine)
    const { id } = await nora(directory)
    await pairs.issue({ kind: 'subscriber', subscriberId: id, projectId: p })
    await directory.resources.remove(p, 'subscriber', id)
    const left = () => directory.store.selectFrom('refresh_token').select('kind').execute()
    expect(await left()).toEqual([])
    const guest = { kind: 'guest', subscriberId: randomUUID(), projectId: p, addressIds: ['a'] } as const
    await pairs.issue(guest)
    engine.clock.advance(24 * 3_600_000)
    await pairs.issue(guest)
    expect(await left()).toHaveLength(1)
  })

  it('stay revoked over a restart', async () => {
    const { directory, tokens, revocations } = await opened(engine)
    const { id } = await nora(directory)
    const { token } = await tokens.issue({ id, projectId: p }, 600)
    await revocations.revoke(await tokens.verify(token))
    await directory.close()
    const later = await opened(engine)
    expect(await isGood(later.tokens.verify(token))).toBe(false)
    expect(later.revocations.size).toBe(1)
  })

  it('of a subscriber are distinguished to the millisecond when all are revoked', async () => {
    const { directory, tokens } = await opened(engine)
    const holder = await nora(directory)
    const before = await tokens.issue(holder, 600)
    engine.clock.advance(1)
    await directory.changeSubscriber(p, holder.id, { tokensAfter: engine.clock.now() })
    const after = await tokens.issue(holder, 600)
    expect(await isGood(tokens.verify(before.token))).toBe(false)
    expect(await isGood(tokens.verify(after.token))).toBe(true)
  })
})

describeEngines('devices', (engine) => {
  const made = async () => {
    const projects = [p, 'project-2'].map((id) => ({ id, name: id, signingKeys: [] }))
    const directory = await engine.open({ config: config({ projects }) })
    const devices = new DeviceRows(directory.store)
    const holder = await nora(directory)
    const add = (token: string, type = 'iOS') => {
      const ids = { id: randomUUID(), subscriber_id: holder.id, project_id: p }
      return devices.add({ ...ids, token, type, created_at: engine.clock.now() }, 2)
    }
    const other = async (projectId: string) => {
      const { id } = await directory.resources.create({
        projectId,
        type: 'subscriber',
        displayName: 'Otto',
        details: { email: 'otto@example.test', mayDialOut: false },
      })
      const row = { subscriber_id: id, project_id: projectId, type: 'iOS', created_at: engine.clock.now() }
      return { id, add: (token: string) => devices.add({ ...row, id: randomUUID(), token }, 2) }
    }
    return { directory, devices, holder, add, other }
  }

  it('are known by their token, and are not more than they may be', async () => {
    const { devices, holder, add } = await made()
    const first = await add('one')
    engine.clock.advance(5)
    expect(await add('one', 'Android')).toEqual({ ...first, type: 'Android' })
    await add('two')
    expect(await add('three')).toBeUndefined()
    expect((await devices.of(holder.id)).map(({ token }) => token)).toEqual(['one', 'two'])
    expect(await devices.remove(randomUUID(), first!.id)).toBe(false)
    expect([
      await devices.has(first!),
      await devices.has({ ...first!, subscriber_id: randomUUID() }),
    ]).toEqual([true, false])
    expect(await devices.remove(holder.id, first!.id)).toBe(true)
    expect(await devices.has(first!)).toBe(false)
    expect(await devices.remove(holder.id, first!.id)).toBe(false)
    expect(await add('three')).toMatchObject({ token: 'three' })
  })

  it('are not taken from subscribers of another project', async () => {
    const { devices, holder, add, other } = await made()
    await add('one')
    const stranger = await other('project-2')
    await stranger.add('one')
    const tokens = async (id: string) => (await devices.of(id)).map(({ token }) => token)
    expect([await tokens(holder.id), await tokens(stranger.id)]).toEqual([['one'], ['one']])
  })

  it('belong to the subscriber of the project who registered the token last', async () => {
    const { devices, holder, add, other } = await made()
    await add('one')
    await add('two')
    const otto = await other(p)
    await otto.add('one')
    const tokens = async (id: string) => (await devices.of(id)).map(({ token }) => token).sort()
    expect([await tokens(holder.id), await tokens(otto.id)]).toEqual([['two'], ['one']])
    await add('one')
    expect([await tokens(holder.id), await tokens(otto.id)]).toEqual([['one', 'two'], []])
  })

  it('share the one key of their subscriber, which stays', async () => {
    const { directory, holder } = await made()
    const keys = new PushKeys(directory)
    const asked = await Promise.all([keys.of(holder), keys.of(holder), keys.of(holder)])
    expect(new Set(asked).size).toBe(1)
    expect(Buffer.from(asked[0], 'base64')).toHaveLength(32)
    await directory.close()
    expect(await new PushKeys(await engine.open()).of(holder)).toBe(asked[0])
  })
})

describeEngines('what another gateway has just changed', (engine) => {
  it('is not written over with what was known before: tokens stay taken back', async () => {
    const directory = await engine.open()
    const { id } = await nora(directory)
    await directory.store
      .updateTable('subscriber')
      .set({ tokens_after: 5_000 })
      .where('resource_id', '=', id)
      .execute()
    await directory.changeSubscriber(p, id, { pushKey: 'key' })
    expect(directory.subscriber(id)).toMatchObject({ tokensAfter: 5_000, pushKey: 'key' })
  })

  it('is not written over with what was known before: the key of notifications', async () => {
    const directory = await engine.open()
    const { id } = await nora(directory)
    const rows = directory.store.updateTable('subscriber').where('resource_id', '=', id)
    await rows.set({ push_key: 'theirs' }).execute()
    expect(await new PushKeys(directory).of({ id, projectId: p })).toBe('theirs')
  })

  it('is not written over with what was known before: an API token has lost its scopes', async () => {
    const { projects, store } = await engine.open()
    const { token } = await projects.addToken(p, { name: 'ci', scopes: ['calling', 'tokens'] })
    const less = { scopes_json: JSON.stringify(['calling']) }
    await store.updateTable('api_token').set(less).where('id', '=', token.id).execute()
    expect(await projects.changeToken(p, token.id, { name: 'CI' })).toMatchObject({ scopes: ['calling'] })
    expect(await projects.changeToken(p, token.id, {})).toMatchObject({ name: 'CI', scopes: ['calling'] })
  })
})

describeEngines('tokens of the API', (engine) => {
  it('tell who listens when they change, once that can be seen', async () => {
    const { projects } = await engine.open()
    const seen: number[] = []
    const end = projects.onChange(() => seen.push(projects.tokens(p).length))
    const before = projects.tokens(p).length
    const { token } = await projects.addToken(p, { name: 'ci', scopes: ['calling'] })
    await projects.removeToken(p, token.id)
    expect(new Set(seen)).toEqual(new Set([before + 1, before]))
    end()
    const sightings = seen.length
    await projects.addToken(p, { name: 'ci', scopes: ['calling'] })
    expect(seen.length).toBe(sightings)
  })
})

describePostgres('tokens of gateways on one database', (engine) => {
  it('are revoked on all of them, and their listeners are notified', async () => {
    const one = await opened(engine)
    const other = await opened(engine)
    const { id } = await nora(one.directory)
    const holder = { id, projectId: p }
    const first = await one.tokens.issue(holder, 600)
    const second = await one.tokens.issue(holder, 600)
    await vi.waitFor(async () => expect(await isGood(other.tokens.verify(first.token))).toBe(true))
    let received = 0
    other.tokens.onRevocation(id, () => received++)
    await one.revocations.revoke(await one.tokens.verify(first.token))
    await vi.waitFor(async () => expect(await isGood(other.tokens.verify(first.token))).toBe(false))
    expect(received).toBeGreaterThan(0)
    expect(await isGood(other.tokens.verify(second.token))).toBe(true)
    engine.clock.advance(1)
    await one.directory.changeSubscriber(p, id, { tokensAfter: engine.clock.now() })
    await vi.waitFor(async () => expect(await isGood(other.tokens.verify(second.token))).toBe(false))
  })
})
