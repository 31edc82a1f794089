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

  it('sends its script with gzip to browsers without Brotli, and once to a browser that keeps it', async () => {
    const url = '/docs/api/reference.js'
    const { headers, rawPayload } = await get(url, { 'accept-encoding': 'gzip, deflate' })
    expect(headers).toMatchObject({ 'content-encoding': 'gzip', 'cache-control': 'no-cache' })
    expect(String(gunzipSync(rawPayload))).toContain('createApiReference')
    const again = await get(url, { 'if-none-match': `"other", ${headers.etag}` })
    expect([again.statusCode, again.body]).toEqual([304, ''])
    // A thread prepares the script, and waits for a busy machine.
  })

  it('sends the document in the coding that the client accepts', async () => {
    const document = (await get('/openapi.json')).body
    const decode = { br: brotliDecompressSync, gzip: gunzipSync, identity: (plain: Buffer) => plain }
    for (const [accepted, used] of [
      ['gzip, deflate', 'gzip'],
      ['gzip, deflate, br', 'br'],
      ['br;q=1.0', 'br'],
      ['br;q=0, identity', undefined],
    ] as const) {
      const { headers, rawPayload } = await get('/openapi.json', { 'accept-encoding': accepted })
      expect([accepted, headers['content-encoding']]).toEqual([accepted, used])
      expect(String(decode[used ?? 'identity'](rawPayload)) === document).toBe(true)
    }
  })

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
