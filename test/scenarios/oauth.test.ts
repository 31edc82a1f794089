import { lookup } from 'node:dns'
import * as client from 'openid-client'
import type { Page } from 'playwright-core'
import { Agent, fetch as fetchWith } from 'undici'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { Browser } from '../support/browser.ts'
import { alice, Gateway } from '../support/gateway.ts'
import { forgetUser, OAuthApp, renewSilently, startSignIn } from '../support/oauth-app.ts'
import { SdkPage } from '../support/sdk-page.ts'
import { until } from '../support/until.ts'

const bob = { email: 'bob@example.test', password: 'builder-123' }

let app: OAuthApp
let gateway: Gateway
let browser: Browser
let issuer: string

/** Accepts the gateway's self-signed certificate, and resolves its name, which only browsers know. */
const trusting = new Agent({
  connect: {
    rejectUnauthorized: false,
    lookup: (_name, options, done) => lookup('127.0.0.1', options, done),
  },
})
const fetchOf = (url: string, options: object) =>
  fetchWith(url, { ...options, dispatcher: trusting }) as unknown as Promise<Response>

beforeAll(async () => {
  app = await OAuthApp.start()
  const redirectUris = [app.callback]
  gateway = await Gateway.start({
    subscribers: [alice, bob],
    oauth: { clients: [{ id: 'softphone', name: 'Example Softphone', redirectUris }] },
  })
  issuer = `https://gw.localhost:${gateway.tlsPort}/`
  browser = await Browser.start(440)
})

afterAll(async () => {
  await browser?.stop()
  await gateway?.stop()
  await app?.close()
  await trusting.close()
})

const newPage = async (): Promise<Page> => {
  const page = await browser.page()
  onTestFinished(() => page.context().close())
  return page
}

/** Authorization request that is valid up to its code challenge, which has no known verifier. */
const authorization = (changes: Readonly<Record<string, string>> = {}): URL => {
  const url = new URL(`${issuer}login/oauth/authorize`)
  url.search = new URLSearchParams({
    client_id: 'softphone',
    redirect_uri: app.callback,
    response_type: 'code',
    scope: 'openid',
    state: 's',
    code_challenge: 'x'.repeat(43),
    code_challenge_method: 'S256',
    ...changes,
  }).toString()
  return url
}

/** Fills in and submits the sign-in page. */
const signIn = async (
  page: Page,
  password: string = alice.password,
  email: string = alice.email,
): Promise<void> => {
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

it('openid-client completes the code flow with PKCE, refreshes its tokens and revokes them', async () => {
  const config = await client.discovery(new URL(issuer), 'softphone', undefined, client.None(), {
    [client.customFetch]: fetchOf,
  })
  const pkceCodeVerifier = client.randomPKCECodeVerifier()
  const expectedState = client.randomState()
  const to = client.buildAuthorizationUrl(config, {
    redirect_uri: app.callback,
    scope: 'openid email',
    state: expectedState,
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
  })
  const page = await newPage()
  await page.goto(to.href)
  expect(await page.title()).toBe('Sign in')
  expect(await page.textContent('main')).toContain('Example Softphone')
  await signIn(page, 'not-her-password')
  expect(await page.getByRole('alert').textContent()).toContain('wrong')
  expect(await page.getByLabel('E-mail').inputValue()).toBe(alice.email)
  expect(await page.getByLabel('Password').inputValue()).toBe('')
  await signIn(page)
  await page.waitForURL(`${app.callback}?*`)
  const checks = { pkceCodeVerifier, expectedState }
  const answer = await client.authorizationCodeGrant(config, new URL(page.url()), checks)
  expect(answer.claims()).toMatchObject({ iss: issuer, aud: 'softphone', email: alice.email })
  await expect(
    client.authorizationCodeGrant(config, new URL(page.url()), { ...checks, expectedState: 'another' }),
  ).rejects.toMatchObject({ cause: expect.objectContaining({ message: expect.stringContaining('state') }) })

  const info = await fetchOf(`${issuer}api/fabric/subscriber/info`, {
    headers: { authorization: `Bearer ${answer.access_token}` },
  })
  expect(await info.json()).toMatchObject({ email: alice.email })
  const renewed = await client.refreshTokenGrant(config, answer.refresh_token ?? '')
  expect(renewed.refresh_token).not.toBe(answer.refresh_token)
  await client.tokenRevocation(config, renewed.refresh_token ?? '')
  await expect(client.refreshTokenGrant(config, renewed.refresh_token ?? '')).rejects.toMatchObject({
    error: 'invalid_grant',
  })
  const refused = await fetchOf(`${issuer}api/fabric/subscriber/info`, {
    headers: { authorization: `Bearer ${renewed.access_token}` },
  })
  expect(refused.status).toBe(401)
})

it('the published browser SDK goes online with an access token of oidc-client-ts', async () => {
  const page = await app.open(browser, issuer)
  onTestFinished(() => page.context().close())
  await startSignIn(page)
  await signIn(page)
  const user = await app.finish(page, issuer)
  expect(user).toMatchObject({ scope: 'openid', profile: { sub: expect.any(String) } })
  const sdk = await SdkPage.open(browser, gateway, user.access_token)
  onTestFinished(() => sdk.close())
  await sdk.online()
  await until(
    'the subscriber is online',
    () => gateway.metric('subscribers_online'),
    (count) => count === 1,
  )
})

it('oidc-client-ts renews with the refresh token, or with the session in a frame until the subscriber signs out', async () => {
  const page = await app.open(browser, issuer)
  onTestFinished(() => page.context().close())
  await startSignIn(page)
  await signIn(page)
  const first = await app.finish(page, issuer)
  const second = await renewSilently(page)
  expect(second.error).toBeUndefined()
  expect(second.user?.access_token).not.toBe(first.access_token)
  expect(second.user?.refresh_token).not.toBe(first.refresh_token)

  // The frame's callback page has no scripts, so the test reads the code from the frame's URL.
  await forgetUser(page)
  const framed = page.waitForEvent('framenavigated', (frame) => frame.url().startsWith(`${app.callback}?`))
  const url = authorization({ prompt: 'none' })
  const inFrame = (src: string) =>
    page.evaluate((to) => {
      const { document } = globalThis as unknown as { document: { createElement(name: string): never } }
      const frame = document.createElement('iframe') as { src: string }
      frame.src = to
      ;(document as unknown as { body: { append(child: object): void } }).body.append(frame)
    }, src)
  await inFrame(url.href)
  expect(new URL((await framed).url()).searchParams.get('code')).toBeTruthy()

  await page.goto(`${issuer}login/oauth/sign-out`)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'You are signed out' }).waitFor()
  await page.goto(url.href)
  await page.waitForURL(`${app.callback}?*`)
  expect(new URL(page.url()).searchParams.get('error')).toBe('login_required')
})

