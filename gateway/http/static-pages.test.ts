import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { releaseVersion } from '../core/version.ts'
import { ApiTestSite } from './testing/api-test-site.ts'

let rig: ApiTestSite
let site: FastifyInstance

/** Writes the copies of a file that a build makes. */
const compress = (file: string): void => {
  const content = readFileSync(file)
  writeFileSync(`${file}.br`, brotliCompressSync(content))
  writeFileSync(`${file}.gz`, gzipSync(content))
}

beforeAll(async () => {
  rig = await ApiTestSite.open()
  for (const [name, text] of [
    ['console/index.html', '<!doctype html><title>Trunkline</title>'],
    ['console/worker.js', ''],
    ['console/assets/index.js', ''],
    ['console/assets/index-Bp4z_0aX.js', 'a'.repeat(2_000)],
    ['sdk/index.js', 'export {}'],
    ['sdk/index.d.ts', 'export type A = string'],
    ['sdk/other.js', 'export {}'],
  ] as const) {
    const file = join(rig.folder, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
  compress(join(rig.folder, 'console', 'assets', 'index-Bp4z_0aX.js'))
  site = await rig.servers().site()
})
afterAll(async () => {
  await site.close()
  await rig.close()
})

describe('the SDK', () => {
  it('has an index with the version and the hash of each script', async () => {
    const { version, files } = (await site.inject('/sdk/index.json')).json()
    expect(version).toBe(releaseVersion())
    const hash = createHash('sha384').update('export {}').digest('base64')
    expect(files['index.js']).toEqual({
      path: `/sdk/${version}/index.js`,
      bytes: 9,
      integrity: `sha384-${hash}`,
      types: `/sdk/${version}/index.d.ts`,
    })
    expect(files['other.js']).not.toHaveProperty('types')
  })

  it('has declarations as text, and no video', async () => {
    for (const url of ['/sdk/index.d.ts', `/sdk/${releaseVersion()}/index.d.ts`]) {
      const { statusCode, body, headers } = await site.inject(url)
      expect([statusCode, body]).toEqual([200, 'export type A = string'])
      expect(headers['content-type']).toBe('text/plain; charset=utf-8')
    }
    const unknown = await site.inject('/sdk/unknown.d.ts')
    expect(unknown.statusCode).toBe(404)
    expect(unknown.headers['content-type']).toContain('json')
  })

  it('has files for every origin, which never change below their version', async () => {
    for (const [url, caching] of [
      ['/sdk/index.js', 'no-cache'],
      [`/sdk/${releaseVersion()}/index.js`, 'public, max-age=31536000, immutable'],
    ] as const) {
      const reply = await site.inject({ url, headers: { origin: 'https://shop.example.com' } })
      expect([reply.statusCode, reply.body]).toEqual([200, 'export {}'])
      expect(reply.headers).toMatchObject({
        'cache-control': caching,
        'access-control-allow-origin': '*',
        'cross-origin-resource-policy': 'cross-origin',
      })
    }
    expect((await site.inject('/sdk/9.9.9/index.js')).statusCode).toBe(404)
  })
})

describe('a built file', () => {
  it('arrives compressed at browsers that accept it, and uncompressed at others', async () => {
    const script = `export const text = '${'carrier '.repeat(1_000)}'`
    writeFileSync(join(rig.folder, 'sdk', 'large.js'), script)
    compress(join(rig.folder, 'sdk', 'large.js'))
    for (const [accepted, used] of [
      ['gzip, deflate, br', 'br'],
      ['gzip', 'gzip'],
      ['identity', undefined],
      ['br;q=0, gzip;q=0.5', 'gzip'],
    ] as const) {
      const headers = { 'accept-encoding': accepted }
      const reply = await site.inject({ url: '/sdk/large.js', headers })
      expect(reply.headers).toMatchObject({ vary: 'Origin, accept-encoding', 'cache-control': 'no-cache' })
      expect(reply.headers['content-type']).toMatch(/^(text|application)\/javascript/)
      expect(reply.headers['content-encoding']).toBe(used)
      const decode = { br: brotliDecompressSync, gzip: gunzipSync, identity: (body: Buffer) => body }
      expect(decode[used ?? 'identity'](reply.rawPayload).toString()).toBe(script)
      const { etag } = reply.headers
      const again = await site.inject({
        url: '/sdk/large.js',
        headers: { ...headers, 'if-none-match': String(etag) },
      })
      expect(again.statusCode).toBe(304)
      const head = await site.inject({ method: 'HEAD', url: '/sdk/large.js', headers })
      expect([head.statusCode, head.headers.etag, head.body]).toEqual([200, etag, ''])
    }
    const part = { range: 'bytes=7-11', 'accept-encoding': 'identity' }
    const reply = await site.inject({ url: '/sdk/large.js', headers: part })
    expect([reply.statusCode, reply.body]).toEqual([206, 'const'])
  })

  it('is kept by browsers only if its name changes with its content', async () => {
    for (const [url, caching] of [
      ['/assets/index-Bp4z_0aX.js', 'public, max-age=31536000, immutable'],
      ['/assets/index.js', 'no-cache'],
      ['/', 'no-cache'],
      ['/worker.js', 'no-cache'],
    ] as const) {
      const reply = await site.inject(url)
      expect([url, reply.statusCode, reply.headers['cache-control']]).toEqual([url, 200, caching])
    }
  })

  it('does not exist at a path with empty parts', async () => {
    const reply = await site.inject('/sdk//index.js')
    expect([reply.statusCode, reply.json().errors[0].code]).toEqual([404, 'not_found'])
  })

  it('has no path for its compressed copies', async () => {
    writeFileSync(join(rig.folder, 'sdk', 'index.js.br'), 'copy')
    for (const path of ['/assets/index-Bp4z_0aX.js.gz', '/sdk/index.js.br'])
      expect((await site.inject(path)).statusCode).toBe(404)
    rmSync(join(rig.folder, 'sdk', 'index.js.br'))
  })
})
