import type { EventEmitter } from 'node:events'
import type { Provider } from 'oidc-provider'
import type { OAuthConfig } from '../../../config/types.ts'
import type { Clock, Timer } from '../../core/clock.ts'
import type { Code } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import { FixedWindowLimiter } from '../../core/rates.ts'
import type { OAuthAccounts } from './accounts.ts'
import type { OAuthClients } from './clients.ts'
import { readOrMakeSigningKeys } from './keys.ts'
import type { OAuthPayloads } from './payloads.ts'
import { makeProvider, type ProviderPages } from './provider.ts'

/** Options of {@link OAuth}. */
export interface OAuthOptions extends Pick<OAuthConfig, 'accessTokenTtlMs' | 'refreshTokenTtlMs'> {
  /** URL at which browsers reach the gateway, an https origin. */
  readonly url: string
  /** Folder of the keys that sign id tokens. */
  readonly keysFolder: string
  /** Host in the header of access tokens, for the browser SDK. */
  readonly publicHost: string | undefined
  /** The gateway's secret. */
  readonly secret: Uint8Array
}

/** Collaborators of {@link OAuth}. */
export interface OAuthDeps {
  readonly payloads: OAuthPayloads
  readonly clients: Pick<OAuthClients, 'find'>
  readonly accounts: OAuthAccounts
  readonly pages: ProviderPages
  readonly clock: Clock
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
  readonly metrics: Pick<Metrics, 'rejections'>
}

/** Interval in ms between two removals of expired payloads. */
const sweepMs = 600_000
const requestLimit = { attempts: 300, windowMs: 60_000 }

/** The authorization server (RFC 6749, OpenID Connect Core 1.0) and its state. */
export class OAuth {
  /** URL that identifies the server, with a final slash. */
  readonly issuer: string
  readonly provider: Provider
  readonly accounts: OAuthAccounts
  /**
   * Limit of requests per network address, over every listener: each request may write to the store before a
   * sign-in.
   */
  readonly requests: FixedWindowLimiter
  readonly #deps: Omit<OAuthDeps, 'clients' | 'pages'>
  #sweep: Timer | undefined

  private constructor(provider: Provider, deps: Omit<OAuthDeps, 'clients' | 'pages'>) {
    this.#deps = deps
    this.provider = provider
    this.issuer = provider.issuer
    this.accounts = deps.accounts
    this.requests = new FixedWindowLimiter(deps.clock, requestLimit)
    this.#report()
    this.#sweepLater()
  }

  /** Opens the server. Rejects if the signing keys cannot be used. */
  static async open(options: OAuthOptions, deps: OAuthDeps): Promise<OAuth> {
    const { url, keysFolder, publicHost, secret, accessTokenTtlMs, refreshTokenTtlMs } = options
    const { payloads, clients, accounts, pages, clock } = deps
    const now = () => clock.now()
    const provider = makeProvider(
      {
        issuer: `${url}/`,
        publicHost,
        secret,
        keys: await readOrMakeSigningKeys(keysFolder, now()),
        accessTokenSeconds: Math.max(1, Math.floor(accessTokenTtlMs / 1000)),
        refreshTokenSeconds: Math.floor(refreshTokenTtlMs / 1000),
      },
      { payloads, clients, accounts, pages, now },
    )
    return new OAuth(provider, deps)
  }

  /** Counts a request that was rejected before oidc-provider. */
  refused(code: Code): void {
    this.#deps.metrics.rejections.inc({ code })
  }

  /** Stops the removal of expired payloads. */
  close(): void {
    this.#sweep?.cancel()
  }

  #sweepLater(): void {
    const { clock, log, payloads } = this.#deps
    this.#sweep = clock.after(sweepMs, () => {
      payloads
        .removeEnded()
        .catch((error: unknown) =>
          log.error({ event: 'oauth.cleanup-failed', err: error }, 'expired OAuth data not removed'),
        )
      this.#sweepLater()
    })
  }

  /** Logs rejections and failures. */
  #report(): void {
    const { log, metrics } = this.#deps
    const refused = (
      ctx: RequestContext,
      error: { readonly error?: string; readonly error_detail?: string | undefined },
    ): void => {
      const client = clientOf(ctx)
      log.info(
        {
          event: 'oauth.request-refused',
          code: 'oauth_refused',
          error: error.error,
          detail: error.error_detail,
          path: ctx.path,
          client,
        },
        'OAuth request rejected',
      )
      metrics.rejections.inc({ code: 'oauth_refused' })
    }
    this.provider.on('authorization.error', refused)
    this.provider.on('grant.error', refused)
    this.provider.on('revocation.error', refused)
    this.provider.on('end_session.error', refused)
    this.provider.on('end_session_confirm.error', refused)
    this.provider.on('grant.revoked', (ctx) => {
      log.info({ event: 'oauth.grant-revoked', path: ctx.path, client: clientOf(ctx) }, 'OAuth grant revoked')
    })
    this.provider.on('server_error', (ctx, err) => {
      log.error(
        { event: 'oauth.request-failed', code: 'internal', err, path: ctx.path },
        'OAuth request failed',
      )
      metrics.rejections.inc({ code: 'internal' })
    })
    // Koa's own event; the declarations of oidc-provider do not include it.
    const koa: EventEmitter = this.provider
    koa.on('error', (err: unknown) =>
      log.error({ event: 'oauth.response-failed', code: 'internal', err }, 'OAuth response failed'),
    )
  }
}

/** Request facts for the log. */
interface RequestContext {
  readonly path: string
  readonly oidc?: { readonly client?: { readonly clientId: string } | undefined }
}

const clientOf = ({ oidc }: RequestContext): string | undefined => oidc?.client?.clientId
