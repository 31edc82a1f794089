import { decodeJwt, decodeProtectedHeader } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ApiTestSite, asProject, ours, theirs } from '../../testing/api-test-site.ts'

const tokens = '/api/fabric/subscribers/tokens'
const refresh = `${tokens}/refresh`
const guests = '/api/fabric/guests/tokens'
const info = '/api/fabric/subscriber/info'
let rig: ApiTestSite

/** Reference of a subscriber that does not exist before the test. */
let reference: string
let count = 0

beforeAll(async () => {
  rig = await ApiTestSite.open()
})
afterAll(() => rig.close())
beforeEach(() => {
  reference = `new-${++count}@example.test`
})

interface Pair {
  readonly subscriber_id: string
  readonly token: string
  readonly refresh_token: string
}

const pairFor = async (body: object = { reference }, project = ours): Promise<Pair> => {
  const answer = await rig.ask('POST', tokens, body, project)
  expect(answer.statusCode).toBe(200)
  return answer.json()
}

/** Sends a request for the holder of a token, and returns the status. */
const statusWith = async (token: string): Promise<number> =>
  (await rig.askAs({ url: info, token })).statusCode

const fieldOf = (answer: { json(): { errors: { attribute: string }[] } }) =>
  answer.json().errors[0]?.attribute
const codeOf = (answer: { json(): { errors: { code: string }[] } }) => answer.json().errors[0]?.code

