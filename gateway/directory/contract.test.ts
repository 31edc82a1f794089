import { expect, it } from 'vitest'
import { config, phone, script } from './testing/directories.ts'
import { describeEngines } from './testing/engines.ts'

const p = 'project-1'
const other = 'project-2'
const both = [p, other].map((id) => ({ id, name: id, signingKeys: [] }))

describeEngines('resources', (engine) => {
  it('are made, found, renamed and removed, with one id and one address', async () => {
    const { resources, resolve } = bound(await engine.open())
    const made = await resources.create({
      projectId: p,
      type: 'swml_script',
      displayName: 'Opening Hours!',
      details: { document: '{"sections":{}}' },
    })
    expect(made).toMatchObject({
      address: { context: 'public', name: 'opening-hours' },
      managedByFile: false,
      details: { document: '{"sections":{}}' },
    })
    expect(resources.find(p, 'swml_script', made.id)).toBe(made)
    expect(resources.find(p, 'room', made.id)).toBeUndefined()
    expect(resources.findByAddressId(p, made.address.id)).toBe(made)
    engine.clock.advance(5)
    const renamed = await resources.update(p, 'swml_script', made.id, { name: 'hours', displayName: 'Hours' })
    expect(renamed).toMatchObject({ id: made.id, displayName: 'Hours', details: made.details })
    expect(renamed.address).toEqual({ ...made.address, name: 'hours' })
    expect(renamed.updatedAt).toBe(made.updatedAt + 5)
    expect(resources.findByAddress(p, 'public', 'opening-hours')).toBeUndefined()
    expect(resolve('/public/hours')).toMatchObject({ kind: 'handler', handler: { kind: 'script' } })
    await resources.remove(p, undefined, made.id)
    expect(resolve('/public/hours')).toBeUndefined()
    await expect(resources.remove(p, undefined, made.id)).rejects.toMatchObject({ code: 'unknown_resource' })
  })

  it('are as they were after a restart', async () => {
    const first = await engine.open({ config: config({ projects: both }) })
    const details = { settings: { prompt: { text: 'Hi' } } }
    const made = await first.resources.create({
      projectId: other,
      type: 'ai_agent',
      displayName: 'A',
      details,
    })
    await first.close()
    const second = await engine.open({ config: config({ projects: both }) })
    expect(second.resources.find(other, 'ai_agent', made.id)).toEqual(made)
  })

  it('have names that are unique in the project', async () => {
    const { resources } = await engine.open({ config: config({ projects: both }) })
    const room = (projectId: string, name?: string) =>
      resources.create({
        projectId,
        type: 'room',
        displayName: 'Team',
        details: { recordOnStart: false },
        ...(name !== undefined && { name }),
      })
    expect((await room(p)).address.name).toBe('team')
    const rest = await Promise.all(
      [room(p), room(p), room(p)].map((made) => made.then((r) => r.address.name)),
    )
    expect(new Set(rest).size).toBe(3)
    await expect(room(p, 'team')).rejects.toMatchObject({
      code: 'address_taken',
      facts: { attribute: 'address' },
    })
    await expect(room(p, 'a/b')).rejects.toMatchObject({ code: 'invalid_field' })
    // Another project has names of its own.
    expect((await room(other, 'team')).address.name).toBe('team')
    const third = await room(p, 'third')
    await expect(resources.update(p, 'room', third.id, { name: 'team' })).rejects.toMatchObject({
      code: 'address_taken',
    })
    expect(resources.find(p, 'room', third.id)).toEqual(third)
  })

  it('of another project are not there', async () => {
    const directory = await engine.open({ config: config({ projects: both }) })
    const { resources } = directory
    const alice = directory.subscriberByEmail(p, 'alice@example.test')
    const id = alice?.id ?? ''
    expect(resources.find(p, 'subscriber', id)).toBeDefined()
    expect(resources.find(other, 'subscriber', id)).toBeUndefined()
    expect(resources.findByAddressId(other, alice?.addressId ?? '')).toBeUndefined()
    expect(resources.findByAddress(other, 'public', 'alice')).toBeUndefined()
    expect(resources.findSubscriber(other, 'alice@example.test')).toBeUndefined()
    expect(resources.list(other, { number: 0, size: 10 })).toEqual({ items: [], total: 0 })
    expect(directory.resolve('/public/alice', other)).toBeUndefined()
    expect(await directory.signIn(other, 'alice@example.test', 'wonder')).toBeUndefined()
    for (const attempt of [
      () => resources.update(other, 'subscriber', id, { displayName: 'x' }),
      () => resources.remove(other, 'subscriber', id),
      () => resources.deployFlow(other, id),
      () => directory.changeSubscriber(other, id, { disabled: true }),
    ])
      await expect(attempt()).rejects.toMatchObject({ code: 'unknown_resource' })
  })

  it('of the file are not changed', async () => {
    const directory = await engine.open()
    const { resources } = directory
    const help = resources.findByAddress(p, 'public', 'help')
    expect(help).toMatchObject({ type: 'swml_script', managedByFile: true })
    const id = help?.id ?? ''
    const refused = { code: 'managed_by_file' }
    await expect(resources.update(p, 'swml_script', id, { name: 'x' })).rejects.toMatchObject(refused)
    await expect(resources.remove(p, undefined, id)).rejects.toMatchObject(refused)
    expect(directory.resolve('/public/help', p)).toMatchObject({ handler: script })
  })

  it('are listed in the order in which they were made, or by name, in pages', async () => {
    const { resources } = await engine.open({ config: config({ subscribers: [], resources: [] }) })
    for (const name of ['c', 'a', 'b'])
      await resources.create({
        projectId: p,
        type: 'relay_application',
        displayName: `App ${name}`,
        name,
        details: { topic: name },
      })
    const names = (query: object) =>
      resources.list(p, { number: 0, size: 10, ...query }).items.map(({ address }) => address.name)
    expect(names({})).toEqual(['c', 'a', 'b'])
    expect(names({ descending: true })).toEqual(['b', 'a', 'c'])
    expect(names({ sortBy: 'name' })).toEqual(['a', 'b', 'c'])
    expect(names({ sortBy: 'name', number: 1, size: 2 })).toEqual(['c'])
    expect(names({ displayName: 'pp B' })).toEqual(['b'])
    expect(names({ name: '/public/a' })).toEqual(['a'])
    expect(names({ types: ['room'] })).toEqual([])
    expect(resources.list(p, { number: 7, size: 2 })).toEqual({ items: [], total: 3 })
  })

  it('are no more than the project may have, however many are made at once', async () => {
    const limits = { subscribers: 2, resources: 3, domainApps: 1, carriers: 1, tokens: 1 }
    const { resources } = await engine.open({ limits })
    const attempts = Array.from({ length: 6 }, (_, i) =>
      resources.create({
        projectId: p,
        type: 'relay_application',
        displayName: `${i}`,
        details: { topic: 't' },
      }),
    )
    const settled = await Promise.allSettled(attempts)
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
    expect(settled.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'over_quota' },
    })
    const [first] = resources.list(p, { types: ['relay_application'], number: 0, size: 1 }).items
    await resources.remove(p, undefined, first?.id ?? '')
    await resources.create({
      projectId: p,
      type: 'relay_application',
      displayName: 'again',
      details: { topic: 't' },
    })
  })
})

