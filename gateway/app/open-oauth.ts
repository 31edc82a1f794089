import { isDeepStrictEqual } from 'node:util'
import { OAuthClients } from '../auth/oauth/clients.ts'
import type { OAuth } from '../auth/oauth/oauth.ts'
import { OAuthPayloads } from '../auth/oauth/payloads.ts'
import type { Metrics } from '../core/metrics.ts'
import { providerPages } from '../http/oauth/oauth-pages.ts'
import type { Base, Store } from './open.ts'

/** What signing in by OAuth needs. */
export interface OpenOAuth {
  readonly oauthClients: OAuthClients
  /** Absent where nothing says at which URL browsers reach us. */
  readonly oauth?: OAuth
}

/**
 * Opens the authorization server. Rejects where its keys cannot be used, or the file has a client of the API.
 */
export const openOAuth = async (
  { config, clock, log, closing, followers }: Base,
  { directory, revocations, secret }: Pick<Store, 'directory' | 'revocations' | 'secret'>,
  metrics: Pick<Metrics, 'rejections' | 'gauge'>,
): Promise<OpenOAuth> => {
  const { store } = directory
  const { publicHost } = config.http
  const now = () => clock.now()
  const payloads = new OAuthPayloads({ store, revocations, now })
  const oauthClients = new OAuthClients(store, now, payloads)
  await oauthClients.provision(config.oauth.clients, config.project)
  followers.add('oauth.clients', (next, before) => {
    if (isDeepStrictEqual(next.oauth.clients, before.oauth.clients)) return undefined
    let gone: readonly string[] = []
    return {
      write: async (write) => {
        gone = await oauthClients.declare(write, next.oauth.clients, next.project)
      },
      commit: () => {},
      after: () => oauthClients.revokeGrants(gone),
    }
  })
  const url = config.oauth.url ?? (publicHost && new URL(`https://${publicHost}`).origin)
  if (!url) return { oauthClients }
  // A sixth of a second and some memory, which nobody gives for an authorization server that is not there.
  const { OAuth } = await import('../auth/oauth/oauth.ts')
  const oauth = await OAuth.open({
    url,
    store,
    revocations,
    secret,
    publicHost,
    clock,
    metrics,
    config: config.oauth,
    dataDir: config.dataDir,
    clients: oauthClients,
    accounts: directory,
    pages: providerPages,
    log: log.child({ part: 'OAuth' }),
  })
  metrics.gauge('oauth_callers', () => oauth.requests.size)
  return { oauthClients, oauth: closing.add('OAuth', oauth, (open) => open.close()) }
}