describe('POST /api/fabric/subscribers/tokens', () => {
  it('creates an unknown subscriber with the given fields, and returns a valid token', async () => {
    const fields = { first_name: 'Nora', last_name: 'New', time_zone: 'Europe/Berlin', company_name: 'ACME' }
    const made = await pairFor({ reference: reference.toUpperCase(), ...fields })
    const { sub, project, exp, iat } = decodeJwt(made.token)
    expect({ sub, project }).toEqual({ sub: made.subscriber_id, project: 'p1' })
    expect(exp! - Math.floor(iat!)).toBe(7200)
    const known = await rig.askAs({ url: info, token: made.token })
    expect(known.json()).toMatchObject({ email: reference, display_name: 'Nora New', ...fields })
    expect(known.json().app_settings.scopes).toEqual([])
    // A token of the API that may only issue tokens gives no subscriber calls at the expense of the project.
    expect(rig.directory.subscriber(made.subscriber_id)).toMatchObject({ mayDialOut: false })
  })

  it('does not change the permission to dial out', async () => {
    const { subscriber_id: id } = await pairFor()
    await rig.ask('PATCH', `/api/fabric/subscribers/${id}`, { may_dial_out: true })
    await pairFor({ reference, first_name: 'Nora' })
    expect(rig.directory.subscriber(id)).toMatchObject({ mayDialOut: true, firstName: 'Nora' })
  })

  it('finds a known subscriber by the reference in any case, and updates changed fields', async () => {
    const first = await pairFor()
    const second = await pairFor({
      reference: reference.toUpperCase(),
      job_title: 'Clerk',
      display_name: 'The Clerk',
    })
    expect(second.subscriber_id).toBe(first.subscriber_id)
    expect((await rig.askAs({ url: info, token: first.token })).json()).toMatchObject({
      job_title: 'Clerk',
      display_name: 'The Clerk',
    })
  })

  it('creates one subscriber for two simultaneous requests', async () => {
    const made = await Promise.all(Array.from({ length: 5 }, () => pairFor()))
    expect(new Set(made.map(({ subscriber_id: id }) => id)).size).toBe(1)
  })

  it('sets a password; a new one ends earlier tokens, and the same one does not', async () => {
    const first = await pairFor({ reference, password: 'first-secret' })
    rig.clock.advance(1000)
    await pairFor({ reference, password: 'first-secret' })
    expect(await statusWith(first.token)).toBe(200)
    rig.clock.advance(1000)
    const third = await pairFor({ reference, password: 'second-secret' })
    expect(await statusWith(first.token)).toBe(401)
    expect(await statusWith(third.token)).toBe(200)
    expect(codeOf(await rig.ask('POST', refresh, { refresh_token: first.refresh_token }))).toBe(
      'unauthorized',
    )
    expect(await rig.directory.signIn('p1', reference, 'second-secret')).toBeDefined()
  })

  it('returns a token for a subscriber of the file, and changes nothing', async () => {
    await pairFor({ reference: 'alice@example.test', first_name: 'Alice' })
    const answer = await rig.ask('POST', tokens, { reference: 'alice@example.test', first_name: 'Alicia' })
    expect([answer.statusCode, codeOf(answer)]).toEqual([409, 'managed_by_file'])
  })

  it('is limited to its project: the same reference is another subscriber elsewhere', async () => {
    const here = await pairFor()
    const there = await pairFor(undefined, theirs)
    expect(here.subscriber_id).not.toBe(there.subscriber_id)
    expect(decodeJwt(there.token).project).toBe('p2')
  })

  it('returns the host to which the SDK connects', async () => {
    const { token, refresh_token } = await pairFor({
      reference,
      ch: 'edge.example.test:8443',
    })
    expect(decodeProtectedHeader(token)).toMatchObject({ typ: 'SAT', ch: 'edge.example.test:8443' })
    const next = await rig.ask('POST', refresh, { refresh_token })
    expect(decodeProtectedHeader(next.json().token)).toMatchObject({ ch: 'edge.example.test:8443' })
  })

  it.each<[string, object, string]>([
    ['no reference', { first_name: 'x' }, 'reference'],
    ['an empty reference', { reference: '' }, 'reference'],
    ['a reference with a space', { reference: 'a b' }, 'reference'],
    ['a field that is not its own to set', { reference: 'a@b', may_dial_out: true }, 'may_dial_out'],
    ['a project', { reference: 'a@b', project_id: 'p2' }, 'project_id'],
    ['an end in the past', { reference: 'a@b', expire_at: 1 }, 'expire_at'],
    ['an end too far away', { reference: 'a@b', expire_at: 9_999_999_999 }, 'expire_at'],
    ['an unknown scope', { reference: 'a@b', scope: 'admin' }, 'scope'],
    ['a host that is a URL', { reference: 'a@b', ch: 'https://evil.test/?x' }, 'ch'],
    ['a short password', { reference: 'a@b', password: 'x' }, 'password'],
  ])('rejects %s, and creates no subscriber', async (_name, body, field) => {
    const answer = await rig.ask('POST', tokens, body)
    expect([answer.statusCode, fieldOf(answer)]).toEqual([422, field])
    expect(rig.directory.subscriberByEmail('p1', 'a@b')).toBeUndefined()
  })

  it('requires the project’s token', async () => {
    expect((await rig.site.inject({ method: 'POST', url: tokens, payload: {} })).statusCode).toBe(401)
    const asAlice = await rig.askAs({ method: 'POST', url: tokens, payload: { reference: 'x@y' } })
    expect(asAlice.statusCode).toBe(401)
  })
})

