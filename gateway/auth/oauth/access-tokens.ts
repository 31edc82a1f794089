import { createSecretKey, randomUUID } from 'node:crypto'
import { errors, type JWTStructured, type KoaContextWithOIDC, type ResourceServer } from 'oidc-provider'
import { claimsOf, tokenHeader, tokenKey } from '../token-claims.ts'
import { oauthScopes } from './clients.ts'
import type { OAuthPayloads } from './payloads.ts'

/** What access tokens are made with. */
export interface AccessTokenParts {
  readonly payloads: Pick<OAuthPayloads, 'addAccessToken'>
  /** The gateway's own. */
  readonly secret: Uint8Array
  /** Stands in the header, for the browser SDK. */
  readonly publicHost: string | undefined
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Us: who issues the tokens, and takes them. */
  readonly issuer: string
  readonly seconds: number
}

/** What oidc-provider is to know of us, whom its access tokens are for (RFC 8707); any other is refused. */
export const resourceServer = ({ secret, issuer, seconds }: AccessTokenParts) => {
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

/** An access token as oidc-provider has it. */
interface ProvidedToken {
  readonly accountId?: string | undefined
  readonly clientId?: string | undefined
  readonly grantId?: string | undefined
  readonly scope?: string | undefined
  readonly client?: Readonly<Record<string, unknown>> | undefined
}

/**
 * Makes an access token of oidc-provider a subscriber access token, the same that the API gives out, with us as its issuer and audience
 * besides (RFC 9068 section 2.2). It is noted with its grant before it is given out; rejects with `invalid_grant` where that was revoked.
 */
export const subscriberToken =
  ({ payloads, publicHost, now, issuer }: AccessTokenParts) =>
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
