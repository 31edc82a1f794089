import type { FastifyStaticOptions } from '@fastify/static'

/** Names that the build gives to files by their content, such as `assets/index-Bp4zQ0aX.js`. */
const namedByContent = /\/assets\/[^/]+-[\w-]{8}\.\w+$/

/** Returns whether a path is not that of a compressed copy, which has a content type of its own. */
export const isNoCopy = (path: string): boolean => !/\.(br|gz)$/.test(path)

/**
 * Returns the options for a folder of built files. A file has compressed copies (`scripts/precompress.ts`),
 * and browsers receive one that they accept. Browsers keep files that never change for a year, and ask for a
 * newer version of all others each time. Default: files that are named by their content never change.
 * Compressed copies have no path of their own.
 */
export const builtFiles = (
  root: string,
  neverChanges = (path: string): boolean => namedByContent.test(path),
): FastifyStaticOptions => ({
  root,
  decorateReply: false,
  preCompressed: true,
  globIgnore: ['**/*.br', '**/*.gz'],
  allowedPath: isNoCopy,
  cacheControl: false,
  setHeaders: (reply, path) => {
    const isLasting = neverChanges(path.replace(/\.(br|gz)$/, ''))
    reply.header('cache-control', isLasting ? 'public, max-age=31536000, immutable' : 'no-cache')
  },
})