describe('POST /api/fabric/subscribers/tokens/refresh', () => {
  it('returns a new pair, and the old refresh token is no longer valid', async () => {
    const { refresh_token } = await pairFor()
    const answer = await rig.ask('POST', refresh, { refresh_token })
    expect(answer.statusCode).toBe(201)
    const next: Pair = answer.json()
    expect(await statusWith(next.token)).toBe(200)
    const again = await rig.ask('POST', refresh, { refresh_token })
    expect([again.statusCode, fieldOf(again)]).toEqual([401, 'refresh_token'])
    // A second use shows that the token was copied, so the new tokens are revoked too.
    expect(await statusWith(next.token)).toBe(401)
  })

  it('rejects a token of another project', async () => {
    const { refresh_token } = await pairFor()
    expect((await rig.ask('POST', refresh, { refresh_token }, theirs)).statusCode).toBe(401)
    expect((await rig.ask('POST', refresh, { refresh_token })).statusCode).toBe(201)
  })

  it('accepts a token with the scope sat:refresh, only for its own subscriber', async () => {
    const own = await pairFor({ reference, scope: 'sat:refresh' })
    const other = await pairFor({ reference: `other-${reference}`, scope: 'sat:refresh' })
    const bare = await pairFor({ reference: `bare-${reference}` })
    const renew = (token: string, refresh_token: string) =>
      rig.askAs({ method: 'POST', url: refresh, token, payload: { refresh_token } })
    expect((await renew(bare.token, bare.refresh_token)).statusCode).toBe(403)
    expect((await renew(other.token, own.refresh_token)).statusCode).toBe(401)
    const next = await renew(own.token, own.refresh_token)
    expect(next.statusCode).toBe(201)
    expect((await rig.askAs({ url: info, token: next.json().token })).json().app_settings.scopes).toEqual([
      'sat:refresh',
    ])
  })

  it('fails after the subscriber is removed', async () => {
    const { subscriber_id: id, token, refresh_token } = await pairFor()
    await rig.directory.resources.remove('p1', 'subscriber', id)
    expect(await statusWith(token)).toBe(401)
    expect((await rig.ask('POST', refresh, { refresh_token })).statusCode).toBe(401)
  })
})

describe('a revocation of tokens', () => {
  it.each(['token', 'refresh_token'] as const)('ends a pair by its %s', async (which) => {
    const pair = await pairFor()
    expect((await rig.ask('POST', `${tokens}/revoke`, { token: pair[which] })).statusCode).toBe(204)
    expect(await statusWith(pair.token)).toBe(401)
    expect((await rig.ask('POST', refresh, { refresh_token: pair.refresh_token })).statusCode).toBe(401)
  })

  it('gets the same answer for unknown tokens and those of another project, which stay valid', async () => {
    const { token } = await pairFor()
    for (const text of [token, 'nonsense']) {
      const answer = await rig.ask('POST', `${tokens}/revoke`, { token: text }, theirs)
      expect(answer.statusCode).toBe(204)
    }
    expect(await statusWith(token)).toBe(200)
  })

  it('can end all tokens of a subscriber, only of the own project', async () => {
    const first = await pairFor()
    const second = await pairFor()
    const path = `/api/fabric/subscribers/${first.subscriber_id}/tokens`
    expect((await rig.ask('DELETE', path, undefined, theirs)).statusCode).toBe(404)
    expect((await rig.ask('DELETE', '/api/fabric/subscribers/none/tokens')).statusCode).toBe(404)
    expect(await statusWith(first.token)).toBe(200)
    expect((await rig.ask('DELETE', path)).statusCode).toBe(204)
    expect([await statusWith(first.token), await statusWith(second.token)]).toEqual([401, 401])
    rig.clock.advance(1)
    expect(await statusWith((await pairFor()).token)).toBe(200)
  })

  it('happens when a subscriber is disabled, who gets no new token', async () => {
    const { subscriber_id: id, token } = await pairFor()
    await rig.directory.changeSubscriber('p1', id, { disabled: true })
    expect(await statusWith(token)).toBe(401)
    const answer = await rig.ask('POST', tokens, { reference })
    expect([answer.statusCode, codeOf(answer)]).toEqual([403, 'not_permitted'])
  })
})

describe('the scopes of the project’s tokens', () => {
  it('restrict a token to its purposes', async () => {
    const made = await rig.ask('POST', '/api/project/tokens', { name: 'records', permissions: ['records'] })
    const headers = asProject({ id: 'p1', apiToken: made.json().token })
    for (const url of [tokens, guests, refresh, `${tokens}/revoke`, '/api/fabric/embeds']) {
      const answer = await rig.site.inject({ method: 'POST', url, headers, payload: { reference: 'x@y' } })
      expect([answer.statusCode, codeOf(answer)]).toEqual([403, 'insufficient_scope'])
    }
  })
})
