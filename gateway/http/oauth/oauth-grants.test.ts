import { decodeJwt } from 'jose'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { authorization, callback, OAuthTestSite } from '../testing/oauth-test-site.ts'

let rig: OAuthTestSite
beforeEach(async () => {
  rig = await OAuthTestSite.open()
})
afterEach(() => rig.close())

const codeGrant = (code: string, code_verifier: string, changes: Readonly<Record<string, string>> = {}) => ({
  grant_type: 'authorization_code',
  code,
  code_verifier,
  client_id: 'web',
  redirect_uri: callback,
  ...changes,
})
const refreshGrant = (refresh_token: string, client_id = 'web') => ({
  grant_type: 'refresh_token',
  refresh_token,
  client_id,
})
const revoked = (token: string) =>
  rig.tokens.verify(token).then(
    () => false,
    ({ message }: Error) => message.includes('revoked'),
  )

describe('a code', () => {
  it('is accepted once; a second use revokes its tokens', async () => {
    const { code, verifier, body } = await rig.signedIn()
    const again = await rig.token(codeGrant(code, verifier))
    expect([again.status, again.body.error]).toEqual([400, 'invalid_grant'])
    expect(await revoked(body.access_token)).toBe(true)
    expect((await rig.token(refreshGrant(body.refresh_token))).body.error).toBe('invalid_grant')
  })

  it('is accepted once if many requests use it at the same time', async () => {
    const { verifier, query } = authorization()
    const code = await rig.browser().signIn(query)
    const answers = await Promise.all(Array.from({ length: 8 }, () => rig.token(codeGrant(code, verifier))))
    const good = answers.filter(({ status }) => status === 200)
    expect(good.length).toBeLessThanOrEqual(1)
    for (const { body } of good) expect(await revoked(body.access_token)).toBe(true)
    for (const { body } of good)
      expect((await rig.token(refreshGrant(body.refresh_token))).body.error).toBe('invalid_grant')
  })

  it.each([
    ['a wrong verifier', { code_verifier: 'x'.repeat(43) }],
    ['no verifier', { code_verifier: '' }],
    ['another client', { client_id: 'native', redirect_uri: callback }],
    ['a client of another project', { client_id: 'other' }],
    ['an unknown client', { client_id: 'unknown' }],
    ['a guess', { code: 'guess' }],
    ['another grant type', { grant_type: 'password', username: 'alice@example.test', password: 'secret-9' }],
    ['the grant of clients', { grant_type: 'client_credentials' }],
    ['the implicit grant', { grant_type: 'implicit' }],
    ['no grant type', { grant_type: '' }],
  ])('returns no token for %s', async (_what, changes) => {
    const { verifier, query } = authorization()
    const code = await rig.browser().signIn(query)
    const { status, body } = await rig.token(codeGrant(code, verifier, changes))
    expect([400, 401]).toContain(status)
    expect(body).toEqual({ error: expect.any(String), error_description: expect.any(String) })
    expect(JSON.stringify(body)).not.toContain('secret-9')
  })

  it('cannot be redeemed by values of the store', async () => {
    const { verifier, query } = authorization()
    const browser = rig.browser()
    const code = await browser.signIn(query)
    const rows = await rig.store.selectFrom('oauth_payload').selectAll().execute()
    const text = JSON.stringify(rows)
    expect(text).not.toContain(code)
    for (const [name, value] of browser.cookies)
      if (!name.endsWith('.sig') && name.includes('session')) expect(text).not.toContain(value)
    const row = rows.find(({ model }) => model === 'AuthorizationCode')
    expect((await rig.token(codeGrant(row?.id ?? '', verifier))).body.error).toBe('invalid_grant')
  })

  it('expires when the password changes and when the subscriber is removed', async () => {
    for (const change of [{ tokensAfter: rig.clock.now() + 5_000 }, { disabled: true }]) {
      const before = rig.subscribers.get('alice')!
      const { verifier, query } = authorization()
      const code = await rig.browser().signIn(query)
      rig.subscribers.set('alice', { ...before, ...change })
      expect((await rig.token(codeGrant(code, verifier))).body.error).toBe('invalid_grant')
      rig.subscribers.set('alice', before)
    }
  })
})

