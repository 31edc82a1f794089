/**
 * Site that serves only OAuth, with a store in memory, and a browser with cookies that follows redirects only
 * on request.
 */
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FastifyInstance, fastify } from 'fastify'
import { afterAll, expect } from 'vitest'
import { OAuthClients } from '../../auth/oauth/clients.ts'
import { OAuth } from '../../auth/oauth/oauth.ts'
import { OAuthPayloads } from '../../auth/oauth/payloads.ts'
import { Revocations } from '../../auth/revocations.ts'
import { SubscriberTokens } from '../../auth/subscriber-tokens.ts'
import { FakeClock, SystemClock } from '../../core/clock.ts'
import { Metrics } from '../../core/metrics.ts'
import { migrate } from '../../directory/migrations/run.ts'
import type { Subscriber } from '../../directory/model/callers.ts'
import { openSqliteStore, type Store } from '../../directory/store/sqlite.ts'
import { RevokedTokenRows } from '../../directory/tables/revoked-tokens.ts'
import { providerPages } from '../oauth/oauth-pages.ts'
import { oauthRoutes } from '../oauth/oauth-routes.ts'
import { PasswordSignIn } from '../requests/password-sign-in.ts'

const systemClock = new SystemClock()
const secret = new Uint8Array(32).fill(5)

/** Signing key of all tests of a file, because its creation is slow. */
const folder = mkdtempSync(join(tmpdir(), 'trunkline-oauth-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** An application's redirect URI. */
export const callback = 'https://app.example/callback'

const subscriberOf = (id: string, projectId: string, email: string): Subscriber => ({
  id,
  projectId,
  email,
  address: '/private/x',
  addressId: `address-${id}`,
  displayName: 'Alice & Co',
  firstName: 'Alice',
  lastName: '',
  mayDialOut: true,
  disabled: false,
  tokensAfter: 0,
})

/** The whole of it. */
export class OAuthTestSite {
  // oidc-provider has the system's clock.
  readonly clock = new FakeClock(systemClock.now())
  readonly metrics = new Metrics()
  readonly lines: { readonly [key: string]: unknown }[] = []
  readonly subscribers = new Map<string, Subscriber>()
  readonly store: Store
  readonly payloads: OAuthPayloads
  readonly clients: OAuthClients
  readonly revocations: Revocations
  readonly tokens: SubscriberTokens
  readonly signIn: PasswordSignIn
  site: FastifyInstance = fastify({ trustProxy: ['127.0.0.1/32'] })
  oauth!: OAuth

  private constructor(store: Store, revocations: Revocations) {
    this.store = store
    this.revocations = revocations
    const { clock } = this
    this.payloads = new OAuthPayloads({ store, revocations, now: () => clock.now() })
    this.clients = new OAuthClients(store, () => clock.now(), this.payloads)
    this.tokens = new SubscriberTokens(secret, clock, 'gw.example', revocations)
    const put = (line: object) => this.lines.push(line as never)
    const log = { info: put, warn: put, error: put }
    this.signIn = new PasswordSignIn({
      clock,
      log: log as never,
      directory: {
        signIn: async (projectId, email, password) =>
          [...this.subscribers.values()].find(
            (one) =>
              one.projectId === projectId && one.email === email.toLowerCase() && password === 'secret-9',
          ),
      },
    })
  }

  /**
   * With Alice in the first project, another Alice in the second, and these clients: `web`, `native`, `other`
   * (of the second project).
   */
  static async open(): Promise<OAuthTestSite> {
    const store = openSqliteStore(':memory:')
    await migrate(store, systemClock)
    const revocations = await Revocations.open({
      rows: new RevokedTokenRows(store),
      tokensAfter: () => 0,
      now: () => systemClock.now(),
    })
    const rig = new OAuthTestSite(store, revocations)
    rig.subscribers.set('alice', subscriberOf('alice', 'p1', 'alice@example.test'))
    rig.subscribers.set('alice-2', subscriberOf('alice-2', 'p2', 'alice@example.test'))
    await rig.clients.provision(
      [
        { id: 'web', name: 'Soft <b>phone', redirectUris: [callback], native: false },
        {
          id: 'native',
          name: 'Native',
          native: true,
          redirectUris: ['com.example.app:/oauth', 'http://127.0.0.1/cb'],
        },
        { id: 'other', name: 'Other', project: 'p2', redirectUris: [callback], native: false },
      ],
      'p1',
    )
    await rig.#start()
    return rig
  }

  async #start(): Promise<void> {
    const put = (line: object) => this.lines.push(line as never)
    const { payloads, clients, clock, metrics } = this
    this.oauth = await OAuth.open(
      {
        url: 'https://gw.example',
        publicHost: 'gw.example',
        secret,
        keysFolder: join(folder, 'oauth-keys'),
        accessTokenTtlMs: 600_000,
        refreshTokenTtlMs: 86_400_000,
      },
      {
        payloads,
        clients,
        accounts: { subscriber: (id) => this.subscribers.get(id) },
        pages: providerPages,
        clock,
        log: { info: put, warn: put, error: put } as never,
        metrics,
      },
    )
    await oauthRoutes(this.site, { oauth: this.oauth, signIn: this.signIn })
  }

  /** A browser without cookies. */
  browser(): OAuthTestBrowser {
    return new OAuthTestBrowser(this.site)
  }

  /** Sends a form to the token endpoint, and returns the JSON of the response. */
  async token(form: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}) {
    const answer = await this.post('/oauth/token', form, headers)
    return { status: answer.statusCode, headers: answer.headers, body: answer.json() as TokenAnswer }
  }

  post(url: string, form: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}) {
    return this.site.inject({
      method: 'POST',
      url,
      headers: { ...tls, 'content-type': 'application/x-www-form-urlencoded', ...headers },
      payload: new URLSearchParams(form).toString(),
    })
  }

  /** Signs Alice in with a new browser, and exchanges the code. */
  async signedIn(changes: Readonly<Record<string, string>> = {}) {
    const browser = this.browser()
    const { verifier, query } = authorization(changes)
    const code = await browser.signIn(query)
    const grant = { grant_type: 'authorization_code', code, code_verifier: verifier }
    const { client_id, redirect_uri } = query
    const { status, body } = await this.token({ ...grant, client_id, redirect_uri })
    expect(status).toBe(200)
    return { browser, verifier, code, body }
  }

  async close(): Promise<void> {
    this.oauth.close()
    await this.site.close()
    await this.store.destroy()
  }
}