describeEngines('subscribers', (engine) => {
  it('sign in with their password, and are known by their e-mail', async () => {
    const directory = await engine.open()
    const { resources } = directory
    const carol = await resources.create({
      projectId: p,
      type: 'subscriber',
      displayName: 'Carol',
      password: 'first-one',
      details: { email: 'Carol@Example.test', jobTitle: 'Cook', mayDialOut: true },
    })
    expect(carol).toMatchObject({ address: { context: 'private', name: 'carol' } })
    expect(carol.details).toEqual({ email: 'carol@example.test', jobTitle: 'Cook', mayDialOut: true })
    expect(await directory.signIn(p, 'carol@example.TEST', 'first-one')).toMatchObject({ id: carol.id })
    await expect(
      resources.create({
        projectId: p,
        type: 'subscriber',
        displayName: 'C',
        details: { email: 'carol@example.test', mayDialOut: true },
      }),
    ).rejects.toMatchObject({ code: 'email_taken', facts: { attribute: 'email' } })
    engine.clock.advance(10_000)
    const change = { password: 'second-one', details: { email: 'c@example.test', jobTitle: undefined } }
    const changed = await resources.update(p, 'subscriber', carol.id, change as never)
    expect(changed.details).toEqual({ email: 'c@example.test', mayDialOut: true })
    expect(await directory.signIn(p, 'c@example.test', 'first-one')).toBeUndefined()
    const signedIn = await directory.signIn(p, 'c@example.test', 'second-one')
    // Tokens from before the change are not good any more.
    expect(signedIn?.tokensAfter).toBe(engine.clock.now())
    expect(directory.subscriberByEmail(p, 'carol@example.test')).toBeUndefined()
  })

  it('without a password, or disabled, do not sign in', async () => {
    const directory = await engine.open()
    const dave = await directory.resources.create({
      projectId: p,
      type: 'subscriber',
      displayName: 'D',
      details: { email: 'd@example.test', mayDialOut: true },
    })
    for (const guess of ['', 'unknown', 'null'])
      expect(await directory.signIn(p, 'd@example.test', guess)).toBeUndefined()
    await directory.resources.update(p, 'subscriber', dave.id, { password: 'a-long-one' })
    await directory.changeSubscriber(p, dave.id, { disabled: true, pushKey: 'a2V5' })
    expect(await directory.signIn(p, 'd@example.test', 'a-long-one')).toBeUndefined()
    expect(directory.subscriber(dave.id)).toMatchObject({ disabled: true, pushKey: 'a2V5' })
  })
})

