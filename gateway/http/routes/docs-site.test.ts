import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fastify, { type FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serveDocs } from './docs-site.ts'

const folder = mkdtempSync(join(tmpdir(), 'docs-site-'))
const script = "document.documentElement.classList.add('dark')"
const page = (text: string) =>
  `<!doctype html><script src="/docs/assets/app.1a.js"></script><script id="x">${script}</script>${text}`

let site: FastifyInstance

/** Number of routes of the site. */
let routes = 0

const siteOf = async (root: string): Promise<FastifyInstance> => {
  const made = fastify({ routerOptions: { ignoreTrailingSlash: true } })
  routes = 0
  made.addHook('onRoute', () => {
    routes++
  })
  made.get('/docs/api', () => 'reference')
  await serveDocs(made, root)
  return made
}

beforeAll(async () => {
  mkdirSync(join(folder, 'assets'))
  mkdirSync(join(folder, 'adr'))
  for (const name of ['index', 'api', 'errors', '404', 'adr/index', 'adr/0001-a'])
    writeFileSync(join(folder, `${name}.html`), page(`This is ${name}.`))
  writeFileSync(join(folder, 'assets/app.1a.js'), '1')
  writeFileSync(join(folder, 'errors.html.br'), 'compressed')
  site = await siteOf(folder)
})

afterAll(async () => {
  await site.close()
  rmSync(folder, { recursive: true })
})

describe('the documentation', () => {
  it.each([
    ['/docs', 'index'],
    ['/docs/', 'index'],
    ['/docs/errors', 'errors'],
    ['/docs/errors?q=403', 'errors'],
    ['/docs/adr/', 'adr/index'],
    ['/docs/adr/0001-a', 'adr/0001-a'],
  ])('has at %s the page %s', async (url, name) => {
    const reply = await site.inject(url)
    expect([reply.statusCode, reply.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(reply.body).toContain(`This is ${name}.`)
    expect(reply.headers['cache-control']).toBe('no-cache')
  })

  it('permits only scripts of its own and the inline scripts of its pages', async () => {
    const policy = String((await site.inject('/docs')).headers['content-security-policy'])
    const hash = createHash('sha256').update(script).digest('base64')
    expect(policy).toContain(`script-src 'self' 'sha256-${hash}';`)
    expect(policy).toContain("default-src 'none'")
  })

  it('lets browsers keep assets, whose names contain a hash', async () => {
    const reply = await site.inject('/docs/assets/app.1a.js')
    expect(reply.headers['cache-control']).toBe('public, max-age=31536000, immutable')
  })

  it('leaves paths of the gateway alone', async () => {
    expect((await site.inject('/docs/api')).body).toBe('reference')
  })

  it('sends the compressed copy of a page to a browser that accepts it', async () => {
    const reply = await site.inject({ url: '/docs/errors', headers: { 'accept-encoding': 'br' } })
    expect([reply.headers['content-encoding'], reply.body]).toEqual(['br', 'compressed'])
    expect(reply.headers['content-type']).toBe('text/html; charset=utf-8')
    expect((await site.inject('/docs/errors')).headers['content-encoding']).toBeUndefined()
  })

  it('answers unknown paths with its own page, and serves no parent folder', async () => {
    for (const url of [
      '/docs/none',
      '/docs/errors/none',
      '/docs/../secret',
      '/docs/%2e%2e/secret',
      '/docs/errors.html.br',
    ]) {
      const reply = await site.inject(url)
      expect(reply.statusCode).toBe(404)
    }
    expect((await site.inject('/docs/none')).body).toContain('This is 404.')
  })

  it('has one route for all pages, and one for all codes', () => {
    expect(routes).toBeLessThan(12)
  })

  it('leads the link of an error to the section of its code', async () => {
    const reply = await site.inject('/docs/errors/source_not_allowed')
    expect([reply.statusCode, reply.headers.location]).toEqual([302, '/docs/errors#source_not_allowed'])
  })
})

describe('the documentation that is not built', () => {
  it('names the command that builds it, and explains error codes', async () => {
    const without = await siteOf(join(folder, 'none'))
    for (const url of ['/docs', '/docs/', '/docs/carriers']) {
      const reply = await without.inject(url)
      expect(reply.statusCode).toBe(404)
      expect(reply.body).toContain('<code>scripts/docs</code>')
    }
    expect((await without.inject('/docs/errors/source_not_allowed')).body).toContain('allowlist')
    const none = await without.inject('/docs/errors/none')
    expect([none.statusCode, none.body]).toEqual([404, expect.stringContaining('scripts/docs')])
    await without.close()
  })
})
