import { existsSync } from 'node:fs'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance } from 'fastify'
import type { Log } from '../core/log.ts'
import { builtFiles } from './built-files.ts'
import { serveSdk } from './sdk-files.ts'

/** Folders of built files. */
export interface StaticPages {
  /** The softphone page, served at `/`. */
  readonly console: string
  /** The browser SDK's script, served at `/sdk/`. */
  readonly sdk: string
}

/** Serves the built pages. A folder that is missing is logged, and its paths answer 404. */
export const servePages = async (
  site: FastifyInstance,
  pages: StaticPages,
  log: Pick<Log, 'warn'>,
): Promise<void> => {
  if (built(pages.sdk, log)) await site.register((scope) => serveSdk(scope, pages.sdk))
  if (built(pages.console, log)) await site.register((scope) => serveConsole(scope, pages.console))
}

const built = (folder: string, log: Pick<Log, 'warn'>): boolean => {
  if (existsSync(folder)) return true
  log.warn({ event: 'http.pages-skipped', folder }, 'pages not served: not built (npm run build)')
  return false
}

const serveConsole = async (scope: FastifyInstance, root: string): Promise<void> => {
  scope.addHook('onRequest', async (request, reply) => {
    reply.headers({
      'content-security-policy': contentPolicy(request.headers.host),
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'permissions-policy':
        'microphone=(self), camera=(self), display-capture=(self), speaker-selection=(self), geolocation=()',
    })
  })
  // Without a wildcard, an unknown path receives the 404 of the API.
  await scope.register(fastifyStatic, { ...builtFiles(root), prefix: '/', wildcard: false })
}

/**
 * Returns the content security policy of a page. It names WebSocket URLs, because `connect-src 'self'` does
 * not cover them in every browser.
 */
const contentPolicy = (host: string | undefined): string => {
  const named = host !== undefined && /^[\w.-]+(:\d+)?$|^\[[\da-f:.]+\](:\d+)?$/i.test(host)
  const sockets = named ? ` ws://${host} wss://${host}` : ''
  return [
    "default-src 'self'",
    `connect-src 'self'${sockets}`,
    "img-src 'self' data:",
    "media-src 'self' blob: mediastream:",
    "worker-src 'self'",
    "manifest-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')
}
