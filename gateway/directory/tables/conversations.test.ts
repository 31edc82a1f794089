import { randomUUID } from 'node:crypto'
import { expect, it, vi } from 'vitest'
import type { Directory } from '../directory.ts'
import type { Subscriber } from '../model/callers.ts'
import { describeEngines, describePostgres, type TestEngine } from '../testing/engines.ts'
import { type ConversationRow, ConversationRows, type MessageRow } from './conversations.ts'

const p = 'project-1'
const page = { number: 0, size: 50 }

const person = ({ subscriberByEmail }: Pick<Directory, 'subscriberByEmail'>, name: string): Subscriber =>
  subscriberByEmail(p, `${name}@example.test`) as Subscriber

/** A directory with its conversations, and one between Alice and Bob. */
const opened = async (engine: TestEngine) => {
  const directory = await engine.open()
  const rows = new ConversationRows(directory.store)
  const { resources } = directory
  const made = (name: string) =>
    resources.create({
      projectId: p,
      type: 'subscriber',
      displayName: name,
      details: { email: `${name}@example.test`, mayDialOut: false },
    })
  await made('nora')
  await made('otto')
  const [nora, otto] = ['nora', 'otto'].map((name) => person(bound(directory), name)) as [
    Subscriber,
    Subscriber,
  ]
  const direct = async () => rows.ensure(...conversation(engine, [nora, otto]), engine.clock.now())
  return { directory, rows, nora, otto, direct }
}

const bound = (directory: Directory) => ({
  subscriberByEmail: (projectId: string, email: string) => directory.subscriberByEmail(projectId, email),
})

const conversation = (
  { clock }: TestEngine,
  people: readonly Pick<Subscriber, 'id' | 'addressId'>[],
  changes: Partial<ConversationRow> = {},
  most = 10,
): [ConversationRow, Parameters<ConversationRows['ensure']>[1], number] => {
  const ids = people.map(({ addressId }) => addressId)
  const row: ConversationRow = {
    id: randomUUID(),
    project_id: p,
    key: `direct ${ids.join(' ')}`,
    kind: 'direct',
    first_address_id: ids[0] ?? null,
    second_address_id: ids[1] ?? null,
    addresses_json: JSON.stringify(ids),
    created_at: clock.now(),
    last_message_at: null,
    active_at: clock.now(),
    ...changes,
  }
  const members = people.map(({ id, addressId }) => ({
    holder_id: id,
    address_id: addressId,
    reads_from: 0,
    ends_at: null,
  }))
  return [row, members, most]
}

const group = { kind: 'group', first_address_id: null, second_address_id: null } as const

const written = (id: string | undefined, by: Subscriber, text: string): Omit<MessageRow, 'created_at'> => ({
  id: randomUUID(),
  conversation_id: id ?? '',
  author_id: by.id,
  author_address_id: by.addressId,
  text,
  metadata_json: '{}',
  details_json: '{}',
})

