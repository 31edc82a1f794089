import type { Account, KoaContextWithOIDC } from 'oidc-provider'
import type { Directory, Subscriber } from '../../directory/types.ts'

/** Who may sign in; asked at every step. */
export type OAuthAccounts = Pick<Directory, 'subscriber'>

/**
 * The account of a session, a code or a refresh token; undefined where the subscriber is not one of the client's project, may not sign in any
 * more, or has another password since the code or the refresh token was made.
 */
export const accountFinder =
  (accounts: OAuthAccounts) =>
  (
    { oidc }: KoaContextWithOIDC,
    id: string,
    token?: { readonly iat?: number | undefined },
  ): Account | undefined => {
    const subscriber = accounts.subscriber(id)
    if (!subscriber || subscriber.disabled) return undefined
    if (oidc.client && oidc.client.project_id !== subscriber.projectId) return undefined
    if ((token?.iat ?? Number.POSITIVE_INFINITY) * 1000 < subscriber.tokensAfter) return undefined
    return { accountId: id, claims: () => claimsOf(subscriber) }
  }

/** What an id token may say (OpenID Connect Core 1.0 section 5.1); the scopes decide which of it. */
const claimsOf = ({ id, email, displayName, firstName, lastName }: Subscriber) => ({
  sub: id,
  email,
  name: displayName,
  ...(firstName && { given_name: firstName }),
  ...(lastName && { family_name: lastName }),
})
