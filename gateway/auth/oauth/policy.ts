import { type Grant, interactionPolicy, type KoaContextWithOIDC } from 'oidc-provider'
import type { OAuthAccounts } from './accounts.ts'
import { oauthScopes } from './clients.ts'

/**
 * Returns the prompts of a sign-in. The password is required without a session, after a change of the
 * password, and if the session's subscriber is disabled or in another project. A consent click is required
 * for a client on a device, because another application there could impersonate that client (RFC 8252 section
 * 8.6). A client may also request either prompt.
 */
export const interactions = (accounts: OAuthAccounts) => {
  const { Check, base } = interactionPolicy
  const policy = base()
  policy.get('login')?.checks.add(
    new Check(
      'account',
      'the session belongs to a subscriber who may not sign in here',
      'login_required',
      ({ oidc }) => {
        const { accountId, loginTs = 0 } = oidc.session ?? {}
        if (accountId === undefined) return Check.NO_NEED_TO_PROMPT
        const passwordIsOlder = loginTs * 1000 >= (accounts.subscriber(accountId)?.tokensAfter ?? 0)
        return oidc.account && passwordIsOlder ? Check.NO_NEED_TO_PROMPT : Check.REQUEST_PROMPT
      },
    ),
  )
  return policy
}

/**
 * Terms of a client's grant. Clients belong to the project, so they get all requested scopes when the
 * subscriber signs in.
 */
export interface GrantTerms {
  /** Audience of access tokens. */
  readonly resource: string
  readonly seconds: number
  /** Returns milliseconds since 1970. */
  readonly now: () => number
}

/**
 * Returns a function that finds or creates the grant of a session and a client. Each sign-in and each silent
 * renewal prolongs it.
 */
export const grantOf =
  ({ resource, seconds, now }: GrantTerms) =>
  async ({ oidc }: KoaContextWithOIDC): Promise<Grant> => {
    const { provider, session } = oidc
    const clientId = oidc.client!.clientId
    const accountId = oidc.account!.accountId
    const known = session?.grantIdFor(clientId)
    const found = known === undefined ? undefined : await provider.Grant.find(known)
    const grant = found?.accountId === accountId ? found : new provider.Grant({ clientId, accountId })
    const scopes = oauthScopes.join(' ')
    grant.addOIDCScope(scopes)
    grant.addResourceScope(resource, scopes)
    grant.exp = Math.floor(now() / 1000) + seconds
    await grant.save()
    return grant
  }
