import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { everythingOf } from '../../../directory/testing/directories.ts'
import { ApiTestSite, attributes, theirs } from '../../testing/api-test-site.ts'

let rig: ApiTestSite
beforeAll(async () => {
  rig = await ApiTestSite.open()
})
afterAll(() => rig.close())

const base = '/api/fabric/subscribers'
const password = 'long-enough'

describe('subscribers', () => {
  it('sign in with their password until it is changed', async () => {
    const made = await rig.make(base, { email: 'Frank@x.test', password })
    expect(made).toMatchObject({
      address: '/private/frank',
      subscriber: { email: 'frank@x.test', may_dial_out: false },
    })
    expect(await rig.directory.signIn('p1', 'frank@x.test', password)).toMatchObject({ id: made.id })
    expect(await rig.directory.signIn('p2', 'frank@x.test', password)).toBeUndefined()
    await rig.send('PATCH', `${base}/${made.id}`, { password: 'another-one', may_dial_out: true })
    expect(await rig.directory.signIn('p1', 'frank@x.test', password)).toBeUndefined()
    expect(await rig.directory.signIn('p1', 'frank@x.test', 'another-one')).toMatchObject({
      mayDialOut: true,
    })
    const token = await rig.tokens.issue(rig.directory.subscriber(made.id)!, 60)
    await rig.send('DELETE', `${base}/${made.id}`)
    expect(await rig.directory.signIn('p1', 'frank@x.test', 'another-one')).toBeUndefined()
    expect((await rig.get('/api/fabric/addresses', token.token)).status).toBe(401)
  })

  it('need a unique e-mail in the project, and a password of at least eight characters', async () => {
    await rig.make(base, { email: 'gina@x.test', password })
    const again = await rig.send('POST', base, { email: 'GINA@x.test', password })
    expect(again).toMatchObject({
      status: 422,
      body: { errors: [{ code: 'email_taken', attribute: 'email' }] },
    })
    expect((await rig.send('POST', base, { email: 'gina@x.test', password }, theirs)).status).toBe(201)
    expect(attributes(await rig.send('POST', base, {}))).toEqual(['email', 'password'])
    expect(attributes(await rig.send('POST', base, { email: 'x', password: 'short' }))).toEqual([
      'email',
      'password',
    ])
    expect(attributes(await rig.send('POST', base, { email: 1, password: null }))).toEqual([
      'email',
      'password',
    ])
  })

  it('are identical under both paths', async () => {
    const made = await rig.make(base, { email: 'hans@x.test', password })
    expect((await rig.send('GET', `/api/fabric/resources/subscribers/${made.id}`)).body).toEqual(made)
  })

  it('of the configuration file cannot be changed', async () => {
    const alice = rig.directory.subscriberByEmail('p1', 'alice@example.test')!
    const answer = await rig.send('PATCH', `${base}/${alice.id}`, { password: 'another-one' })
    expect(answer).toMatchObject({ status: 409, body: { errors: [{ code: 'managed_by_file' }] } })
    expect((await rig.send('DELETE', `${base}/${alice.id}`)).status).toBe(409)
  })
})

