import { createSecretKey, randomUUID } from 'node:crypto'
import { errors, type JWTStructured, type KoaContextWithOIDC, type ResourceServer } from 'oidc-provider'
import { claimsOf, tokenHeader, tokenKey } from '../token-claims.ts'
import { oauthScopes } from './clients.ts'
import type { OAuthPayloads } from './payloads.ts'

/** Collaborators and settings of {@link subscriberToken}. */
export interface AccessTokenDeps {
  readonly payloads: Pick<OAuthPayloads, 'addAccessToken'>
  /** Host in the token's header, for the browser SDK. */
  readonly publicHost: string | undefined
  /** Returns milliseconds since 1970. */
  readonly now: () => number
  /** The gateway's issuer URL, also the audience of its tokens. */
  readonly issuer: string
}

/**
 * Returns the gateway as oidc-provider's resource server, the audience of its access tokens (RFC 8707). Any
 * other audience is rejected. `secret`: the gateway's; `seconds`: lifetime of the tokens.
 */
export const resourceServer = (issuer: string, secret: Uint8Array, seconds: number) => {
  const server: ResourceServer = {
    scope: oauthScopes.join(' '),
    audience: issuer,
    accessTokenTTL: seconds,
    accessTokenFormat: 'jwt',
    jwt: { sign: { alg: 'HS256', key: createSecretKey(tokenKey(secret)) } },
  }
  return {
    enabled: true,
    defaultResource: () => issuer,
    useGrantedResource: () => true,
    getResourceServerInfo: (_ctx: KoaContextWithOIDC, resource: string) => {
      if (resource !== issuer) throw new errors.InvalidTarget()
      return server
    },
  }
}

/** Access token in the form of oidc-provider. */
interface ProvidedToken {
  readonly accountId?: string | undefined
  readonly clientId?: string | undefined
  readonly grantId?: string | undefined
  readonly scope?: string | undefined
  readonly client?: Readonly<Record<string, unknown>> | undefined
}

/**
 * Converts an access token of oidc-provider to a subscriber access token, like those of the API, with issuer
 * and audience (RFC 9068 section 2.2). Stores it with its grant before it is issued. Rejects with
 * `invalid_grant` if the grant was revoked.
 */
export const subscriberToken =
  ({ payloads, publicHost, now, issuer }: AccessTokenDeps) =>
  async (_ctx: KoaContextWithOIDC, token: ProvidedToken, jwt: JWTStructured): Promise<void> => {
    const { accountId = '', clientId = '', grantId = '', scope = '', client } = token
    const expiresAt = Number(jwt.payload.exp)
    const id = randomUUID()
    if (!(await payloads.addAccessToken({ id, grantId, subscriberId: accountId, clientId, expiresAt })))
      throw new errors.InvalidGrant('grant was revoked')
    const claims = claimsOf({
      kind: 'subscriber',
      subscriberId: accountId,
      projectId: String(client?.project_id),
      clientId,
      id,
      issuedAt: now() / 1000,
      expiresAt,
      scopes: scope.split(' ').filter(Boolean),
    })
    jwt.header = tokenHeader(publicHost)
    jwt.payload = { ...claims, iss: issuer, aud: issuer }
  }