describe('a refresh token', () => {
  it('is accepted once, and the new tokens are valid', async () => {
    const { body } = await rig.signedIn()
    const renewed = await rig.token({ ...refreshGrant(body.refresh_token), scope: 'openid' })
    expect(renewed.status).toBe(200)
    expect(renewed.body.refresh_token).not.toBe(body.refresh_token)
    expect(decodeJwt(renewed.body.id_token)).toMatchObject({ sub: 'alice' })
    expect(await rig.tokens.verify(renewed.body.access_token)).toMatchObject({ subscriberId: 'alice' })
  })

  it('revokes every token of the sign-in if it is used again', async () => {
    const { body } = await rig.signedIn()
    const second = (await rig.token(refreshGrant(body.refresh_token))).body
    const stolen = await rig.token(refreshGrant(body.refresh_token))
    expect([stolen.status, stolen.body.error]).toEqual([400, 'invalid_grant'])
    expect(await revoked(body.access_token)).toBe(true)
    expect(await revoked(second.access_token)).toBe(true)
    expect((await rig.token(refreshGrant(second.refresh_token))).body.error).toBe('invalid_grant')
    expect(rig.lines.some((line) => JSON.stringify(line).includes(body.refresh_token))).toBe(false)
  })

  it('returns at most one new token if many requests use it at the same time, and revokes that one', async () => {
    const { body } = await rig.signedIn()
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => rig.token(refreshGrant(body.refresh_token))),
    )
    const good = answers.filter(({ status }) => status === 200)
    expect(good.length).toBeLessThanOrEqual(1)
    for (const one of good) expect(await revoked(one.body.access_token)).toBe(true)
  })

  it('is valid for one client', async () => {
    const { body } = await rig.signedIn()
    for (const client of ['native', 'other', 'unknown'])
      expect((await rig.token(refreshGrant(body.refresh_token, client))).status).toBeGreaterThanOrEqual(400)
    // Others that tried have not ended it.
    expect((await rig.token(refreshGrant(body.refresh_token))).status).toBe(200)
  })

  it('cannot extend the granted scope', async () => {
    const { body } = await rig.signedIn()
    const wider = await rig.token({ ...refreshGrant(body.refresh_token), scope: 'openid email' })
    expect(wider.body.error).toBe('invalid_scope')
  })

  it('is revoked with its access tokens; a second revocation has no effect', async () => {
    const { body } = await rig.signedIn()
    const revoke = () => rig.post('/oauth/revoke', { token: body.refresh_token, client_id: 'web' })
    expect((await revoke()).statusCode).toBe(200)
    expect((await revoke()).statusCode).toBe(200)
    expect(await revoked(body.access_token)).toBe(true)
    expect((await rig.token(refreshGrant(body.refresh_token))).body.error).toBe('invalid_grant')
  })

  it('cannot be revoked by another client', async () => {
    const { body } = await rig.signedIn()
    await rig.post('/oauth/revoke', { token: body.refresh_token, client_id: 'other' })
    expect((await rig.token(refreshGrant(body.refresh_token))).status).toBe(200)
  })

  it('expires when the password changes and when the client is removed', async () => {
    const { body } = await rig.signedIn()
    const before = rig.subscribers.get('alice')!
    rig.subscribers.set('alice', { ...before, tokensAfter: rig.clock.now() + 5_000 })
    expect((await rig.token(refreshGrant(body.refresh_token))).body.error).toBe('invalid_grant')
    rig.subscribers.set('alice', before)
    const next = await rig.signedIn()
    await rig.clients.provision([], 'p1')
    expect((await rig.token(refreshGrant(next.body.refresh_token))).body.error).toBe('invalid_client')
  })
})

describe('a client with a secret', () => {
  const make = async () => {
    const terms = { name: 'Server', redirectUris: [callback], native: false }
    const { client, secret = '' } = await rig.clients.create('p1', terms, true)
    const { verifier, query } = authorization({ client_id: client.id })
    const code = await rig.browser().signIn(query)
    return { id: client.id, secret, form: codeGrant(code, verifier, { client_id: client.id }) }
  }

  it('may send it in the form or in the header', async () => {
    const posted = await make()
    expect((await rig.token({ ...posted.form, client_secret: posted.secret })).status).toBe(200)
    const headed = await make()
    const authorization = `Basic ${Buffer.from(`${headed.id}:${headed.secret}`).toString('base64')}`
    expect((await rig.token(headed.form, { authorization })).status).toBe(200)
  })

  it('receives no token with a wrong secret, without one, or with the stored hash', async () => {
    const { id, secret, form } = await make()
    const kept = (await rig.clients.find(id))?.secretHash ?? ''
    expect(kept).not.toContain(secret)
    for (const client_secret of ['wrong', kept, ''])
      expect((await rig.token({ ...form, client_secret })).body.error).toBe('invalid_client')
    expect((await rig.token(form)).body.error).toBe('invalid_client')
    const old = secret
    const renewed = await rig.clients.renewSecret('p1', id)
    expect((await rig.token({ ...form, client_secret: old })).body.error).toBe('invalid_client')
    expect((await rig.token({ ...form, client_secret: renewed })).status).toBe(200)
  })

  it('must use PKCE too', async () => {
    const { id } = await make()
    const changes = { client_id: id, code_challenge: '', code_challenge_method: '' }
    const browser = rig.browser()
    const returned = await browser.answered(await browser.authorize(authorization(changes).query))
    expect(returned.get('error')).toBe('invalid_request')
  })
})

describe('a client that is removed', () => {
  it('loses its grants and tokens at once; other clients keep theirs', async () => {
    const { client } = await rig.clients.create(
      'p1',
      { name: 'New', redirectUris: [callback], native: false },
      false,
    )
    const { verifier, query } = authorization({ client_id: client.id })
    const code = await rig.browser().signIn(query)
    const { body } = await rig.token(codeGrant(code, verifier, { client_id: client.id }))
    const pending = authorization({ client_id: client.id })
    const unused = await rig.browser().signIn(pending.query)
    const others = await rig.signedIn()
    let revocations = 0
    const { subscriberId } = await rig.tokens.verify(body.access_token)
    rig.tokens.onRevocation(subscriberId, () => revocations++)
    await rig.clients.remove('p1', client.id)
    expect(await revoked(body.access_token)).toBe(true)
    expect(revocations).toBe(1)
    const ofClient = { client_id: client.id }
    for (const grant of [
      refreshGrant(body.refresh_token, client.id),
      codeGrant(unused, pending.verifier, ofClient),
    ])
      expect((await rig.token(grant)).status).toBeGreaterThanOrEqual(400)
    const left = await rig.store
      .selectFrom('oauth_payload')
      .selectAll()
      .where('grant_id', 'is not', null)
      .execute()
    expect(left.filter(({ payload_json: text }) => text.includes(client.id))).toEqual([])
    expect(await revoked(others.body.access_token)).toBe(false)
    expect((await rig.token(refreshGrant(others.body.refresh_token))).status).toBe(200)
  })
})
