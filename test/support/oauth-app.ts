import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Page } from 'playwright-core'
import { makeAuthority } from '../../sip-agent/testing/certificates.ts'
import type { Browser } from './browser.ts'

/** The bundle of oidc-client-ts, as npm delivered it. */
const bundle = (): Buffer => {
  const main = createRequire(import.meta.url).resolve('oidc-client-ts')
  return readFileSync(join(dirname(main), '..', 'browser', 'oidc-client-ts.js'))
}

const html = '<!doctype html><meta charset="utf-8"><title>Application</title><script src="/oidc.js"></script>'

/** Members of oidc-client-ts that the page uses. */
interface AppWindow {
  readonly oidc: { readonly UserManager: new (settings: object) => UserManager }
  manager: UserManager
}

/** User of a sign-in, as oidc-client-ts returns it. */
export interface SignedInUser {
  readonly access_token: string
  readonly refresh_token?: string
  readonly scope: string
  readonly profile: { readonly sub: string }
}

interface UserManager {
  signinRedirect(options?: object): Promise<void>
  signinCallback(): Promise<SignedInUser | undefined>
  signinSilent(options?: object): Promise<SignedInUser | null>
  storeUser(user: null): Promise<void>
}

/**
 * A customer's application. Its pages have an origin of their own on the gateway's site, and sign in with
 * oidc-client-ts.
 */
export class OAuthApp {
  readonly #server: Server
  readonly origin: string

  private constructor(server: Server) {
    this.#server = server
    const { port } = server.address() as { port: number }
    this.origin = `https://app.gw.localhost:${port}`
  }

  /** Starts the application's server. */
  static async start(): Promise<OAuthApp> {
    const script = bundle()
    const { certificate: cert, key } = await (await makeAuthority()).issue({ dns: ['app.gw.localhost'] })
    const server = createServer({ cert, key }, (request, response) => {
      const isScript = request.url === '/oidc.js'
      response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
      response.end(isScript ? script : html)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new OAuthApp(server)
  }

  /** Redirect URI of the application. */
  get callback(): string {
    return `${this.origin}/callback`
  }

  /** Opens a page whose `UserManager` has explicit endpoints, so that no metadata is requested. */
  async open(browser: Browser, issuer: string, settings: object = {}): Promise<Page> {
    const page = await browser.page()
    await this.#load(page, '/', issuer, settings)
    return page
  }

  /** Waits for the redirect back from the sign-in, and lets the page redeem the code. */
  async finish(page: Page, issuer: string, settings: object = {}): Promise<SignedInUser> {
    await page.waitForURL(`${this.callback}?*`)
    await this.#manage(page, issuer, settings)
    return page.evaluate(async () => {
      const { manager } = globalThis as unknown as AppWindow
      const user = await manager.signinCallback()
      return JSON.parse(JSON.stringify(user)) as SignedInUser
    })
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  async #load(page: Page, path: string, issuer: string, settings: object): Promise<void> {
    await page.goto(`${this.origin}${path}`)
    await this.#manage(page, issuer, settings)
  }

  async #manage(page: Page, issuer: string, settings: object): Promise<void> {
    const metadata = {
      issuer,
      authorization_endpoint: `${issuer}login/oauth/authorize`,
      token_endpoint: `${issuer}oauth/token`,
    }
    const given = {
      authority: issuer,
      client_id: 'softphone',
      redirect_uri: this.callback,
      metadata,
      automaticSilentRenew: false,
      monitorSession: false,
      loadUserInfo: false,
      ...settings,
    }
    await page.evaluate((all) => {
      const window = globalThis as unknown as AppWindow
      window.manager = new window.oidc.UserManager(all)
    }, given)
  }
}

/** Lets the manager redirect the page to the sign-in page. */
export const startSignIn = async (page: Page): Promise<void> => {
  await page.evaluate(() => {
    // The page navigates away meanwhile, so nothing waits here.
    void (globalThis as unknown as AppWindow).manager.signinRedirect()
  })
  await page.waitForURL('**/login/oauth/sign-in/*')
}

/** Renews the tokens without interaction. Returns the user, or the message of an error. */
export const renewSilently = (
  page: Page,
): Promise<{ readonly user?: SignedInUser; readonly error?: string }> =>
  page.evaluate(async () => {
    const { manager } = globalThis as unknown as AppWindow
    try {
      return { user: JSON.parse(JSON.stringify(await manager.signinSilent())) as SignedInUser }
    } catch (error) {
      return { error: (error as Error).message }
    }
  })

/** Deletes the stored user with the refresh token. */
export const forgetUser = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    await (globalThis as unknown as AppWindow).manager.storeUser(null)
  })
