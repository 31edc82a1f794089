import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ApiTestSite } from '../testing/api-test-site.ts'

let rig: ApiTestSite

beforeAll(async () => {
  rig = await ApiTestSite.open()
})
afterAll(() => rig.close())

const get = (url: string, headers: Readonly<Record<string, string>> = {}) => rig.site.inject({ url, headers })

describe('the API reference', () => {
  it.each(['/docs/api', '/docs/api/'])(
    'has at %s a page that loads only scripts of the gateway',
    async (url) => {
      const { statusCode, headers } = await get(url)
      expect([statusCode, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
      expect(headers['content-security-policy']).toContain("default-src 'none'; script-src 'self';")
      expect(headers['content-security-policy']).toContain("connect-src 'self';")
    },
  )

  it.each([
    ['/docs/api/reference.js', 'createApiReference'],
    ['/openapi.json', '"openapi":"3.1.0"'],
  ])(
    'sends %s once to a browser that keeps it, and compressed in the coding that it accepts',
    async (url, part) => {
      const { headers, body } = await get(url)
      expect(headers['content-encoding']).toBeUndefined()
      expect(body).toContain(part)
      for (const [accepted, used] of [
        ['gzip, deflate', 'gzip'],
        ['br;q=1.0', 'br'],
        ['br;q=0, identity', undefined],
      ] as const) {
        const reply = await get(url, { 'accept-encoding': accepted })
        expect([reply.headers['content-encoding'], reply.headers.etag]).toEqual([used, headers.etag])
        const decode = { br: brotliDecompressSync, gzip: gunzipSync, identity: (plain: Buffer) => plain }
        expect(String(decode[used ?? 'identity'](reply.rawPayload)) === body).toBe(true)
      }
      const again = await get(url, { 'if-none-match': `"other", ${headers.etag}` })
      expect([again.statusCode, again.body]).toEqual([304, ''])
      expect(again.headers['cache-control']).toBe('no-cache')
    },
  )

  it('shows the document of this gateway, without telemetry and without services of others', async () => {
    const { body } = await get('/docs/api/start.js')
    const [, settings = ''] = /^Scalar\.createApiReference\('#app', (.*)\)\n$/.exec(body) ?? []
    expect(JSON.parse(settings)).toMatchObject({
      url: '/openapi.json',
      telemetry: false,
      withDefaultFonts: false,
      hideClientButton: true,
      agent: { disabled: true },
      mcp: { disabled: true },
    })
  })
})
