import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ApiTestSite, asProject, ours, theirs } from '../testing/api-test-site.ts'

const path = '/api/project/tokens'
let rig: ApiTestSite

beforeAll(async () => {
  rig = await ApiTestSite.open()
})
afterAll(() => rig.close())

const made = async (permissions: readonly string[], more: object = {}) => {
  const answer = await rig.ask('POST', path, { name: 'made', permissions, ...more })
  expect(answer.statusCode).toBe(201)
  return answer.json()
}
/** Sends a request with another token of the first project. */
const askBy = (
  secret: string,
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE',
  url: string,
  payload?: object,
) =>
  rig.site.inject({
    method,
    url,
    headers: asProject({ id: 'p1', apiToken: secret }),
    ...(payload && { payload }),
  })
const codeOf = (answer: { json(): { errors: { code: string }[] } }) => answer.json().errors[0]?.code

describe('tokens of the project', () => {
  it('are created with a secret that is shown once, and are valid at once', async () => {
    const { token, id } = await made(['tokens', 'records'])
    expect(Buffer.from(token, 'base64url')).toHaveLength(32)
    const list = await askBy(token, 'GET', path)
    expect(list.statusCode).toBe(200)
    expect(list.json().data.map((each: { name: string; permissions: string[] }) => each.name)).toContain(
      'made',
    )
    expect(list.body).not.toContain(token)
    expect(list.body).not.toContain(ours.apiToken)
    expect(list.json().data.find((each: { id: string }) => each.id === id).permissions).toEqual([
      'tokens',
      'records',
    ])
    expect(rig.lines.join('')).not.toContain(token)
  })

  it('are valid until they expire or are removed', async () => {
    const end = new Date(rig.clock.now() + 60_000).toISOString()
    const ending = await made(['tokens'], { expires_at: end })
    expect(ending.expires_at).toBe(end)
    expect((await askBy(ending.token, 'GET', path)).statusCode).toBe(200)
    rig.clock.advance(60_000)
    expect((await askBy(ending.token, 'GET', path)).statusCode).toBe(401)
    const { token, id } = await made(['tokens'])
    expect((await rig.ask('DELETE', `${path}/${id}`)).statusCode).toBe(204)
    expect((await askBy(token, 'GET', path)).statusCode).toBe(401)
    expect((await rig.ask('DELETE', `${path}/${id}`)).statusCode).toBe(404)
  })

  it('cannot create a token with more permissions than their own', async () => {
    const { token, id } = await made(['tokens', 'records'])
    const more = await askBy(token, 'POST', path, { name: 'x', permissions: ['tokens', 'calling'] })
    expect([more.statusCode, codeOf(more)]).toEqual([403, 'insufficient_scope'])
    const raised = await askBy(token, 'PATCH', `${path}/${id}`, { permissions: ['tokens', 'calling'] })
    expect(raised.statusCode).toBe(403)
    const other = await made(['calling'])
    expect((await askBy(token, 'PATCH', `${path}/${other.id}`, { name: 'mine' })).statusCode).toBe(403)
    const removed = await askBy(token, 'DELETE', `${path}/${other.id}`)
    expect([removed.statusCode, codeOf(removed)]).toEqual([403, 'insufficient_scope'])
    const less = await askBy(token, 'PUT', `${path}/${id}`, { permissions: ['tokens'] })
    expect(less.json().permissions).toEqual(['tokens'])
    expect((await askBy(token, 'POST', path, { name: 'x', permissions: ['records'] })).statusCode).toBe(403)
  })

  it('cannot create a token that expires after themselves', async () => {
    const end = (ms: number) => new Date(rig.clock.now() + ms).toISOString()
    const own = end(60_000)
    const { token } = await made(['tokens'], { expires_at: own })
    const ask = (more: object) => askBy(token, 'POST', path, { name: 'x', permissions: ['tokens'], ...more })
    expect((await ask({})).json().expires_at).toBe(own)
    expect((await ask({ expires_at: end(30_000) })).statusCode).toBe(201)
    const longer = await ask({ expires_at: end(60_001) })
    expect([longer.statusCode, longer.json().errors[0].attribute]).toEqual([422, 'expires_at'])
  })

  it('can be managed only by tokens with that permission', async () => {
    const { token, id } = await made(['calling', 'subscribers', 'resources', 'records', 'applications'])
    expect((await askBy(token, 'GET', path)).statusCode).toBe(403)
    expect((await askBy(token, 'DELETE', `${path}/${id}`)).statusCode).toBe(403)
  })

  it('of the configuration file are listed, and cannot be changed', async () => {
    const { data } = (await rig.ask('GET', path)).json()
    const own = data.find((each: { managed_by: string }) => each.managed_by === 'file')
    const change = await rig.ask('PATCH', `${path}/${own.id}`, { name: 'x' })
    expect([change.statusCode, codeOf(change)]).toEqual([409, 'managed_by_file'])
    expect((await rig.ask('DELETE', `${path}/${own.id}`)).statusCode).toBe(409)
  })

  it('of another project are not visible, and not valid for this project', async () => {
    const { id, token } = await made(['tokens'])
    expect((await rig.ask('PATCH', `${path}/${id}`, { name: 'x' }, theirs)).statusCode).toBe(404)
    expect((await rig.ask('DELETE', `${path}/${id}`, undefined, theirs)).statusCode).toBe(404)
    const confused = await rig.site.inject({ url: path, headers: asProject({ id: 'p2', apiToken: token }) })
    expect(confused.statusCode).toBe(401)
  })

  it.each<[string, object, string]>([
    ['no name', { permissions: ['records'] }, 'name'],
    ['no permissions', { name: 'x' }, 'permissions'],
    ['an empty list', { name: 'x', permissions: [] }, 'permissions'],
    ['an unknown one', { name: 'x', permissions: ['root'] }, 'permissions.0'],
    [
      'an end in the past',
      { name: 'x', permissions: ['records'], expires_at: '2001-01-01T00:00:00Z' },
      'expires_at',
    ],
    ['a secret of one’s own', { name: 'x', permissions: ['records'], token: 'x' }, 'token'],
  ])('are rejected with %s', async (_name, body, field) => {
    const answer = await rig.ask('POST', path, body)
    expect([answer.statusCode, answer.json().errors[0].attribute]).toEqual([422, field])
  })
})

describe('a client that guesses tokens', () => {
  it('is finally rejected with 429, while valid tokens are accepted', async () => {
    // Wrong tokens of the tests before do not count any more.
    rig.clock.advance(60_000)
    const wrong = () => askBy('wrong', 'GET', path)
    for (let count = 0; count < 30; count++) expect((await wrong()).statusCode).toBe(401)
    const refused = await wrong()
    expect(refused.statusCode).toBe(429)
    expect(Number(refused.headers['retry-after'])).toBe(60)
    expect((await rig.ask('GET', path)).statusCode).toBe(200)
    expect((await wrong()).statusCode).toBe(429)
    rig.clock.advance(60_000)
    expect((await wrong()).statusCode).toBe(401)
  })
})
