import { afterEach, describe, expect, it } from 'vitest'
import { closeAll, failureOf, make, serve } from './testing/customer-servers.ts'

afterEach(closeAll)

describe('a download', () => {
  it('passes the file in parts', async () => {
    const server = await serve((_request, response) => response.end(Buffer.alloc(300_000, 'a')))
    const lengths: number[] = []
    await make().download(`${server.url}/film.mp4`, { maxBytes: 300_000 }, async ({ length }) =>
      lengths.push(length),
    )
    expect(lengths.length).toBeGreaterThan(1)
    expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(300_000)
  })

  it('fails above its maximum size, announced or not, and for another status', async () => {
    const server = await serve((request, response) => {
      if (request.url === '/announced') response.writeHead(200, { 'content-length': 2000 })
      if (request.url === '/missing') response.writeHead(404)
      response.write(Buffer.alloc(1000))
      response.end(Buffer.alloc(1000))
    })
    const reasonOf = async (path: string) => {
      const work = make().download(server.url + path, { maxBytes: 1500 }, async () => {})
      return (await failureOf(work)).facts.reason
    }
    expect(await reasonOf('/announced')).toBe('too-large')
    expect(await reasonOf('/chunked')).toBe('too-large')
    expect(await reasonOf('/missing')).toBe('status')
  })

  it('fails with the error of its receiver', async () => {
    const server = await serve((_request, response) => response.end('film'))
    const full = async () => {
      throw new Error('disk full')
    }
    await expect(make().download(server.url, { maxBytes: 10 }, full)).rejects.toThrow('disk full')
  })
})
