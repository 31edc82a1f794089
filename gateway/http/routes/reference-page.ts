import { Worker } from 'node:worker_threads'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { type CompressedText, compressedText, sendCompressed } from '../requests/compressed-text.ts'

const base = '/docs/api'

const hidden = { config: { cors: false }, schema: { hide: true } } as const

/** Largest heap in MiB of the thread that prepares the script. */
const heapMiB = 256

/**
 * Serves the API reference at `/docs/api`: a page that shows `/openapi.json` with samples of code, and sends
 * requests to this gateway only. A thread prepares its script at the first visit, which takes a second.
 */
export const serveReference = (site: FastifyInstance): void => {
  let script: Promise<CompressedText> | undefined
  site.get(base, hidden, (_request, reply) =>
    withHeaders(reply, policy).type('text/html; charset=utf-8').send(page),
  )
  site.get(`${base}/start.js`, hidden, (_request, reply) =>
    withHeaders(reply, "default-src 'none'").type('text/javascript; charset=utf-8').send(start),
  )
  site.get(`${base}/reference.js`, hidden, async (request, reply) => {
    script ??= prepare()
    try {
      const content = await script
      withHeaders(reply, "default-src 'none'").type('text/javascript; charset=utf-8')
      return sendCompressed(request, reply, content)
    } catch (error) {
      // The next visit tries again.
      script = undefined
      throw error
    }
  })
}

/** Returns the script of the page, compressed. Rejects if its thread fails. */
const prepare = (): Promise<CompressedText> => {
  const { promise, resolve, reject } = Promise.withResolvers<CompressedText>()
  const worker = new Worker(new URL('./reference.worker.ts', import.meta.url), {
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: heapMiB },
  })
  worker.unref()
  worker.once('message', (content: Uint8Array<ArrayBuffer>) =>
    resolve(compressedText(Buffer.from(content.buffer, content.byteOffset, content.length))),
  )
  worker.once('error', reject)
  worker.once('exit', (code) => reject(new Error(`The thread of the API reference ended with ${code}.`)))
  return promise
}

const withHeaders = (reply: FastifyReply, policy: string): FastifyReply =>
  reply.headers({
    'content-security-policy': policy,
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
  })

/**
 * Content security policy of the page. Its scripts are files of this gateway, and it connects to no other
 * host. It permits inline styles: the script adds style elements with generated rules, some without a nonce.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>API reference – Trunkline</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
</head>
<body>
<noscript>This page needs JavaScript.
<a href="/openapi.json">The OpenAPI document</a> has the same content.</noscript>
<div id="app"></div>
<script src="${base}/reference.js"></script>
<script src="${base}/start.js"></script>
</body>
</html>
`

/** Clients of code samples that the page does not offer. */
const hiddenClients = {
  ...Object.fromEntries(
    ['c', 'clojure', 'csharp', 'dart', 'fsharp', 'go', 'http', 'java', 'js', 'julia', 'kotlin', 'objc'].map(
      (name) => [name, true],
    ),
  ),
  ...Object.fromEntries(
    ['ocaml', 'php', 'powershell', 'r', 'ruby', 'rust', 'swift'].map((name) => [name, true]),
  ),
  node: ['axios', 'ofetch', 'undici', 'request', 'unirest'],
  python: ['python3', 'httpx_sync', 'httpx_async', 'aiohttp'],
  shell: ['httpie', 'wget'],
}

/** Colours with the contrast of WCAG 2.2 AA (4.5:1), where those of the theme have less. */
const colours = `
.light-mode { --scalar-color-3: #6a6a6a; --scalar-color-green: #007a4d; }
.dark-mode { --scalar-color-3: #a8a8a8; }
`

/** Settings of the page: nothing leaves this gateway, and no other application is offered. */
const settings = {
  url: '/openapi.json',
  theme: 'default',
  customCss: colours,
  layout: 'modern',
  hiddenClients,
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  documentDownloadType: 'json',
  hideClientButton: true,
  showDeveloperTools: 'never',
  withDefaultFonts: false,
  persistAuth: false,
  telemetry: false,
  agent: { disabled: true, hideAddApi: true },
  mcp: { disabled: true },
}

const start = `Scalar.createApiReference('#app', ${JSON.stringify(settings)})\n`