describe('the addresses for a token', () => {
  const tokenOf = async (terms = {}) => {
    const alice = rig.directory.subscriberByEmail('p1', 'alice@example.test')!
    return (await rig.tokens.issue(alice, 60, terms)).token
  }
  const names = (body: { readonly data: readonly { readonly name: string }[] }) =>
    body.data.map(({ name }) => name)

  it('are those of the project, each with its channels', async () => {
    await rig.make('/api/fabric/resources/conference_rooms', {
      name: 'attic',
      display_name: 'Under the roof',
    })
    await rig.make('/api/fabric/resources/sip_endpoints', { username: 'attic-phone', password })
    await rig.make('/api/fabric/resources/ai_agents', { name: 'attic-agent', prompt: { text: 'Hi' } })
    await rig.send('POST', '/api/fabric/resources/conference_rooms', { name: 'foreign' }, theirs)
    const token = await tokenOf()
    const get = (query: string) => rig.get(`/api/fabric/addresses${query}`, token)
    const all = (await get('?page_size=1000')).body
    expect(names(all)).toEqual([...names(all)].sort())
    expect(names(all)).not.toContain('foreign')
    const by = (name: string) => all.data.find((address: { name: string }) => address.name === name)
    expect(by('attic')).toMatchObject({
      type: 'room',
      display_name: 'Under the roof',
      locked: false,
      preview_url: null,
      channels: {
        audio: '/public/attic?channel=audio',
        messaging: '/public/attic?channel=messaging',
      },
    })
    expect(by('alice')).toMatchObject({
      type: 'subscriber',
      channels: { video: '/public/alice?channel=video' },
    })
    expect(by('attic-phone')).toMatchObject({
      type: 'call',
      channels: { audio: '/public/attic-phone?channel=audio' },
    })
    expect(by('attic-phone').channels).not.toHaveProperty('video')
    expect(by('attic-agent')).toMatchObject({
      type: 'app',
      channels: { audio: '/public/attic-agent?channel=audio' },
    })
    expect(by('help')).toMatchObject({ type: 'app', channels: { audio: '/public/help?channel=audio' } })
    expect(names((await get('?type=room')).body)).toEqual(['attic'])
    expect(names((await get('?name=attic')).body)).toEqual(['attic'])
    expect(names((await get('?name=%2Fpublic%2Fattic')).body)).toEqual(['attic'])
    expect(names((await get('?display_name=roof')).body)).toEqual(['attic'])
    expect((await get(`/${by('attic').id}`)).body).toEqual(by('attic'))
    const foreign = everythingOf(rig.directory, 'p2').find(({ address }) => address.name === 'foreign')!
    expect((await get(`/${foreign.address.id}`)).status).toBe(404)
    expect((await get('/x')).status).toBe(404)
    expect((await get('?page_size=0')).status).toBe(422)
    expect((await rig.get('/api/fabric/addresses?page_size=0', 'x')).status).toBe(401)
    const page = (await get('?page_size=2&sort_by=created_at&sort_order=desc')).body
    expect(page.data).toHaveLength(2)
    expect((await rig.get(page.links.next, token)).body.links.prev).toBeDefined()
  })

  it('are for guests only those of their token', async () => {
    const all = everythingOf(rig.directory, 'p1').map(({ address }) => address)
    const [help, alice] = ['help', 'alice'].map((name) => all.find((address) => address.name === name)!)
    const token = await tokenOf({ kind: 'guest', addressIds: [help!.id] })
    const get = (query: string) => rig.get(`/api/fabric/addresses${query}`, token)
    expect(names((await get('')).body)).toEqual(['help'])
    expect((await get('?type=subscriber')).body.data).toEqual([])
    expect((await get(`/${help!.id}`)).status).toBe(200)
    expect((await get(`/${alice!.id}`)).status).toBe(404)
    expect((await rig.get('/api/fabric/subscriber/info', token)).body).toMatchObject({
      email: null,
      fabric_addresses: [],
    })
  })

  it('are listed beside the record of the subscriber', async () => {
    const made = await rig.make(base, {
      email: 'ida@x.test',
      password,
      first_name: 'Ida',
      job_title: 'Chief',
      timezone: 'Europe/Berlin',
      country: 'DE',
      region: 'BE',
      company_name: 'Ida & Co',
    })
    const { token } = await rig.tokens.issue(rig.directory.subscriber(made.id)!, 60, {
      scopes: ['sat:refresh'],
    })
    const { body } = await rig.get('/api/fabric/subscriber/info', token)
    expect(body).toMatchObject({
      id: made.id,
      email: 'ida@x.test',
      first_name: 'Ida',
      last_name: null,
      job_title: 'Chief',
      time_zone: 'Europe/Berlin',
      country: 'DE',
      region: 'BE',
      company_name: 'Ida & Co',
      app_settings: { scopes: ['sat:refresh'] },
      fabric_addresses: [{ name: 'ida', resource_id: made.id }],
    })
  })
})
