import { brotliDecompressSync } from 'node:zlib'
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

  it('sends its script compressed, and plain to clients without Brotli', async () => {
    const small = await get('/docs/api/reference.js', { 'accept-encoding': 'gzip, br' })
    expect([small.statusCode, small.headers['content-encoding']]).toEqual([200, 'br'])
    const plain = await get('/docs/api/reference.js')
    expect(plain.headers['content-encoding']).toBeUndefined()
    expect(brotliDecompressSync(small.rawPayload).equals(plain.rawPayload)).toBe(true)
    expect(plain.body).toContain('createApiReference')
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

  it('sends the document compressed', async () => {
    const reply = await get('/openapi.json', { 'accept-encoding': 'br' })
    expect(reply.headers['content-encoding']).toBe('br')
    const document = JSON.parse(String(brotliDecompressSync(reply.rawPayload)))
    expect(document).toEqual((await get('/openapi.json')).json())
  })
})
