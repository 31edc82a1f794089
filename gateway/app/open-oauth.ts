import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { OAuthClients } from '../auth/oauth/clients.ts'
import type { OAuth } from '../auth/oauth/oauth.ts'
import { OAuthPayloads } from '../auth/oauth/payloads.ts'
import type { Metrics } from '../core/metrics.ts'
import { providerPages } from '../http/oauth/oauth-pages.ts'
import type { AppContext, OpenedStore } from './open.ts'

/** The authorization server and its clients. */
export interface OpenedOAuth {
  readonly oauthClients: OAuthClients
  /** Authorization server; absent if the configuration has no URL at which browsers reach the gateway. */
  readonly oauth?: OAuth
}

/**
 * Opens the authorization server. Rejects if its keys cannot be used, or if the file declares a client that
 * the API has created.
 */
export const openOAuth = async (
  { config, clock, log, closing, followers }: AppContext,
  { directory, revocations, secret }: Pick<OpenedStore, 'directory' | 'revocations' | 'secret'>,
  metrics: Pick<Metrics, 'rejections' | 'gauge'>,
): Promise<OpenedOAuth> => {
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
  // Imported only if OAuth is enabled, because loading takes a sixth of a second and some memory.
  const { OAuth } = await import('../auth/oauth/oauth.ts')
  const { accessTokenTtlMs, refreshTokenTtlMs } = config.oauth
  const keysFolder = join(config.dataDir, 'oauth-keys')
  const oauth = await OAuth.open(
    { url, publicHost, secret, keysFolder, accessTokenTtlMs, refreshTokenTtlMs },
    {
      payloads,
      clients: oauthClients,
      accounts: directory,
      pages: providerPages,
      clock,
      log: log.child({ part: 'OAuth' }),
      metrics,
    },
  )
  metrics.gauge('oauth_callers', () => oauth.requests.size)
  return { oauthClients, oauth: closing.add('OAuth', oauth, (open) => open.close()) }
}
