import type { Account, KoaContextWithOIDC } from 'oidc-provider'
import type { Directory } from '../../directory/directory.ts'
import type { Subscriber } from '../../directory/model/callers.ts'

/** Source of the accounts that may sign in; queried at every step. */
export type OAuthAccounts = Pick<Directory, 'subscriber'>

/**
 * Returns a function that finds the account of a session, a code or a refresh token. The result is undefined
 * if the subscriber is in another project than the client, is disabled, or has since changed the password.
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

/** Returns the claims for an id token (OpenID Connect Core 1.0 section 5.1); the scopes select among them. */
const claimsOf = ({ id, email, displayName, firstName, lastName }: Subscriber) => ({
  sub: id,
  email,
  name: displayName,
  ...(firstName && { given_name: firstName }),
  ...(lastName && { family_name: lastName }),
})
