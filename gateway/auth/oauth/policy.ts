import { type Grant, interactionPolicy, type KoaContextWithOIDC } from 'oidc-provider'
import type { OAuthAccounts } from './accounts.ts'
import { oauthScopes } from './clients.ts'

/**
 * When somebody is asked something: for the password where there is no session, where it is that of a subscriber of another project or of one
 * who may not sign in any more, or where the password has changed since; and for a click where the client is installed on a device, because
 * another application there could pass itself off as it (RFC 8252 section 8.6), or where the client asks for one.
 */
export const interactions = (accounts: OAuthAccounts) => {
  const { Check, base } = interactionPolicy
  const policy = base()
  policy.get('login')?.checks.add(
    new Check('account', 'the session is of nobody who may sign in here', 'login_required', ({ oidc }) => {
      const { accountId, loginTs = 0 } = oidc.session ?? {}
      if (accountId === undefined) return Check.NO_NEED_TO_PROMPT
      const passwordIsOlder = loginTs * 1000 >= (accounts.subscriber(accountId)?.tokensAfter ?? 0)
      return oidc.account && passwordIsOlder ? Check.NO_NEED_TO_PROMPT : Check.REQUEST_PROMPT
    }),
  )
  return policy
}

/** What a client is granted. Clients are the project's own: all that they may ask for is theirs when the subscriber signs in. */
export interface GrantTerms {
  /** Whom access tokens are for. */
  readonly resource: string
  readonly seconds: number
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** The grant of a session and a client, made where there is none; each sign-in and each silent renewal lengthens it. */
export const grantOf =
  ({ resource, seconds, now }: GrantTerms) =>
  async ({ oidc }: KoaContextWithOIDC): Promise<Grant> => {
    const { provider, session } = oidc
    const [clientId, accountId] = [oidc.client!.clientId, oidc.account!.accountId]
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
