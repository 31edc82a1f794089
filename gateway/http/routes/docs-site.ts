import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { isNoCopy } from '../built-files.ts'
import { codeOfPath, errorPages } from '../requests/error-pages.ts'

const base = '/docs'

const hidden = { config: { cors: false }, schema: { hide: true } } as const

/**
 * Serves the site of the documentation at `/docs/`, with paths without `.html`. `folder`: the output of
 * `scripts/docs`. If it does not exist, a page names that command, and error codes have plain pages.
 */
export const serveDocs = async (site: FastifyInstance, folder: string): Promise<void> => {
  if (!existsSync(join(folder, 'index.html'))) {
    errorPages(site, sendNotBuilt)
    for (const path of [base, `${base}/*`]) site.get(path, hidden, (_request, reply) => sendNotBuilt(reply))
    return
  }
  await site.register((scope) => serveBuilt(scope, folder), { prefix: base })
}

const serveBuilt = async (scope: FastifyInstance, folder: string): Promise<void> => {
  const notFound = readFileSync(join(folder, '404.html'))
  const headers = headersOf(policyOf(readFileSync(join(folder, 'index.html'), 'utf8')))
  scope.addHook('onRequest', async (_request, reply) => {
    reply.headers(headers)
  })
  scope.setNotFoundHandler((_request, reply) =>
    reply.code(404).headers({ 'content-type': html, 'cache-control': 'no-cache' }).send(notFound),
  )
  await scope.register(fastifyStatic, {
    root: folder,
    preCompressed: true,
    allowedPath: isNoCopy,
    serve: false,
    redirect: false,
    cacheControl: false,
    setHeaders: (reply, path) => {
      // Names of assets contain a hash of their content.
      const isAsset = path.startsWith(join(folder, 'assets'))
      reply.header('cache-control', isAsset ? 'public, max-age=31536000, immutable' : 'no-cache')
    },
  })
  // Paths of pages have no extension, and a compressed copy is found only by the whole name of a file.
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const pages = new Map(files.filter((file) => file.endsWith('.html')).map((file) => [pathOf(file), file]))
  // One route serves all of them: a route for each page and each code would double the routes of a start.
  scope.get('/', hidden, (_request, reply) => reply.sendFile('index.html'))
  scope.get<{ Params: { '*': string } }>('/*', hidden, ({ params: { '*': path } }, reply) => {
    const page = pages.get(path)
    const code = codeOfPath(`${base}/${path}`)
    if (page === undefined && code !== undefined) return reply.redirect(`${base}/errors#${code}`)
    return reply.sendFile(page ?? path)
  })
}

/** Returns the path of a page below `/docs/`. */
const pathOf = (file: string): string => file.replace(/(?:\/?index)?\.html$/, '')

const html = 'text/html; charset=utf-8'

const headersOf = (policy: string): Record<string, string> => ({
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
})

/** Returns the scripts in a page, without those that have a URL. */
const inlineScripts = (page: string): readonly string[] =>
  page
    .split('<script')
    .slice(1)
    .filter((part) => !/\ssrc=/.test(part.slice(0, part.indexOf('>'))))
    .map((part) => part.slice(part.indexOf('>') + 1, part.indexOf('</script>')))

/**
 * Returns the content security policy of the site. It permits the inline scripts of a page by their hashes;
 * the build ensures that all pages have the same ones. Highlighted code has style attributes.
 */
const policyOf = (page: string): string => {
  const hashes = inlineScripts(page).map(
    (script) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  )
  return [
    "default-src 'none'",
    ["script-src 'self'", ...hashes].join(' '),
    "style-src 'self'",
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

const sendNotBuilt = (reply: FastifyReply): FastifyReply =>
  reply
    .code(404)
    .headers({
      ...headersOf("default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"),
      'content-type': html,
      'cache-control': 'no-cache',
    })
    .send(notBuilt)

const notBuilt = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Trunkline</title>
<meta name="viewport" content="width=device-width">
<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui;max-width:40em;margin:auto}</style>
<main>
<h1>The documentation is not built</h1>
<p>Run <code>scripts/docs</code> in the folder of Trunkline, then restart the gateway.
The pages are also in the folder <code>docs</code>.</p>
<p>This gateway explains its <a href="/docs/errors">error codes</a> in any case.</p>
</main></html>
`
