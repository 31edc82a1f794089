import type { FastifyInstance, FastifyReply } from 'fastify'
import { type Code, catalogue } from '../../core/errors/catalogue.ts'
import { escapeHtml } from '../../core/web/escape-html.ts'

const base = '/docs/errors'

/** Returns the path of the page that documents an error code. Error responses of the API link to it. */
export const errorPagePath = (code: Code): string => `${base}/${code}`

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'cache-control': 'public, max-age=3600',
} as const

/** Returns the code whose page has a path; undefined for other paths. */
export const codeOfPath = (path: string): Code | undefined => {
  const code = path.startsWith(`${base}/`) ? path.slice(base.length + 1) : ''
  return isCode(code) ? code : undefined
}

const isCode = (text: string): text is Code => Object.hasOwn(catalogue, text)

/** Serves a page for each code of the catalogue, and a list of all. `unknown` answers for other codes. */
export const errorPages = (site: FastifyInstance, unknown: (reply: FastifyReply) => FastifyReply): void => {
  const options = { config: { cors: false }, schema: { hide: true } } as const
  site.get(base, options, (_request, reply) => reply.headers(headers).send(list))
  site.get<{ Params: { code: string } }>(`${base}/:code`, options, ({ params: { code } }, reply) =>
    isCode(code) ? reply.headers(headers).send(pageOf(code)) : unknown(reply),
  )
}

/**
 * Returns the page that documents a code. It contains only texts of the catalogue, and no text of a request.
 */
const pageOf = (code: Code): string => {
  const { text, http, sip, q850, cause } = catalogue[code]
  const rows = [
    ['Meaning', escapeHtml(text)],
    ['HTTP status of an answer', http],
    ['SIP status of a call before its answer', sip],
    ['Q.850 cause of a call', `${q850} ${cause}`],
  ]
  const cells = rows.map(([name, value]) => `<tr><th scope="row">${name}</th><td>${value}</td></tr>`)
  return html(`${code}`, [
    `<h1><code>${code}</code></h1>`,
    `<table>${cells.join('')}</table>`,
    '<p>The <code>message</code> of an answer says what was found in the request,',
    'and <code>attribute</code> names the field.',
    'The line of the gateway’s log has the same code, with the facts that were checked.</p>',
    `<p><a href="${base}">All codes</a></p>`,
  ])
}

/** Style sheet for light and dark mode. On narrow screens, the cells of a table row are stacked. */
const style =
  ':root{color-scheme:light dark}body{font:16px/1.5 system-ui;max-width:46em;margin:2em auto;padding:0 1em}' +
  'h1{overflow-wrap:anywhere}th,td{text-align:left;vertical-align:top;padding:0 1.5em .4em 0}' +
  '@media(max-width:40em){th,td{display:block;padding-bottom:0}td{padding-bottom:.8em}}'

const html = (title: string, body: readonly string[]): string =>
  [
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title} – Trunkline</title>`,
    '<meta name="viewport" content="width=device-width">',
    `<style>${style}</style>`,
    '<main>',
    ...body,
    '</main>',
    '</html>',
  ].join('\n')

const list = html('Error codes', [
  '<h1>Error codes</h1>',
  '<table>',
  ...Object.entries(catalogue).map(([code, { text }]) => {
    const link = `<a href="${base}/${code}"><code>${code}</code></a>`
    return `<tr><th scope="row">${link}</th><td>${escapeHtml(text)}</td></tr>`
  }),
  '</table>',
])
