import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { closeAll, make, reasonOf, serve } from './testing/customer-servers.ts'

afterEach(closeAll)

const get = (url: string) => ({ url, method: 'GET' as const })

describe('the cache', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2030, 0, 1) })
  })
  afterEach(() => {
    vi.useRealTimers()
  })
  const later = (seconds: number) => vi.setSystemTime(Date.now() + seconds * 1000)

  /** A server of one file; it answers 304 where the request has its validator. */
  const file = async (headers: Record<string, string>) => {
    const made = { body: 'first', headers }
    const server = await serve((request, response) => {
      const { etag, 'last-modified': modified } = made.headers
      const isSame =
        (etag && request.headers['if-none-match'] === etag) ||
        (modified && !etag && request.headers['if-modified-since'] === modified)
      // The server's own clock does not know of the moved one.
      response.sendDate = false
      response.writeHead(isSame ? 304 : 200, made.headers).end(isSame ? undefined : made.body)
    })
    const client = make({ cacheBytes: 100_000 })
    const get = async () => String((await client.bytes(`${server.url}/a.wav`, { maxBytes: 1000 })).bytes)
    return { made, server, client, get }
  }

  it('answers while the answer is fresh, and asks for a changed one afterwards', async () => {
    const { made, server, get } = await file({ 'cache-control': 'max-age=60', etag: '"1"' })
    expect([await get(), await get()]).toEqual(['first', 'first'])
    expect(server.seen).toHaveLength(1)
    later(61)
    expect(await get()).toBe('first')
    expect(server.seen).toHaveLength(2)
    expect(server.seen[1]?.request.headers['if-none-match']).toBe('"1"')
    made.body = 'second'
    made.headers.etag = '"2"'
    later(61)
    expect(await get()).toBe('second')
  })

  it('revalidates by Last-Modified', async () => {
    const modified = 'Mon, 31 Dec 2029 23:00:00 GMT'
    const { server, get } = await file({ 'cache-control': 'max-age=60', 'last-modified': modified })
    await get()
    later(90)
    expect(await get()).toBe('first')
    expect(server.seen.map(({ request }) => request.headers['if-modified-since'])).toEqual([
      undefined,
      modified,
    ])
  })

  it.each(['no-store', 'private, max-age=60'])('keeps nothing of %s', async (control) => {
    const { server, get } = await file({ 'cache-control': control, etag: '"1"' })
    await get()
    await get()
    expect(server.seen.map(({ request }) => request.headers['if-none-match'])).toEqual([undefined, undefined])
  })

  it('asks each time for what says no-cache', async () => {
    const { server, get } = await file({ 'cache-control': 'no-cache', etag: '"1"' })
    expect([await get(), await get()]).toEqual(['first', 'first'])
    expect(server.seen[1]?.request.headers['if-none-match']).toBe('"1"')
  })

  it.each(['max-age=60', 'public, max-age=60', 's-maxage=60', 'must-revalidate, max-age=60'])(
    'neither keeps what was asked for with credentials nor answers it: %s',
    async (control) => {
      const { server, client, get } = await file({ 'cache-control': control })
      const url = `${server.url.replace('//', '//me:pw@')}/a.wav`
      for (let i = 0; i < 2; i++) await client.bytes(url, { maxBytes: 1000 })
      await get()
      await client.bytes(url, { maxBytes: 1000 })
      expect(server.seen.map(({ request }) => Boolean(request.headers.authorization))).toEqual([
        true,
        true,
        false,
        true,
      ])
    },
  )

  it.each([
    ['etag', '"1"', 'if-none-match'],
    ['last-modified', 'Mon, 31 Dec 2018 23:00:00 GMT', 'if-modified-since'],
  ])('asks each time where a server says nothing of freshness, by %s', async (name, value, asked) => {
    const { made, server, get } = await file({ [name]: value })
    expect([await get(), await get()]).toEqual(['first', 'first'])
    expect(server.seen.map(({ request }) => request.headers[asked])).toEqual([undefined, value])
    made.body = 'second'
    made.headers[name] = name === 'etag' ? '"2"' : 'Mon, 31 Dec 2029 23:00:00 GMT'
    expect(await get()).toBe('second')
  })

  it('fetches nothing behind the back of who asks', async () => {
    const { made, get, server } = await file({
      'cache-control': 'max-age=60, stale-while-revalidate=6000',
      etag: '"1"',
    })
    await get()
    made.body = 'second'
    made.headers.etag = '"2"'
    later(61)
    expect(await get()).toBe('second')
    expect(server.seen).toHaveLength(2)
  })

  it('outlives a reload that changes neither its size nor the networks', async () => {
    const { server, client, get } = await file({ 'cache-control': 'max-age=60' })
    const settings = { allowedNetworks: ['127.0.0.0/8'], cacheBytes: 100_000 }
    client.change({ ...settings, timeoutMs: 5_000 })
    await get()
    client.change({ ...settings, timeoutMs: 6_000 })
    expect(await get()).toBe('first')
    expect(server.seen).toHaveLength(1)
    client.change({ ...settings, timeoutMs: 6_000, cacheBytes: 200_000 })
    await get()
    expect(server.seen).toHaveLength(2)
  })

  it('is not asked for documents, and keeps no more than it may', async () => {
    const { server, client } = await file({ 'cache-control': 'max-age=60' })
    for (let i = 0; i < 2; i++) await client.document(get(`${server.url}/a.wav`), 'p')
    expect(server.seen).toHaveLength(2)
    const small = make({ cacheBytes: 3 })
    for (let i = 0; i < 2; i++) await small.bytes(`${server.url}/a.wav`, { maxBytes: 1000 })
    expect(server.seen).toHaveLength(4)
  })

  it('holds the limits of each request for what it has kept', async () => {
    const { client, server } = await file({ 'cache-control': 'max-age=60' })
    await client.bytes(`${server.url}/a.wav`, { maxBytes: 1000 })
    expect(await reasonOf(client.bytes(`${server.url}/a.wav`, { maxBytes: 4 }))).toBe('too-large')
  })
})