it('prompt=login lets another subscriber sign in at the same browser', async () => {
  const page = await newPage()
  const url = authorization()
  await page.goto(url.href)
  await signIn(page)
  await page.waitForURL(`${app.callback}?*`)
  url.searchParams.set('prompt', 'login')
  await page.goto(url.href)
  await signIn(page, bob.password, bob.email)
  await page.waitForURL(`${app.callback}?*`)
  expect(new URL(page.url()).searchParams.get('code')).toBeTruthy()
  url.searchParams.set('prompt', 'consent')
  await page.goto(url.href)
  expect(await page.textContent('main')).toContain(bob.email)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.waitForURL(`${app.callback}?*`)
})

it('the sign-in page cannot be shown in a frame', async () => {
  const page = await newPage()
  await page.goto(app.origin)
  const url = authorization()
  const lines: string[] = []
  page.on('console', (message) => lines.push(message.text()))
  await page.setContent(`<iframe src="${url.href.replaceAll('&', '&amp;')}"></iframe>`)
  await until(
    'the browser refuses the frame',
    () => lines.join('\n'),
    (text) => /frame-ancestors|X-Frame-Options/i.test(text),
  )
})

it('a cancelled sign-in redirects to the application with access_denied', async () => {
  const page = await newPage()
  const url = authorization()
  await page.goto(url.href)
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.waitForURL(`${app.callback}?*`)
  const parameters = new URL(page.url()).searchParams
  expect([parameters.get('error'), parameters.get('state'), parameters.get('iss')]).toEqual([
    'access_denied',
    's',
    issuer,
  ])
})

it('the sign-in page has no scripts, and fits the width of a telephone', async () => {
  const page = await newPage()
  await page.setViewportSize({ width: 320, height: 568 })
  const faults: string[] = []
  page.on('console', (message) => faults.push(message.text()))
  const url = authorization()
  await page.goto(url.href)
  const sizes = await page.evaluate(() => {
    const { documentElement: root, scripts } = (
      globalThis as unknown as {
        document: {
          documentElement: { scrollWidth: number; clientWidth: number }
          scripts: ArrayLike<unknown>
        }
      }
    ).document
    return { beyond: root.scrollWidth - root.clientWidth, scripts: scripts.length }
  })
  expect(sizes).toEqual({ beyond: 0, scripts: 0 })
  expect(faults).toEqual([])
})
