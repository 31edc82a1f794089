import { createPublicKey, verify } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { authorization, callback, OAuthTestSite } from '../testing/oauth-test-site.ts'

let rig: OAuthTestSite
beforeEach(async () => {
  rig = await OAuthTestSite.open()
})
afterEach(() => rig.close())

describe('the code flow', () => {
  it('returns a subscriber access token, a refresh token and an id token', async () => {
    const browser = rig.browser()
    const { verifier, query } = authorization({ scope: 'openid email' })
    const form = { action: 'sign-in', email: 'Alice@example.test', password: 'secret-9' }
    const returned = await browser.answered(await browser.go(await browser.page(query), form))
    expect(Object.fromEntries(returned)).toEqual({
      code: expect.any(String),
      state: 'state-1',
      iss: 'https://gw.example/',
    })
    const { status, headers, body } = await rig.token({
      grant_type: 'authorization_code',
      code: returned.get('code') ?? '',
      code_verifier: verifier,
      client_id: 'web',
      redirect_uri: callback,
    })
    expect(status).toBe(200)
    expect(headers['cache-control']).toBe('no-store')
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 600, scope: 'openid email' })
    expect(decodeProtectedHeader(body.access_token)).toMatchObject({
      alg: 'HS256',
      typ: 'SAT',
      ch: 'gw.example',
    })
    expect(decodeJwt(body.access_token)).toMatchObject({
      iss: 'https://gw.example/',
      aud: 'https://gw.example/',
      client: 'web',
      scope: 'openid email',
    })
    expect(await rig.tokens.verify(body.access_token)).toMatchObject({
      kind: 'subscriber',
      subscriberId: 'alice',
      projectId: 'p1',
      clientId: 'web',
    })
    expect(decodeJwt(body.id_token)).toMatchObject({
      sub: 'alice',
      aud: 'web',
      iss: 'https://gw.example/',
      email: 'alice@example.test',
    })
    const keys = (await browser.go('/oauth/jwks')).json().keys
    const [head, payload, signature = ''] = body.id_token.split('.')
    const key = createPublicKey({ key: keys[0], format: 'jwk' })
    const signed = Buffer.from(`${head}.${payload}`)
    expect(verify('RSA-SHA256', signed, key, Buffer.from(signature, 'base64url'))).toBe(true)
    expect(JSON.stringify(keys)).not.toContain('"d"')
  })

  it('reads a request without a scope as one with openid', async () => {
    const { body } = await rig.signedIn({ scope: '' })
    expect(body.id_token.split('.')).toHaveLength(3)
  })

  it('signs a browser with a session in without a page, also with prompt=none', async () => {
    const { browser } = await rig.signedIn()
    for (const prompt of ['', 'none']) {
      const returned = await browser.answered(await browser.authorize(authorization({ prompt }).query))
      expect(returned.get('code')).toBeTruthy()
    }
  })

  it('answers login_required to prompt=none without a session', async () => {
    const browser = rig.browser()
    const returned = await browser.answered(await browser.authorize(authorization({ prompt: 'none' }).query))
    expect(Object.fromEntries(returned)).toMatchObject({ error: 'login_required', state: 'state-1' })
  })

  it('asks for the password with prompt=login and after a change of the password', async () => {
    const { browser } = await rig.signedIn()
    const page = await browser.follow(await browser.authorize(authorization({ prompt: 'login' }).query))
    expect(page.body).toContain('<h1>Sign in</h1>')
    rig.subscribers.set('alice', { ...rig.subscribers.get('alice')!, tokensAfter: rig.clock.now() + 5_000 })
    const returned = await browser.answered(await browser.authorize(authorization({ prompt: 'none' }).query))
    expect(returned.get('error')).toBe('login_required')
  })

  it('keeps subscribers with the same e-mail in two projects apart', async () => {
    const { browser } = await rig.signedIn()
    const { query } = authorization({ client_id: 'other' })
    const silent = await browser.answered(await browser.authorize({ ...query, prompt: 'none' }))
    expect(silent.get('error')).toBe('login_required')
    const { body } = await rig.signedIn({ client_id: 'other' })
    expect(decodeJwt(body.access_token)).toMatchObject({ sub: 'alice-2', project: 'p2' })
  })

  it('replaces the session of a browser that signs in to another project', async () => {
    const { browser } = await rig.signedIn()
    const { query } = authorization({ client_id: 'other' })
    const form = { action: 'sign-in', email: 'alice@example.test', password: 'secret-9' }
    const page = await browser.follow(await browser.go(await browser.page(query), form))
    // A page that sends its form by itself: the session of the other subscriber ends first.
    const returned = await browser.answered(await browser.submit(page.body))
    expect(returned.get('code')).toBeTruthy()
  })

  it('requires a click for a native client, and never signs it in silently', async () => {
    const { browser } = await rig.signedIn()
    const { query } = authorization({ client_id: 'native', redirect_uri: 'com.example.app:/oauth' })
    const page = await browser.page(query)
    const shown = await browser.go(page)
    expect(shown.body).toContain('Continue as Alice &amp; Co?')
    const returned = await browser.answered(await browser.go(page, { action: 'continue' }))
    expect(returned.get('code')).toBeTruthy()
    const silent = await browser.answered(await browser.authorize({ ...query, prompt: 'none' }))
    expect(silent.get('error')).toBe('interaction_required')
  })

  it('accepts any loopback port of a native client', async () => {
    const redirect_uri = 'http://127.0.0.1:51004/cb'
    const { body } = await rig.signedIn({ client_id: 'native', redirect_uri })
    expect(body.access_token).toBeTruthy()
  })

  it('lets the user switch to another account', async () => {
    rig.subscribers.set('bob', { ...rig.subscribers.get('alice')!, id: 'bob', email: 'bob@example.test' })
    const { browser, body } = await rig.signedIn()
    const { verifier, query } = authorization({ prompt: 'consent' })
    const page = await browser.page(query)
    const form = { action: 'sign-in', email: 'bob@example.test', password: 'secret-9' }
    expect((await browser.go(page, { action: 'switch' })).body).toContain('<h1>Sign in</h1>')
    const sent = await browser.follow(await browser.go(page, form))
    const returned = await browser.answered(await browser.submit(sent.body))
    const { client_id, redirect_uri } = query
    const grant = {
      grant_type: 'authorization_code',
      code: returned.get('code') ?? '',
      code_verifier: verifier,
    }
    const { body: bobs } = await rig.token({ ...grant, client_id, redirect_uri })
    expect(decodeJwt(bobs.access_token).sub).toBe('bob')
    // The previous subscriber of the browser is signed out.
    await expect(rig.tokens.verify(body.access_token)).rejects.toThrow('revoked')
  })

  it('does not accept a click in place of a password', async () => {
    const browser = rig.browser()
    const answer = await browser.go(await browser.page(authorization().query), { action: 'continue' })
    expect(answer.statusCode).toBe(200)
    expect(answer.body).toContain('<h1>Sign in</h1>')
  })

  it('reports to the application that the user has cancelled', async () => {
    const browser = rig.browser()
    const returned = await browser.answered(
      await browser.go(await browser.page(authorization().query), { action: 'cancel' }),
    )
    expect(Object.fromEntries(returned)).toMatchObject({ error: 'access_denied', state: 'state-1' })
  })
})