describeEngines('SIP endpoints', (engine) => {
  const details = { callerId: '+49301', mayDialOut: false, encryption: 'default' } as const

  it('have user names that no other of any project has, and secrets made of them', async () => {
    const directory = await engine.open({ config: config({ projects: both, endpoints: [phone] }) })
    const { resources } = directory
    const make = (username: string, projectId = other) =>
      resources.create({
        projectId,
        type: 'sip_endpoint',
        displayName: username,
        password: 'Desk-Secret',
        details: { ...details, username },
      })
    await expect(make('desk1')).rejects.toMatchObject({
      code: 'username_taken',
      facts: { attribute: 'username' },
    })
    const desk = await make('desk2')
    expect(directory.endpointByName('desk2')).toMatchObject({
      id: desk.id,
      projectId: other,
      callerId: '+49301',
      codecs: ['PCMU', 'PCMA', 'G722', 'opus'],
    })
    expect([...(directory.endpoint(desk.id)?.secrets.keys() ?? [])]).toEqual([
      'phones.example',
      'sip.example',
    ])
    const renaming = { details: { username: 'desk3' } }
    await expect(resources.update(other, 'sip_endpoint', desk.id, renaming)).rejects.toMatchObject({
      code: 'invalid_field',
      facts: { attribute: 'password' },
    })
    expect(directory.endpointByName('desk2')?.id).toBe(desk.id)
    await resources.update(other, 'sip_endpoint', desk.id, { ...renaming, password: 'Desk-Secret-2' })
    expect(directory.endpointByName('desk3')?.secrets.get('sip.example')?.username).toBe('desk3')
    expect(directory.endpointByName('desk2')).toBeUndefined()
  })

  it('run what their handler is now', async () => {
    const directory = await engine.open()
    const { resources } = directory
    const app = await resources.create({
      projectId: p,
      type: 'relay_application',
      displayName: 'A',
      details: { topic: 'first' },
    })
    const desk = await resources.create({
      projectId: p,
      type: 'sip_endpoint',
      displayName: 'D',
      password: 'Desk-Secret',
      details: { ...details, username: 'desk2', handler: { kind: 'resource', resourceId: app.id } },
    })
    expect(directory.endpoint(desk.id)?.handler).toEqual({ kind: 'realtime', topic: 'first' })
    await resources.update(p, 'relay_application', app.id, { details: { topic: 'second' } })
    expect(directory.endpoint(desk.id)?.handler).toEqual({ kind: 'realtime', topic: 'second' })
    await resources.remove(p, undefined, app.id)
    expect(directory.endpoint(desk.id)?.handler).toBeUndefined()
  })
})

describeEngines('rooms', (engine) => {
  it('are found by their name or address, whatever they are called', async () => {
    const directory = await engine.open()
    const { resources } = directory
    const made = await resources.create({
      projectId: p,
      type: 'room',
      displayName: 'North',
      details: { recordOnStart: true, maxMembers: 1 },
    })
    for (const name of ['north', '/public/north', '/public/north?channel=audio'])
      expect(directory.room(name, p)).toEqual({ address: '/public/north', resource: made })
    await resources.update(p, 'room', made.id, { name: 'board', context: 'private' })
    expect(directory.room('/private/board', p)).toMatchObject({
      address: '/private/board',
      resource: { id: made.id },
    })
    // Of another project, of another kind, or of none.
    await resources.create({ projectId: p, type: 'cxml_script', displayName: 'x', details: { document: '' } })
    expect(directory.room('/private/board', other)).toEqual({ address: '/private/board' })
    for (const name of ['x', 'north', 'board'])
      expect(directory.room(name, p)).toEqual({ address: `/public/${name}` })
  })
})

/** `resolve` for the first project. */
const bound = (
  directory: Awaited<ReturnType<Parameters<Parameters<typeof describeEngines>[1]>[0]['open']>>,
) => ({
  resources: directory.resources,
  resolve: (to: string) => directory.resolve(to, p),
})
