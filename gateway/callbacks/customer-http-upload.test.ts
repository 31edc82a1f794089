import { Readable } from 'node:stream'
import { afterEach, describe, expect, it } from 'vitest'
import { closeAll, failureOf, make, serve } from './testing/customer-servers.ts'

afterEach(closeAll)

/** A file of so many bytes, and the streams that were opened of it. */
const file = (bytes = 300_000) => {
  const streams: Readable[] = []
  const open = async () => {
    const stream = Readable.from([Buffer.alloc(bytes, 'a')], { objectMode: false })
    streams.push(stream)
    return { bytes, stream }
  }
  return { streams, open, contentType: 'audio/wav', method: 'PUT' as const }
}

describe('an upload', () => {
  it('is the file with its length and type, unsigned, and with the credentials of its URL', async () => {
    const server = await serve((_request, response) => response.writeHead(201).end())
    const { streams, ...sent } = file()
    const url = `${server.url.replace('//', '//me:pw@')}/a.wav?sig=1#rc=1`
    expect(await make().upload({ url, ...sent })).toBe(201)
    const [seen] = server.seen
    expect([seen?.request.method, seen?.request.url, seen?.body.length]).toEqual([
      'PUT',
      '/a.wav?sig=1',
      300_000,
    ])
    expect(seen?.request.headers).toMatchObject({
      'content-type': 'audio/wav',
      'content-length': '300000',
      authorization: `Basic ${Buffer.from('me:pw').toString('base64')}`,
    })
    expect(Object.keys(seen?.request.headers ?? {}).filter((name) => /signature|webhook/.test(name))).toEqual(
      [],
    )
    expect(streams.map(({ destroyed }) => destroyed)).toEqual([true])
  })

  it('goes where it is redirected to, from its beginning', async () => {
    const server = await serve((request, response) =>
      request.url === '/old'
        ? response.writeHead(307, { location: '/new' }).end()
        : response.writeHead(200).end(),
    )
    const { streams, ...sent } = file()
    expect(await make().upload({ url: `${server.url}/old`, ...sent })).toBe(200)
    expect(server.seen.map(({ request, body }) => [request.url, body.length])).toEqual([
      ['/old', 300_000],
      ['/new', 300_000],
    ])
    expect(streams).toHaveLength(2)
  })

  it('is not sent along with what a redirect makes a GET', async () => {
    const server = await serve((request, response) =>
      request.method === 'PUT'
        ? response.writeHead(303, { location: '/done' }).end()
        : response.writeHead(200).end(),
    )
    const { streams: _, ...sent } = file()
    expect(await make().upload({ url: server.url, ...sent })).toBe(200)
    expect(server.seen[1]).toMatchObject({ body: '', request: { method: 'GET', url: '/done' } })
  })

  it('never goes to an address that is not permitted, and opens nothing for it', async () => {
    const server = await serve((_request, response) => response.end())
    const { streams, ...sent } = file()
    const error = await failureOf(make({ allowedNetworks: [] }).upload({ url: server.url, ...sent }))
    expect([error.facts.reason, server.seen.length, streams.length]).toEqual(['address-refused', 0, 0])
  })

  it('that cannot be read says so, and does not count against its server', async () => {
    const client = make()
    const open = () => Promise.reject(new Error('ENOENT'))
    const { contentType, method } = file()
    for (let times = 0; times < 20; times++) {
      const error = await failureOf(client.upload({ url: 'http://127.0.0.1:9/a', method, contentType, open }))
      expect(error.facts.reason).toBe('file')
    }
    expect(client.openCircuits).toBe(0)
  })

  it('is given up with its file after an abort', async () => {
    const reached = Promise.withResolvers<void>()
    const server = await serve(() => reached.resolve())
    const { streams, ...sent } = file()
    const giveUp = new AbortController()
    const failed = failureOf(make().upload({ url: server.url, ...sent }, giveUp.signal))
    await reached.promise
    giveUp.abort()
    expect((await failed).facts.reason).toBe('given-up')
    expect(streams.map(({ destroyed }) => destroyed)).toEqual([true])
  })
})