describe('the page', () => {
  it('shows the name of the application escaped', async () => {
    const browser = rig.browser()
    const { body, headers } = await browser.go(await browser.page(authorization().query))
    expect(body).toContain('<strong>Soft &lt;b&gt;phone</strong>')
    expect(body).not.toContain('<script')
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-frame-options': 'DENY' })
    const policy = String(headers['content-security-policy'])
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).toContain("form-action 'self' https://app.example")
    expect(policy).toContain("default-src 'none'")
  })

  it('keeps the e-mail after a wrong password, and escapes it', async () => {
    const browser = rig.browser()
    const form = { action: 'sign-in', email: '"><i>@x', password: 'wrong' }
    const { statusCode, body } = await browser.go(await browser.page(authorization().query), form)
    expect(statusCode).toBe(422)
    expect(body).toContain('value="&quot;&gt;&lt;i&gt;@x"')
    expect(body).toContain('role="alert">The e-mail or the password is wrong.')
    expect(body).not.toContain('wrong"')
  })

  it('locks an e-mail after ten attempts, also for the right password', async () => {
    const browser = rig.browser()
    const page = await browser.page(authorization().query)
    const form = { action: 'sign-in', email: 'alice@example.test', password: 'wrong' }
    for (let i = 0; i < 10; i++) expect((await browser.go(page, form)).statusCode).toBe(422)
    const locked = await browser.go(page, { ...form, password: 'secret-9' })
    expect(locked.statusCode).toBe(429)
    expect(Number(locked.headers['retry-after'])).toBeGreaterThan(0)
    rig.clock.advance(61_000)
    expect((await browser.go(page, { ...form, password: 'secret-9' })).statusCode).toBe(303)
  })

  it.each([
    ['another origin', { origin: 'https://evil.example' }],
    ['a page that may not say where it is', { origin: 'null' }],
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another host of the same site', { 'sec-fetch-site': 'same-site' }],
  ])('rejects a form from %s', async (_what, headers) => {
    const browser = rig.browser()
    const form = { action: 'sign-in', email: 'alice@example.test', password: 'secret-9' }
    const answer = await browser.go(await browser.page(authorization().query), form, headers)
    expect(answer.statusCode).toBe(400)
  })

  it('is valid for one browser and one sign-in', async () => {
    const browser = rig.browser()
    const thief = rig.browser()
    const page = await browser.page(authorization().query)
    expect((await thief.go(page)).statusCode).toBe(400)
    const own = await thief.page(authorization().query)
    expect((await browser.go(own)).statusCode).toBe(400)
    expect((await browser.go(page)).statusCode).toBe(200)
  })

  it('sets cookies for this host alone, over TLS, and hidden from scripts', async () => {
    const browser = rig.browser()
    await browser.authorize(authorization().query)
    const answer = await browser.go((await browser.page(authorization().query)) as string, {
      action: 'sign-in',
      email: 'alice@example.test',
      password: 'secret-9',
    })
    const resumed = await browser.go(new URL(String(answer.headers.location)).pathname)
    const cookies = [answer.headers['set-cookie'], resumed.headers['set-cookie']].flat().filter(Boolean)
    const session = cookies.filter((cookie) => String(cookie).startsWith('__Host-session'))
    expect(session.length).toBeGreaterThan(0)
    for (const cookie of session) {
      expect(cookie).toMatch(/; path=\/;/i)
      expect(cookie).toMatch(/; samesite=lax/i)
      expect(cookie).toMatch(/; secure/i)
      expect(cookie).toMatch(/; httponly/i)
      expect(cookie).not.toMatch(/; domain/i)
    }
  })

  it('ends the session and revokes its tokens at the sign-out', async () => {
    const { browser, body } = await rig.signedIn()
    const page = await browser.go('/login/oauth/sign-out')
    expect(page.body).toContain('<h1>Sign out?</h1>')
    const xsrf = /name="xsrf" value="([^"]+)"/.exec(page.body)?.[1] ?? ''
    expect((await browser.go('/login/oauth/sign-out/confirm', { xsrf: 'x', logout: 'yes' })).statusCode).toBe(
      400,
    )
    const done = await browser.follow(
      await browser.go('/login/oauth/sign-out/confirm', { xsrf, logout: 'yes' }),
    )
    expect(done.body).toContain('You are signed out')
    await expect(rig.tokens.verify(body.access_token)).rejects.toThrow('revoked')
    const returned = await browser.answered(await browser.authorize(authorization({ prompt: 'none' }).query))
    expect(returned.get('error')).toBe('login_required')
    const grant = { grant_type: 'refresh_token', refresh_token: body.refresh_token, client_id: 'web' }
    expect((await rig.token(grant)).body.error).toBe('invalid_grant')
  })

  it('keeps the tokens of a sign-in with offline access at the sign-out', async () => {
    const { browser, body } = await rig.signedIn({ scope: 'openid offline_access', prompt: 'consent' })
    expect(body.scope).toBe('openid offline_access')
    await browser.submit((await browser.go('/login/oauth/sign-out')).body, { logout: 'yes' })
    const grant = { grant_type: 'refresh_token', refresh_token: body.refresh_token, client_id: 'web' }
    expect((await rig.token(grant)).status).toBe(200)
    const returned = await browser.answered(await browser.authorize(authorization({ prompt: 'none' }).query))
    expect(returned.get('error')).toBe('login_required')
  })

  it('is limited in requests before a sign-in', async () => {
    for (let i = 0; i < 300; i++) rig.oauth.requests.take('127.0.0.1')
    const before = await rig.store.selectFrom('oauth_payload').select('id').execute()
    const page = await rig.browser().authorize(authorization().query)
    expect([page.statusCode, page.headers['retry-after']]).toEqual([429, '60'])
    expect(await rig.metrics.text()).toMatch(/rejections_total\{code="too_many_requests"\} 1\n/)
    expect(page.body).toContain('Try again in 60 seconds')
    const { status, body } = await rig.token({ grant_type: 'refresh_token', refresh_token: 'x' })
    expect([status, body.error]).toEqual([429, 'temporarily_unavailable'])
    expect(await rig.store.selectFrom('oauth_payload').select('id').execute()).toEqual(before)
    rig.clock.advance(60_000)
    expect((await rig.browser().authorize(authorization().query)).statusCode).toBe(303)
  })

  it('redirects to the issuer, whatever host a proxy forwards', async () => {
    const headers = {
      'x-forwarded-proto': 'https',
      host: '10.0.0.7:8080',
      'x-forwarded-host': 'evil.example',
    }
    const url = '/.well-known/openid-configuration'
    const { json } = await rig.site.inject({ url, headers })
    expect(json()).toMatchObject({ token_endpoint: 'https://gw.example/oauth/token' })
    const browser = rig.browser()
    const { location } = (
      await browser.go(
        `/login/oauth/authorize?${new URLSearchParams(authorization().query)}`,
        undefined,
        headers,
      )
    ).headers
    const form = { action: 'sign-in', email: 'alice@example.test', password: 'secret-9' }
    const { headers: next } = await browser.go(String(location), form, headers)
    expect(next.location).toMatch(/^https:\/\/gw\.example\//)
  })

  it('is served over TLS alone', async () => {
    const url = '/login/oauth/authorize?client_id=web'
    const redirected = await rig.site.inject({ url, headers: { host: 'gw.example' } })
    expect(redirected.statusCode).toBe(308)
    expect(redirected.headers.location).toBe(`https://gw.example${url}`)
    // The header is read from trusted proxies alone.
    const headers = { host: 'gw.example', 'x-forwarded-proto': 'https' }
    expect((await rig.site.inject({ url, headers, remoteAddress: '192.0.2.1' })).statusCode).toBe(308)
    const refused = await rig.site.inject({ method: 'POST', url: '/oauth/token', payload: '' })
    expect(refused.statusCode).toBe(400)
  })
})
