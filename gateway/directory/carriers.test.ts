import { expect, it } from 'vitest'
import type { Directory } from './directory.ts'
import type { Senders } from './model/callers.ts'
import { config } from './testing/directories.ts'
import { describeEngines, describePostgres } from './testing/engines.ts'

const p = 'project-1'
const other = 'project-2'
const both = config({ projects: [p, other].map((id) => ({ id, name: id, signingKeys: [] })) })
const acme = {
  name: 'acme',
  targets: ['sip:gw.acme.example'],
  auth: { username: 'u', password: 'Hush-hush-1' },
}

/** The carriers by which calls go, now and later. */
const followed = (directory: Directory) => {
  const seen: { carriers: Senders['carriers'] } = { carriers: [] }
  directory.onSenders(({ carriers }) => {
    seen.carriers = carriers
  })
  return seen
}

describeEngines('carriers of projects', (engine) => {
  it('are kept with a sealed password, which only the gateway reads', async () => {
    const first = await engine.open({ config: both })
    const made = await first.carriers.create(p, acme)
    expect(made.entry).toEqual({ ...acme, auth: { username: 'u' } })
    const rows = await first.store.selectFrom('carrier').selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain('Hush')
    await first.close()
    const second = await engine.open({ config: both })
    const [carrier] = followed(second).carriers
    expect(carrier).toMatchObject({ name: `${p}/acme`, project: p, guarded: true, auth: acme.auth })
    expect(second.carriers.find(p, made.id)).toEqual(made)
    expect(second.carriers.find(other, made.id)).toBeUndefined()
    await expect(second.carriers.replace(other, made.id, acme)).rejects.toMatchObject({
      code: 'unknown_resource',
    })
  })

  it('keep a password where the user name stays, and lose it with another one', async () => {
    const directory = await engine.open({ config: both })
    const seen = followed(directory)
    const { id } = await directory.carriers.create(p, acme)
    const auth = { username: 'u' }
    await directory.carriers.replace(p, id, { ...acme, targets: ['sip:new.acme.example'], auth })
    expect(seen.carriers).toMatchObject([{ targets: ['sip:new.acme.example'], auth: acme.auth }])
    const renamed = directory.carriers.replace(p, id, { ...acme, auth: { username: 'v' } })
    await expect(renamed).rejects.toMatchObject({ code: 'invalid_field' })
    await directory.carriers.remove(p, id)
    expect(seen.carriers).toEqual([])
  })

  it('do not take the password of another one: it is sealed for the one that has it', async () => {
    const directory = await engine.open({ config: both })
    const one = await directory.carriers.create(p, acme)
    const two = await directory.carriers.create(other, acme)
    const { store } = directory
    const stolen = store.selectFrom('carrier').select('secrets').where('id', '=', one.id)
    const { secrets } = await stolen.executeTakeFirstOrThrow()
    await store.updateTable('carrier').set({ secrets }).where('id', '=', two.id).execute()
    await directory.close()
    const faults: object[] = []
    const log = { info: () => {}, error: (facts: object) => void faults.push(facts) }
    const again = await engine.open({ config: both, log: log as never })
    expect(followed(again).carriers.map(({ project }) => project)).toEqual([p])
    expect(faults).toMatchObject([{ carrier: two.id }])
  })

  it('whose password another key has sealed are there, and used once they have it again', async () => {
    const first = await engine.open({ config: both })
    const { id } = await first.carriers.create(p, acme)
    await first.close()
    const second = await engine.open({ config: both, secret: new Uint8Array(32).fill(9) })
    const seen = followed(second)
    expect(seen.carriers).toEqual([])
    const shown = { ...acme, auth: { username: 'u' } }
    expect(second.carriers.find(p, id)?.entry).toEqual(shown)
    await expect(second.carriers.replace(p, id, shown)).rejects.toMatchObject({ code: 'invalid_field' })
    await second.carriers.replace(p, id, acme)
    expect(seen.carriers).toMatchObject([{ auth: acme.auth }])
    await second.carriers.remove(p, id)
  })

  it('have names of their own, and one default in each project, however many are made at once', async () => {
    const { carriers } = await engine.open({ config: both })
    const make = (name: string, projectId = p) => carriers.create(projectId, { ...acme, name, default: true })
    const settled = await Promise.allSettled([make('a'), make('b'), make('c')])
    expect(settled.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected'])
    for (const { reason } of settled.filter((each) => each.status === 'rejected'))
      expect(reason).toMatchObject({ code: 'invalid_field', facts: { attribute: 'default' } })
    await make('a', other)
    const plain = await carriers.create(p, { ...acme, name: 'd' })
    const first = carriers.list(p, { number: 0, size: 9 }).items.find(({ entry }) => entry.default)
    const taken = carriers.replace(p, plain.id, { ...acme, name: first!.name })
    await expect(taken).rejects.toMatchObject({ code: 'name_taken' })
    // Another one becomes the default when the first one is so no longer.
    await carriers.replace(p, first!.id, { ...acme, name: first!.name })
    await carriers.replace(p, plain.id, { ...acme, name: 'd', default: true })
  })

  it('are no more than the project may have', async () => {
    const limits = { subscribers: 1, resources: 1, domainApps: 1, carriers: 2, tokens: 1 }
    const { carriers } = await engine.open({ limits })
    const made = await Promise.allSettled(
      ['a', 'b', 'c', 'd'].map((name) => carriers.create(p, { ...acme, name })),
    )
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
    expect(made.at(-1)).toMatchObject({ reason: { code: 'over_quota' } })
  })
})

describePostgres('carriers of several gateways on one database', (engine) => {
  it('are known to all of them at once, with their passwords', async () => {
    const one = await engine.open({ config: both })
    const two = await engine.open({ config: both })
    const seen = followed(two)
    // News comes carrier by carrier, so what is awaited is the list and not the next piece of news.
    const knows = (name: string) => seen.carriers.some((each) => each.name === `${p}/${name}`)
    const until = (holds: () => boolean) =>
      new Promise<void>((resolve) => {
        const look = (): void => {
          if (holds()) resolve()
        }
        two.onElsewhere(look)
        look()
      })
    const { id } = await one.carriers.create(p, acme)
    await until(() => knows('acme'))
    expect(seen.carriers).toMatchObject([{ name: `${p}/acme`, auth: acme.auth }])
    const defaults = [one, two].map(({ carriers }, i) =>
      carriers.create(p, { ...acme, name: `d${i}`, default: true }),
    )
    expect((await Promise.allSettled(defaults)).filter(({ status }) => status === 'fulfilled')).toHaveLength(
      1,
    )
    await one.carriers.remove(p, id)
    await until(() => !knows('acme'))
  })
})
