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

describe('a redirect URI', () => {
  it.each([
    ['another path', 'https://app.example/other'],
    ['a longer path', 'https://app.example/callback/more'],
    ['a path below it that leads out', 'https://app.example/callback/../other'],
    ['a prefix of the host', 'https://app.example.evil.test/callback'],
    ['another port', 'https://app.example:8443/callback'],
    ['a user before the host', 'https://app.example@evil.test/callback'],
    ['a user before the same host', 'https://x@app.example/callback'],
    ['a fragment', 'https://app.example/callback#x'],
    ['a query', 'https://app.example/callback?x=1'],
    ['another scheme', 'http://app.example/callback'],
    ['a script', 'javascript:alert(1)'],
    ['a backslash', 'https://app.example\\@evil.test/callback'],
    ['capital letters', 'https://APP.example/callback'],
    ['an encoded slash', 'https://app.example/%2Fcallback'],
    ['the default port', 'https://app.example:443/callback'],
    ['a line break', 'https://app.example/callback\r\nx: y'],
    ['nothing', ''],
  ])('with %s is rejected on a page, without a redirect', async (_what, redirect_uri) => {
    for (const prompt of ['', 'none']) {
      const answer = await rig.browser().authorize(authorization({ redirect_uri, prompt }).query)
      expect(answer.statusCode).toBe(400)
      expect(answer.headers.location).toBeUndefined()
      expect(answer.body).toContain('This sign-in cannot continue')
      expect(answer.body).not.toContain('<script')
    }
  })

  it('on the loopback address may have any port for a native client, and no other difference', async () => {
    for (const redirect_uri of [
      'http://127.0.0.1:5000/other',
      'http://localhost:5000/cb',
      'http://127.0.0.1.evil.test:5000/cb',
      'http://x@127.0.0.1:5000/cb',
      'http://127.0.0.1:5000@evil.test/cb',
      'com.example.app:/other',
      'com.example.app2:/oauth',
    ]) {
      const { query } = authorization({ client_id: 'native', redirect_uri })
      const answer = await rig.browser().authorize(query)
      expect(answer.statusCode, redirect_uri).toBe(400)
      expect(answer.headers.location).toBeUndefined()
    }
  })

  it('must be repeated at the token endpoint', async () => {
    const { verifier, query } = authorization()
    const code = await rig.browser().signIn(query)
    for (const redirect_uri of ['https://app.example/other', '']) {
      const { status, body } = await rig.token(codeGrant(code, verifier, { redirect_uri }))
      expect([status, body.access_token]).toEqual([400, undefined])
    }
  })
})

describe('a request', () => {
  it.each([
    ['without a challenge', { code_challenge: '', code_challenge_method: '' }],
    ['with a plain challenge', { code_challenge_method: 'plain' }],
    ['with a challenge of no named method', { code_challenge_method: '' }],
    ['with a short challenge', { code_challenge: 'abc' }],
    ['for a token', { response_type: 'token' }],
    ['for an id token', { response_type: 'id_token', nonce: 'n' }],
    ['for a code and a token', { response_type: 'code token' }],
    ['for a code and an id token', { response_type: 'code id_token', nonce: 'n' }],
    ['for nothing', { response_type: 'none' }],
    ['for a fragment', { response_mode: 'fragment' }],
    ['for a form', { response_mode: 'form_post' }],
    ['for a token of another server', { resource: 'https://other.example/' }],
    ['with a request object', { request: 'eyJhbGciOiJub25lIn0.e30.' }],
    ['with a request elsewhere', { request_uri: 'https://evil.test/request' }],
  ] as const)('%s gets an error with its state', async (_what, changes) => {
    const browser = rig.browser()
    const last = await browser.follow(await browser.authorize(authorization({ ...changes }).query))
    const url = String(last.headers.location ?? '')
    // Errors are returned in the requested response mode: in the URL, or in a form.
    const { search, hash } = new URL(url || callback)
    const form = [...last.body.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(
      ([, name, value]) => `${name}=${value}`,
    )
    const returned = new URLSearchParams(search || hash.slice(1) || form.join('&'))
    expect(returned.get('error')).toMatch(/^(invalid_request|unsupported_\w+|invalid_target|request_\w+)$/)
    expect(returned.get('state')).toBe('state-1')
    for (const secret of ['code', 'id_token', 'access_token']) expect(returned.get(secret)).toBeNull()
  })

  it('for an unknown scope receives the known ones', async () => {
    const { body } = await rig.signedIn({ scope: 'openid admin' })
    expect(body.scope).toBe('openid')
    expect(decodeJwt(body.access_token)).toMatchObject({ scope: 'openid' })
  })

  it('of an unknown client is rejected on a page', async () => {
    for (const client_id of ['unknown', '', "' or 1=1 --"]) {
      const answer = await rig.browser().authorize(authorization({ client_id }).query)
      expect(answer.statusCode).toBe(400)
      expect(answer.headers.location).toBeUndefined()
    }
  })

  it('with markup in its state is shown escaped', async () => {
    const browser = rig.browser()
    const state = '"><script>alert(1)</script>\r\nset-cookie: a=b'
    const form = { action: 'sign-in', email: 'alice@example.test', password: 'secret-9' }
    const { query } = authorization({ state })
    const returned = await browser.answered(await browser.go(await browser.page(query), form))
    expect(returned.get('state')).toBe(state)
    const failed = await rig.browser().authorize({ ...query, redirect_uri: 'https://evil.test/' })
    expect(failed.body).not.toContain('<script')
    const named = await rig.browser().authorize({ ...query, client_id: '<img src=x onerror=alert(1)>' })
    expect(named.body).not.toContain('<img')
  })

  it('with a repeated parameter is rejected', async () => {
    const { query } = authorization()
    const url = `/login/oauth/authorize?${new URLSearchParams(query)}&state=other`
    const answer = await rig.browser().go(url)
    expect(String(answer.headers.location)).toContain('error=invalid_request')
  })

  it('is accepted by GET alone', async () => {
    const { query } = authorization()
    expect((await rig.post('/login/oauth/authorize', query)).statusCode).toBe(404)
  })
})

describe('pages of other origins', () => {
  it('reach the token endpoint if they are redirect URIs', async () => {
    const preflight = await rig.site.inject({
      method: 'OPTIONS',
      url: '/oauth/token',
      headers: {
        'x-forwarded-proto': 'https',
        origin: 'https://app.example',
        'access-control-request-method': 'POST',
      },
    })
    expect(preflight.headers['access-control-allow-origin']).toBe('https://app.example')
    const { verifier, query } = authorization()
    const code = await rig.browser().signIn(query)
    const evil = await rig.token(codeGrant(code, verifier), { origin: 'https://evil.test' })
    expect(evil.status).toBe(400)
    expect(evil.headers['access-control-allow-origin']).toBeUndefined()
    const own = await rig.token(codeGrant(code, verifier), { origin: 'https://app.example' })
    expect(own.status).toBe(200)
    expect(own.headers['access-control-allow-origin']).toBe('https://app.example')
  })
})
