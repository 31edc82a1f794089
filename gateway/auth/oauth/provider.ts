import { createHmac, timingSafeEqual } from 'node:crypto'
import { type Configuration, type KoaContextWithOIDC, Provider } from 'oidc-provider'
import { resourceServer, subscriberToken } from './access-tokens.ts'
import { accountFinder, type OAuthAccounts } from './accounts.ts'
import { adapterOf } from './adapter.ts'
import { hashOf, type OAuthClients, oauthScopes } from './clients.ts'
import type { SigningKey } from './keys.ts'
import { oauthPaths } from './paths.ts'
import type { OAuthPayloads } from './payloads.ts'
import { grantOf, interactions } from './policy.ts'

/** Pages that oidc-provider serves itself; each is a complete HTML document. */
export interface ProviderPages {
  /** Page for an error that cannot be redirected to the application, because the application is unknown. */
  failed(error: string, description: string | undefined): string
  /** Page for signing out. `form`: start of the form; buttons refer to it by their attribute `form`. */
  signOut(form: string, clientName: string | undefined): string
  signedOut(clientName: string | undefined): string
}

/** Options of the provider. */
export interface ProviderOptions {
  /** Issuer URL, with a final slash. */
  readonly issuer: string
  readonly publicHost: string | undefined
  /** The gateway's secret, from which the keys of cookies and access tokens are derived. */
  readonly secret: Uint8Array
  readonly keys: readonly SigningKey[]
  readonly accessTokenSeconds: number
  readonly refreshTokenSeconds: number
}

/** Collaborators of the provider. */
export interface ProviderDeps {
  readonly payloads: OAuthPayloads
  readonly clients: Pick<OAuthClients, 'find'>
  readonly accounts: OAuthAccounts
  readonly pages: ProviderPages
  /** Returns milliseconds since 1970. */
  readonly now: () => number
}

/** Maximum time of a sign-in in seconds. */
const signInSeconds = 1800
const codeSeconds = 60

/** Creates the authorization server: the code flow with PKCE, and refresh tokens that can be used once. */
export const makeProvider = (options: ProviderOptions, deps: ProviderDeps): Provider => {
  const provider = new Provider(options.issuer, configurationOf(options, deps))
  // The issuer's URL is https even if a proxy terminates TLS. The Fastify handler sets the forwarded header
  // itself, and drops those of the request.
  provider.proxy = true
  provider.use(async (ctx, next) => {
    // A request without a scope gets `openid`, without which there is no id token.
    if (ctx.path === oauthPaths.authorization && ctx.query.scope === undefined)
      ctx.query = { ...ctx.query, scope: 'openid' }
    await next()
  })
  // The store holds a hash.
  provider.Client.prototype.compareClientSecret = function (this: { clientSecret?: string }, secret: string) {
    const stored = Buffer.from(this.clientSecret ?? '')
    const given = Buffer.from(hashOf(secret))
    return stored.length === given.length && timingSafeEqual(stored, given)
  }
  return provider
}

const configurationOf = (options: ProviderOptions, deps: ProviderDeps): Configuration => {
  const { issuer, publicHost, secret, keys, accessTokenSeconds, refreshTokenSeconds } = options
  const { payloads, clients, accounts, pages, now } = deps
  return {
    adapter: adapterOf(payloads, clients),
    jwks: { keys: keys.map((key) => ({ ...key })) } as Configuration['jwks'],
    findAccount: accountFinder(accounts),
    loadExistingGrant: grantOf({ resource: issuer, seconds: refreshTokenSeconds, now }),
    interactions: {
      policy: interactions(accounts),
      url: (_ctx, { uid }) => `${oauthPaths.signIn}/${uid}`,
    },
    features: featuresOf(pages, resourceServer(issuer, secret, accessTokenSeconds)),
    formats: { customizers: { jwt: subscriberToken({ payloads, publicHost, now, issuer }) as never } },
    cookies: cookiesOf(secret),
    ttl: lifetimes(accessTokenSeconds, refreshTokenSeconds),
    ...rules,
    claims: { openid: ['sub'], profile: ['name', 'given_name', 'family_name'], email: ['email'] },
    clientBasedCORS,
    renderError: (ctx, { error, error_description }) => {
      ctx.type = 'html'
      ctx.body = pages.failed(error, error_description)
    },
  }
}

const lifetimes = (accessTokenSeconds: number, refreshTokenSeconds: number): Configuration['ttl'] => ({
  AccessToken: accessTokenSeconds,
  IdToken: accessTokenSeconds,
  AuthorizationCode: codeSeconds,
  Interaction: signInSeconds,
  Grant: refreshTokenSeconds,
  // Tokens of a session end with it.
  Session: refreshTokenSeconds,
  // The lifetime starts at the sign-in: a renewal does not extend it.
  RefreshToken: ({ oidc }) =>
    Math.max(1, oidc.entities.RotatedRefreshToken?.remainingTTL ?? refreshTokenSeconds),
})

const rules: Configuration = {
  routes: {
    authorization: oauthPaths.authorization,
    token: oauthPaths.token,
    revocation: oauthPaths.revocation,
    jwks: oauthPaths.keys,
    end_session: oauthPaths.signOut,
  },
  pkce: { required: () => true },
  responseTypes: ['code'],
  scopes: [...oauthScopes],
  clientAuthMethods: ['none', 'client_secret_post', 'client_secret_basic'],
  enabledJWA: { idTokenSigningAlgValues: ['RS256'] },
  extraClientMetadata: { properties: ['project_id'] },
  allowOmittingSingleRegisteredRedirectUri: false,
  issueRefreshToken: () => true,
  rotateRefreshToken: true,
}

const featuresOf = (
  pages: ProviderPages,
  resourceIndicators: ReturnType<typeof resourceServer>,
): Configuration['features'] => ({
  resourceIndicators,
  revocation: {
    enabled: true,
    allowedPolicy: (_ctx, { clientId }, token) => token.clientId === clientId,
  },
  rpInitiatedLogout: {
    enabled: true,
    logoutSource: (ctx, form) => {
      ctx.body = pages.signOut(form, ctx.oidc.client?.clientName)
    },
    postLogoutSuccessSource: (ctx) => {
      ctx.type = 'html'
      ctx.body = pages.signedOut(ctx.oidc.client?.clientName)
    },
  },
  // The gateway's own API returns profiles, and accepts access tokens unchanged.
  userinfo: { enabled: false },
  dPoP: { enabled: false },
  pushedAuthorizationRequests: { enabled: false },
  devInteractions: { enabled: false },
})

const cookiesOf = (secret: Uint8Array): Configuration['cookies'] => {
  const options = { secure: true, httpOnly: true, sameSite: 'lax', signed: true } as const
  return {
    keys: [createHmac('sha256', secret).update('oauth cookies').digest('base64url')],
    // Browsers accept these prefixes from the host itself only, over TLS (RFC 6265bis section 4.1.3).
    names: { session: '__Host-session', interaction: '__Secure-sign-in', resume: '__Secure-resume' },
    long: options,
    short: options,
  }
}

/**
 * Allows cross-origin requests of a public client's pages, at its redirect URIs. A client with a secret sends
 * such requests from its server.
 */
const clientBasedCORS = (
  _ctx: KoaContextWithOIDC,
  origin: string,
  { redirectUris = [], clientAuthMethod }: { redirectUris?: readonly string[]; clientAuthMethod?: string },
): boolean =>
  clientAuthMethod === 'none' &&
  origin !== 'null' &&
  redirectUris.some((uri) => URL.parse(uri)?.origin === origin)
