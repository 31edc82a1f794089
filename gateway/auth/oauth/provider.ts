import { createHmac, timingSafeEqual } from 'node:crypto'
import { type Configuration, type KoaContextWithOIDC, Provider } from 'oidc-provider'
import { type AccessTokenParts, resourceServer, subscriberToken } from './access-tokens.ts'
import { accountFinder, type OAuthAccounts } from './accounts.ts'
import { adapterOf } from './adapter.ts'
import { hashOf, type OAuthClients, oauthScopes } from './clients.ts'
import type { SigningKey } from './keys.ts'
import { oauthPaths } from './paths.ts'
import type { OAuthPayloads } from './payloads.ts'
import { grantOf, interactions } from './policy.ts'

/** Pages that oidc-provider shows by itself; each is a whole document. */
export interface ProviderPages {
  /** What cannot be told to the application, because nobody knows who it is. */
  failed(error: string, description: string | undefined): string
  /** `form`: the start of the form, to which buttons belong by their attribute `form`. */
  signOut(form: string, clientName: string | undefined): string
  signedOut(clientName: string | undefined): string
}

/** What the provider is made of. */
export interface ProviderParts {
  /** With a slash at its end. */
  readonly issuer: string
  readonly payloads: OAuthPayloads
  readonly clients: Pick<OAuthClients, 'find'>
  readonly accounts: OAuthAccounts
  readonly keys: readonly SigningKey[]
  /** The gateway's own; cookies and access tokens are signed with keys that are made of it. */
  readonly secret: Uint8Array
  readonly publicHost: string | undefined
  readonly accessTokenSeconds: number
  readonly refreshTokenSeconds: number
  readonly pages: ProviderPages
  readonly now: () => number
}

/** Seconds that somebody may take to sign in. */
const signInSeconds = 1800
const codeSeconds = 60

/** Makes the authorization server: the code flow with PKCE, refresh tokens that are good once, and nothing else. */
export const makeProvider = (parts: ProviderParts): Provider => {
  const provider = new Provider(parts.issuer, configurationOf(parts))
  // The issuer is https, whoever ends the TLS; the face in Fastify says so, and lets no other header through.
  provider.proxy = true
  provider.use(async (ctx, next) => {
    // What asks for no scope has the one without which there is no id token.
    if (ctx.path === oauthPaths.authorization && ctx.query.scope === undefined)
      ctx.query = { ...ctx.query, scope: 'openid' }
    await next()
  })
  // What stands in the store is a hash.
  provider.Client.prototype.compareClientSecret = function (this: { clientSecret?: string }, secret: string) {
    const [kept, given] = [Buffer.from(this.clientSecret ?? ''), Buffer.from(hashOf(secret))]
    return kept.length === given.length && timingSafeEqual(kept, given)
  }
  return provider
}

const configurationOf = (parts: ProviderParts): Configuration => {
  const { issuer, payloads, clients, accounts, keys, secret } = parts
  const tokens: AccessTokenParts = { ...parts, seconds: parts.accessTokenSeconds }
  return {
    adapter: adapterOf(payloads, clients),
    jwks: { keys: keys.map((key) => ({ ...key })) } as Configuration['jwks'],
    findAccount: accountFinder(accounts),
    loadExistingGrant: grantOf({ resource: issuer, seconds: parts.refreshTokenSeconds, now: parts.now }),
    interactions: {
      policy: interactions(accounts),
      url: (_ctx, { uid }) => `${oauthPaths.signIn}/${uid}`,
    },
    features: featuresOf(parts.pages, tokens),
    formats: { customizers: { jwt: subscriberToken(tokens) as never } },
    cookies: cookiesOf(secret),
    ttl: lifetimes(parts),
    ...rules,
    claims: { openid: ['sub'], profile: ['name', 'given_name', 'family_name'], email: ['email'] },
    clientBasedCORS,
    renderError: (ctx, { error, error_description }) => {
      ctx.type = 'html'
      ctx.body = parts.pages.failed(error, error_description)
    },
  }
}

const lifetimes = ({ accessTokenSeconds, refreshTokenSeconds }: ProviderParts): Configuration['ttl'] => ({
  AccessToken: accessTokenSeconds,
  IdToken: accessTokenSeconds,
  AuthorizationCode: codeSeconds,
  Interaction: signInSeconds,
  Grant: refreshTokenSeconds,
  // Tokens of a session end with it.
  Session: refreshTokenSeconds,
  // Counts from the sign-in: being renewed makes none live longer.
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

const featuresOf = (pages: ProviderPages, tokens: AccessTokenParts): Configuration['features'] => ({
  resourceIndicators: resourceServer(tokens),
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
  // Our API tells who somebody is, and takes access tokens as they are.
  userinfo: { enabled: false },
  dPoP: { enabled: false },
  pushedAuthorizationRequests: { enabled: false },
  devInteractions: { enabled: false },
})

const cookiesOf = (secret: Uint8Array): Configuration['cookies'] => {
  const options = { secure: true, httpOnly: true, sameSite: 'lax', signed: true } as const
  return {
    keys: [createHmac('sha256', secret).update('oauth cookies').digest('base64url')],
    // Browsers take these prefixes from the host itself alone, over TLS (RFC 6265bis section 4.1.3).
    names: { session: '__Host-session', interaction: '__Secure-sign-in', resume: '__Secure-resume' },
    long: options,
    short: options,
  }
}

/** The pages of a public client are where subscribers return to. A client with a secret has a server that asks. */
const clientBasedCORS = (
  _ctx: KoaContextWithOIDC,
  origin: string,
  { redirectUris = [], clientAuthMethod }: { redirectUris?: readonly string[]; clientAuthMethod?: string },
): boolean =>
  clientAuthMethod === 'none' &&
  origin !== 'null' &&
  redirectUris.some((uri) => URL.parse(uri)?.origin === origin)
