import type { EventEmitter } from 'node:events'
import { join } from 'node:path'
import type { Provider } from 'oidc-provider'
import type { OAuthConfig } from '../../../config/types.ts'
import type { Clock, Timer } from '../../core/clock.ts'
import type { Code } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import { FixedWindowLimiter } from '../../core/rates.ts'
import type { Store } from '../../directory/sqlite.ts'
import type { Revocations } from '../revocations.ts'
import type { OAuthAccounts } from './accounts.ts'
import type { OAuthClients } from './clients.ts'
import { readOrMakeSigningKeys } from './keys.ts'
import { OAuthPayloads } from './payloads.ts'
import { makeProvider, type ProviderPages } from './provider.ts'

/** What OAuth is opened with. */
export interface OAuthParts {
  /** Where browsers reach us, an https origin. */
  readonly url: string
  readonly config: Pick<OAuthConfig, 'accessTokenTtlMs' | 'refreshTokenTtlMs'>
  readonly dataDir: string
  readonly publicHost: string | undefined
  readonly store: Store
  readonly clients: Pick<OAuthClients, 'find'>
  readonly accounts: OAuthAccounts
  readonly revocations: Pick<Revocations, 'revoke'>
  /** The gateway's own. */
  readonly secret: Uint8Array
  readonly pages: ProviderPages
  readonly clock: Clock
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
  readonly metrics: Pick<Metrics, 'rejections'>
}

/** Time between two removals of what has ended. */
const sweepMs = 600_000
const requestLimit = { attempts: 300, windowMs: 60_000 }

/** The authorization server (RFC 6749, OpenID Connect Core 1.0), and what it keeps. */
export class OAuth {
  /** With a slash at its end. */
  readonly issuer: string
  readonly provider: Provider
  readonly accounts: OAuthAccounts
  /** Requests of a network address, over every listener: each may write to the store, before anybody has signed in. */
  readonly requests: FixedWindowLimiter
  readonly #parts: OAuthParts
  readonly #payloads: OAuthPayloads
  #sweep: Timer | undefined

  private constructor(parts: OAuthParts, payloads: OAuthPayloads, provider: Provider) {
    this.#parts = parts
    this.#payloads = payloads
    this.provider = provider
    this.issuer = provider.issuer
    this.accounts = parts.accounts
    this.requests = new FixedWindowLimiter(parts.clock, requestLimit)
    this.#report()
    this.#sweepLater()
  }

  /** Rejects where the signing keys cannot be used. */
  static async open(parts: OAuthParts): Promise<OAuth> {
    const { url, config, dataDir, store, revocations, clock } = parts
    const now = () => clock.now()
    const payloads = new OAuthPayloads({ store, revocations, now })
    const provider = makeProvider({
      ...parts,
      issuer: `${url}/`,
      payloads,
      now,
      keys: await readOrMakeSigningKeys(join(dataDir, 'oauth-keys'), now()),
      accessTokenSeconds: Math.max(1, Math.floor(config.accessTokenTtlMs / 1000)),
      refreshTokenSeconds: Math.floor(config.refreshTokenTtlMs / 1000),
    })
    return new OAuth(parts, payloads, provider)
  }

  /** Counts a request that oidc-provider was not asked. */
  refused(code: Code): void {
    this.#parts.metrics.rejections.inc({ code })
  }

  /** Removes nothing more. */
  close(): void {
    this.#sweep?.cancel()
  }

  #sweepLater(): void {
    const { clock, log } = this.#parts
    this.#sweep = clock.after(sweepMs, () => {
      this.#payloads
        .removeEnded()
        .catch((error: unknown) => log.error({ err: error }, 'OAuth: what has ended could not be removed'))
      this.#sweepLater()
    })
  }

  /** Tells of what is refused, and of what fails. */
  #report(): void {
    const { log, metrics } = this.#parts
    const refused = (
      ctx: RequestContext,
      error: { readonly error?: string; readonly error_detail?: string | undefined },
    ): void => {
      const client = clientOf(ctx)
      log.info(
        { code: 'oauth_refused', error: error.error, detail: error.error_detail, path: ctx.path, client },
        'OAuth: request refused',
      )
      metrics.rejections.inc({ code: 'oauth_refused' })
    }
    this.provider.on('authorization.error', refused)
    this.provider.on('grant.error', refused)
    this.provider.on('revocation.error', refused)
    this.provider.on('end_session.error', refused)
    this.provider.on('end_session_confirm.error', refused)
    this.provider.on('grant.revoked', (ctx) => {
      log.info({ path: ctx.path, client: clientOf(ctx) }, 'OAuth: grant revoked')
    })
    this.provider.on('server_error', (ctx, err) => {
      log.error({ code: 'internal', err, path: ctx.path }, 'OAuth: a request failed')
      metrics.rejections.inc({ code: 'internal' })
    })
    // Koa's own; the declarations of oidc-provider know it not.
    const koa: EventEmitter = this.provider
    koa.on('error', (err: unknown) => log.error({ code: 'internal', err }, 'OAuth: an answer failed'))
  }
}

/** What is told of a request. */
interface RequestContext {
  readonly path: string
  readonly oidc?: { readonly client?: { readonly clientId: string } | undefined }
}

const clientOf = ({ oidc }: RequestContext): string | undefined => oidc?.client?.clientId
