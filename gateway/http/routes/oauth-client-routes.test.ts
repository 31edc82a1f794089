import { afterEach, beforeEach, expect, it } from 'vitest'
import { ApiTestSite, ours, theirs } from '../testing/api-test-site.ts'

let rig: ApiTestSite
beforeEach(async () => {
  rig = await ApiTestSite.open()
})
afterEach(() => rig.close())

const path = '/api/oauth_clients'
const phone = { name: 'Phone', redirect_uris: ['https://app.example/cb'] }

it('a client can be created, read, listed, changed and removed', async () => {
  const made = await rig.ask('POST', path, phone)
  expect(made.statusCode).toBe(201)
  const client = made.json()
  expect(client).toEqual({
    ...phone,
    id: expect.any(String),
    project_id: ours.id,
    native: false,
    confidential: false,
    managed_by: 'api',
    created_at: expect.any(String),
    updated_at: expect.any(String),
  })
  expect((await rig.ask('GET', `${path}/${client.id}`)).json()).toEqual(client)
  expect((await rig.ask('GET', path)).json().data).toEqual([client])
  const change = { redirect_uris: ['com.example.app:/cb'], native: true }
  const changed = await rig.ask('PATCH', `${path}/${client.id}`, change)
  expect(changed.json()).toMatchObject({ ...change, name: 'Phone' })
  expect((await rig.ask('DELETE', `${path}/${client.id}`)).statusCode).toBe(204)
  expect((await rig.ask('GET', `${path}/${client.id}`)).statusCode).toBe(404)
})

it('a secret is shown when it is created, and never again', async () => {
  const made = (await rig.ask('POST', path, { ...phone, confidential: true })).json()
  expect(made.secret).toHaveLength(43)
  const texts = [
    (await rig.ask('GET', `${path}/${made.id}`)).body,
    (await rig.ask('GET', path)).body,
    (await rig.ask('PATCH', `${path}/${made.id}`, { name: 'Other' })).body,
  ]
  for (const text of texts) expect(text).not.toMatch(/secret/)
  const renewed = await rig.ask('POST', `${path}/${made.id}/secret`)
  expect(renewed.statusCode).toBe(201)
  expect(renewed.json().secret).not.toBe(made.secret)
  expect(rig.lines.join('\n')).not.toContain(made.secret)
})

it.each([
  ['a redirect without TLS', { redirect_uris: ['http://app.example/cb'] }, 'redirect_uris.0'],
  ['a scheme of its own without being native', { redirect_uris: ['com.example.app:/cb'] }, 'redirect_uris.0'],
  ['a wildcard', { redirect_uris: ['https://app.example/cb', 'https://*.app.example/'] }, 'redirect_uris.1'],
  ['a script', { redirect_uris: ['javascript:alert(1)'], native: true }, 'redirect_uris.0'],
  ['no redirect', { redirect_uris: [] }, 'redirect_uris'],
  ['a blank name', { name: ' ' }, 'name'],
  ['an id of its own choice', { id: 'phone' }, 'id'],
  ['a hash', { secret_hash: 'x' }, 'secret_hash'],
])('refuses %s, and names the field', async (_what, change, attribute) => {
  const answer = await rig.ask('POST', path, { ...phone, ...change })
  expect(answer.statusCode).toBe(422)
  expect(answer.json().errors.map((error: { attribute: string }) => error.attribute)).toContain(attribute)
})

it('a redirect URI that is no longer permitted cannot be kept', async () => {
  const native = { name: 'App', redirect_uris: ['com.example.app:/cb'], native: true }
  const { id } = (await rig.ask('POST', path, native)).json()
  expect((await rig.ask('PATCH', `${path}/${id}`, { native: false })).statusCode).toBe(422)
})

it('a client belongs to one project', async () => {
  const { id } = (await rig.ask('POST', path, phone)).json()
  expect((await rig.ask('GET', path, undefined, theirs)).json().data).toEqual([])
  for (const method of ['GET', 'DELETE'] as const)
    expect((await rig.ask(method, `${path}/${id}`, undefined, theirs)).statusCode).toBe(404)
  expect((await rig.ask('PATCH', `${path}/${id}`, { name: 'x' }, theirs)).statusCode).toBe(404)
})
