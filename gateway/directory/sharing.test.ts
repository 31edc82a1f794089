import { sql } from 'kysely'
import { afterEach, expect, it } from 'vitest'
import { FakeClock, SystemClock } from '../core/clock.ts'
import type { Directory } from './directory.ts'
import type { News } from './store/engine.ts'
import { CallbackRows } from './tables/callbacks.ts'
import { config } from './testing/directories.ts'
import { describePostgres, type TestEngine } from './testing/engines.ts'

const p = 'project-1'

/** Resolves when a directory has heard of something. */
const heard = (directory: Directory, wanted: (news: News) => boolean): Promise<void> =>
  new Promise((resolve) =>
    directory.onElsewhere((news) => {
      if (wanted(news)) resolve()
    }),
  )

const two = async (engine: TestEngine): Promise<[Directory, Directory]> => [
  await engine.open(),
  await engine.open(),
]

const room = { projectId: p, type: 'room', displayName: 'Team', details: { recordOnStart: false } } as const

describePostgres('gateways on one database', (engine) => {
  it('know at once what the other one has changed', async () => {
    const [one, other] = await two(engine)
    const made = heard(other, (news) => news !== 'anything' && news.kind === 'resource')
    const team = await one.resources.create(room)
    await made
    expect(other.resources.find(p, 'room', team.id)).toEqual(team)
    const gone = heard(one, (news) => news !== 'anything' && news.id === team.id)
    await other.resources.remove(p, 'room', team.id)
    await gone
    expect(one.resources.find(p, 'room', team.id)).toBeUndefined()
    const token = heard(other, (news) => news !== 'anything' && news.kind === 'project')
    const { secret } = await one.projects.addToken(p, { name: 'ci', scopes: ['calling'] })
    await token
    expect(other.projects.tokenOf(secret)).toMatchObject({ name: 'ci', scopes: ['calling'] })
  })

  it('take no name twice', async () => {
    const [one, other] = await two(engine)
    const made = await Promise.all([one, other, one, other].map(({ resources }) => resources.create(room)))
    expect(new Set(made.map(({ address }) => address.name)).size).toBe(4)
  })

  it('may start at the same time, also on a database that is new', async () => {
    const place = { url: await engine.server?.databases.makeEmpty() }
    const open = () => engine.open(place)
    const directories = await Promise.all([open(), open(), open()])
    const ids = directories.map((each) => each.subscriberByEmail(p, 'alice@example.test')?.id)
    expect(new Set(ids).size).toBe(1)
  })

  it('lose no change that is made to one thing at once', async () => {
    const [one, other] = await two(engine)
    const { id } = await one.resources.create({ ...room, details: { recordOnStart: false, layout: 'grid' } })
    const tenTimes = async (change: (i: number) => Promise<unknown>) => {
      for (let i = 0; i < 10; i++) await change(i)
    }
    await Promise.all([
      tenTimes((i) => one.resources.update(p, 'room', id, { details: { maxMembers: i + 1 } })),
      tenTimes((i) => other.resources.update(p, 'room', id, { details: { layout: `l${i}` } })),
    ])
    const fresh = await engine.open()
    expect(fresh.resources.find(p, 'room', id)?.details).toEqual({
      recordOnStart: false,
      maxMembers: 10,
      layout: 'l9',
    })
  })
})

describePostgres('a database that goes away', (engine) => {
  const clock = new SystemClock()
  afterEach(() => expect(clock.running).toBe(0))

  it('leaves what is known, refuses changes, and is taken up again when it is back', async () => {
    const directory = await engine.open({ clock })
    const other = await engine.open({ clock })
    engine.server?.stop()
    expect(directory.resolve('/public/alice', p)).toMatchObject({ kind: 'subscriber' })
    expect(directory.domainApp('demo.example')).toBeDefined()
    await expect(directory.resources.create(room)).rejects.toMatchObject({ code: 'store_unavailable' })
    await expect(new CallbackRows(directory.store, 'n1').counts()).rejects.toMatchObject({
      code: 'store_unavailable',
    })
    const back = [directory, other].map((each) => heard(each, (news) => news === 'anything'))
    engine.server?.start()
    await Promise.all(back)
    const made = heard(other, (news) => news !== 'anything' && news.kind === 'resource')
    const team = await directory.resources.create(room)
    await made
    expect(other.resources.find(p, 'room', team.id)).toEqual(team)
    await Promise.all([directory.close(), other.close()])
  })

  it('that falls silent is noticed, and taken up again', async () => {
    const fake = new FakeClock()
    const heardOf = Promise.withResolvers<void>()
    const directory = await engine.open({ clock: fake })
    directory.onElsewhere((news) => {
      if (news === 'anything') heardOf.resolve()
    })
    const listening = sql<{ pid: number }>`select pid from pg_stat_activity
      where query = 'listen trunkline' and datname = current_database()`
    const [found] = (await listening.execute(directory.store)).rows
    const pid = found?.pid ?? 0
    process.kill(pid, 'SIGSTOP')
    try {
      for (const ms of [10_000, 5_000, 1_000]) fake.advance(ms)
      await heardOf.promise
    } finally {
      process.kill(pid, 'SIGCONT')
    }
    await directory.close()
    expect(fake.running).toBe(0)
  })

  it('is waited for at start, for a while', async () => {
    engine.server?.stop()
    const attempt = engine.open({ clock, startTimeoutMs: 600 })
    await expect(attempt).rejects.toThrow(/The database postgres:.* could not be reached within 1 s/)
    const waiting = engine.open({ clock, startTimeoutMs: 60_000 })
    engine.server?.start()
    expect((await waiting).domainApp('demo.example')).toBeDefined()
    await (await waiting).close()
  })

  it('that does not exist is reported at once, without the password', async () => {
    const url = `${engine.place.url?.replace(/\/t\d+\?/, '/none?')}&password=Secret-Word`
    const attempt = engine.open({ clock, url, config: config() })
    await expect(attempt).rejects.toThrow(/cannot be used: database "none" does not exist/)
    await expect(attempt).rejects.not.toThrow(/Secret-Word/)
  })
})