/** Response of the token endpoint. */
export interface TokenAnswer {
  readonly access_token: string
  readonly refresh_token: string
  readonly id_token: string
  readonly error?: string
  readonly [key: string]: unknown
}

const tls = { 'x-forwarded-proto': 'https', host: 'gw.example' }

/**
 * A good authorization request of the client `web`, with changes, and its verifier; an empty text leaves a
 * parameter out.
 */
export const authorization = (changes: Readonly<Record<string, string>> = {}) => {
  const verifier = randomBytes(32).toString('base64url')
  const all: Record<string, string> = {
    client_id: 'web',
    redirect_uri: callback,
    response_type: 'code',
    scope: 'openid',
    state: 'state-1',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...changes,
  }
  const given = Object.entries(all).filter(([, value]) => value !== '')
  return {
    verifier,
    query: Object.fromEntries(given) as typeof all & Record<'client_id' | 'redirect_uri', string>,
  }
}

/** Keeps cookies by their names, and goes where it is sent. */
export class OAuthTestBrowser {
  readonly #site: FastifyInstance
  readonly cookies = new Map<string, string>()

  constructor(site: FastifyInstance) {
    this.#site = site
  }

  async go(
    url: string,
    form?: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>> = {},
  ) {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await this.#site.inject({
      method: form ? 'POST' : 'GET',
      url,
      headers: {
        ...tls,
        cookie,
        accept: 'text/html',
        ...(form && { 'content-type': 'application/x-www-form-urlencoded', origin: 'https://gw.example' }),
        ...headers,
      },
      ...(form && { payload: new URLSearchParams(form).toString() }),
    })
    for (const { name, value } of answer.cookies)
      if (value === '') this.cookies.delete(name)
      else this.cookies.set(name, value)
    return answer
  }

  authorize(query: Readonly<Record<string, string>>) {
    return this.go(`/login/oauth/authorize?${new URLSearchParams(query)}`)
  }

  /** Follows redirects until another site or a page. */
  async follow(answer: Awaited<ReturnType<OAuthTestBrowser['go']>>) {
    let last = answer
    for (;;) {
      const to = last.headers.location
      if (last.statusCode < 300 || last.statusCode > 399 || to === undefined) return last
      const url = new URL(String(to), 'https://gw.example')
      if (url.origin !== 'https://gw.example') return last
      last = await this.go(url.pathname + url.search)
    }
  }

  /** Returns the query of the redirect to the application. */
  async answered(answer: Awaited<ReturnType<OAuthTestBrowser['go']>>): Promise<URLSearchParams> {
    const last = await this.follow(answer)
    return new URL(String(last.headers.location)).searchParams
  }

  /** Sends the form of a page that has one, as its script or a button would. */
  submit(page: string, more: Readonly<Record<string, string>> = {}) {
    const action = /action="https:\/\/gw\.example([^"]+)"/.exec(page)?.[1] ?? ''
    const fields = [...page.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [name, value])
    return this.go(action, { ...(Object.fromEntries(fields) as Record<string, string>), ...more })
  }

  /** Starts a sign-in and goes to its page. */
  async page(query: Readonly<Record<string, string>>): Promise<string> {
    const answer = await this.authorize(query)
    expect(answer.statusCode).toBe(303)
    return String(answer.headers.location)
  }

  /** Signs Alice in; resolves with the code. */
  async signIn(query: Readonly<Record<string, string>>): Promise<string> {
    const form = { action: 'sign-in', email: 'alice@example.test', password: 'secret-9' }
    const returned = await this.answered(await this.go(await this.page(query), form))
    expect(returned.get('error')).toBeNull()
    return returned.get('code') ?? ''
  }
}