describeEngines('conversations', (engine) => {
  it('are one of a key, whichever member begins it, and are found by members alone', async () => {
    const { rows, nora, otto, direct } = await opened(engine)
    const ids = await Promise.all([direct(), direct(), direct()])
    expect(new Set(ids).size).toBe(1)
    const [id = ''] = ids
    expect(await rows.find(nora.id, id)).toMatchObject({ id, kind: 'direct', reads_from: 0 })
    const { key = '' } = (await rows.find(otto.id, id)) ?? {}
    expect(await rows.findByKey(otto.id, p, key)).toMatchObject({ id })
    expect(await rows.findByKey(otto.id, 'another', key)).toBeUndefined()
    const stranger = randomUUID()
    expect(await rows.find(stranger, id)).toBeUndefined()
    expect(await rows.findByKey(stranger, p, key)).toBeUndefined()
    expect((await rows.list(stranger, page)).items).toEqual([])
  })

  it('have as many members as they may, and guests whose tokens have ended make room where it is needed', async () => {
    const { rows, nora, otto } = await opened(engine)
    const begin = (people: readonly Subscriber[]) =>
      rows.ensure(...conversation(engine, people, { ...group, key: 'group 1' }, 2), engine.clock.now())
    const guest = (ends_at: number) => ({ holder_id: randomUUID(), address_id: null, reads_from: 0, ends_at })
    const id = await begin([nora])
    const [row] = conversation(engine, [nora], { ...group, key: 'group 1' })
    const passing = guest(engine.clock.now() + 10)
    expect(await rows.ensure(row, [passing], 2, engine.clock.now())).toBe(id)
    expect(await begin([otto])).toBeUndefined()
    expect(await rows.find(otto.id, id ?? '')).toBeUndefined()
    expect(await begin([nora])).toBe(id)
    engine.clock.advance(10)
    expect(await begin([otto])).toBe(id)
    expect(await rows.members(id ?? '')).toHaveLength(2)
  })

  it('give every message a time of its own, in the order in which they came', async () => {
    const { rows, nora, otto, direct } = await opened(engine)
    const id = await direct()
    const now = engine.clock.now()
    const texts = ['one', 'two', 'three', 'four']
    await Promise.all(texts.map((text, n) => rows.add(written(id, n % 2 ? otto : nora, text), now)))
    const found = (await rows.find(nora.id, id ?? ''))!
    expect(found.last_message_at).toBe(now + 3)
    const all = await rows.messages(found, { size: 10 })
    expect(all.map(({ created_at }) => created_at)).toEqual([now + 3, now + 2, now + 1, now])
    expect(all.map(({ text }) => text).sort()).toEqual([...texts].sort())
    expect(await rows.add(written(randomUUID(), nora, 'lost'), now)).toBeUndefined()
  })

  it('are read by pages, from where a member may read', async () => {
    const { rows, nora, direct } = await opened(engine)
    const id = await direct()
    for (const text of ['1', '2', '3', '4', '5']) {
      await rows.add(written(id, nora, text), engine.clock.now())
      engine.clock.advance(10)
    }
    const found = (await rows.find(nora.id, id ?? ''))!
    const first = await rows.messages(found, { size: 2 })
    expect(first.map(({ text }) => text)).toEqual(['5', '4'])
    const { created_at: at, id: last } = first[1]!
    const second = await rows.messages(found, { size: 2, after: { at, id: last } })
    expect(second.map(({ text }) => text)).toEqual(['3', '2'])
    const late = { ...found, reads_from: at }
    expect((await rows.messages(late, { size: 9 })).map(({ text }) => text)).toEqual(['5', '4'])
  })

  it('are read together, the newest first, also where several are of one moment', async () => {
    const { rows, nora, otto, direct } = await opened(engine)
    const first = await direct()
    const [row, members] = conversation(engine, [nora, otto], { ...group, key: 'group 2' })
    const second = await rows.ensure(row, members, 9, engine.clock.now())
    for (let n = 0; n < 6; n++) {
      for (const id of [first, second]) await rows.add(written(id, nora, `${n}`), engine.clock.now())
      engine.clock.advance(10)
    }
    const texts: string[] = []
    for (let after: { at: number; id: string } | undefined; ; ) {
      const part = await rows.allMessages(otto.id, { size: 5, after })
      if (part.length === 0) break
      texts.push(...part.map(({ message }) => message.text))
      const { message } = part.at(-1)!
      after = { at: message.created_at, id: message.id }
    }
    expect(texts).toEqual(['5', '5', '4', '4', '3', '3', '2', '2', '1', '1', '0', '0'])
    const { items } = await rows.list(nora.id, page)
    expect(new Set(items.map(({ id }) => id))).toEqual(new Set([first, second]))
  })

  it('lose what is old, some at once', async () => {
    const { rows, nora, direct } = await opened(engine)
    const id = await direct()
    for (const text of ['1', '2', '3', '4']) {
      await rows.add(written(id, nora, text), engine.clock.now())
      engine.clock.advance(10)
    }
    const before = engine.clock.now() - 10
    expect([await rows.removeOlder(before, 2), await rows.removeOlder(before, 2)]).toEqual([2, 1])
    const found = (await rows.find(nora.id, id ?? ''))!
    expect((await rows.messages(found, { size: 9 })).map(({ text }) => text)).toEqual(['4'])
  })

  it('lose what a subscriber wrote with the subscriber, and end where two talked', async () => {
    const { directory, rows, nora, otto, direct } = await opened(engine)
    const id = await direct()
    const [row, members] = conversation(engine, [nora, otto], { ...group, key: 'group 3' })
    const several = await rows.ensure(row, members, 9, engine.clock.now())
    const alone = await rows.ensure(
      ...conversation(engine, [nora], { ...group, key: 'group 4' }),
      engine.clock.now(),
    )
    for (const where of [id, several]) {
      await rows.add(written(where, nora, 'of Nora'), engine.clock.now())
      await rows.add(written(where, otto, 'of Otto'), engine.clock.now())
    }
    await directory.resources.remove(p, 'subscriber', nora.id)
    expect((await rows.allMessages(otto.id, { size: 9 })).map(({ message }) => message.text)).toEqual([
      'of Otto',
    ])
    expect((await rows.list(otto.id, page)).items.map((left) => left.id)).toEqual([several])
    const text = directory.store.selectFrom('message').select('text')
    expect(await text.execute()).toEqual([{ text: 'of Otto' }])
    await rows.removeDeserted()
    const left = await directory.store.selectFrom('conversation').select('id').execute()
    expect(left).toEqual([{ id: several }])
    expect(left).not.toContainEqual({ id: alone })
  })
})

describePostgres('gateways on one database', (engine) => {
  it('hear of the messages that are written at another one', async () => {
    const { directory, rows, nora, direct } = await opened(engine)
    const other = await engine.open()
    const heard: unknown[] = []
    other.onElsewhere((news) => {
      heard.push(news)
    })
    const message = await rows.add(written(await direct(), nora, 'Hello'), engine.clock.now())
    await vi.waitFor(() => expect(heard).toContainEqual({ kind: 'message', id: message?.id }))
    const found = await new ConversationRows(other.store).message(message?.id ?? '')
    expect(found?.message).toEqual(message)
    // That a message is gone is no news.
    heard.splice(0)
    await directory.resources.remove(p, 'subscriber', nora.id)
    await vi.waitFor(() => expect(heard).toContainEqual({ kind: 'resource', id: nora.id }))
    expect(heard).not.toContainEqual(expect.objectContaining({ kind: 'message' }))
  })
})
