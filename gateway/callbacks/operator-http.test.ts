import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { FakeClock } from '../core/clock.ts'
import { OperatorHttp } from './operator-http.ts'

const servers: Server[] = []
const clients: OperatorHttp[] = []

afterEach(async () => {
  for (const client of clients.splice(0)) await client.close()
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
})

const serve = async (answer: RequestListener) => {
  const server = createServer(answer)
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/audio/speech`
}
const make = () => {
  const clock = new FakeClock()
  const client = new OperatorHttp(clock, 'Trunkline')
  clients.push(client)
  return { clock, client }
}
const limits = { timeoutMs: 5000, maxBytes: 1000 }
const post = (url: string) => ({
  method: 'POST' as const,
  url,
  headers: { authorization: 'Bearer k3y', 'content-type': 'application/json' },
  body: '{"input":"hi"}',
})

it('sends the request as it is, and gives status and bytes', async () => {
  const seen: string[] = []
  const url = await serve(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    seen.push(
      request.method ?? '',
      request.headers.authorization ?? '',
      request.headers['user-agent'] ?? '',
      body,
    )
    response.writeHead(201).end(Buffer.from([1, 2, 3]))
  })
  const { client, clock } = make()
  const { status, bytes } = await client.send(post(url), limits)
  expect([status, [...bytes], clock.running]).toEqual([201, [1, 2, 3], 0])
  expect(seen).toEqual(['POST', 'Bearer k3y', 'Trunkline', '{"input":"hi"}'])
})

it('follows no redirect', async () => {
  let asked = 0
  const url = await serve((_request, response) => {
    asked++
    response.writeHead(302, { location: '/elsewhere' }).end()
  })
  expect((await make().client.send(post(url), limits)).status).toBe(302)
  expect(asked).toBe(1)
})

it('ends what is late, too large, given up or refused, and says nothing of the key', async () => {
  const { client, clock } = make()
  const slow = await serve(() => clock.advance(5000))
  const large = await serve((_request, response) => response.end(Buffer.alloc(1001)))
  const controller = new AbortController()
  const given = await serve(() => controller.abort())
  const messages = await Promise.all(
    [
      client.send(post(large), limits),
      client.send(post(given), { ...limits, signal: controller.signal }),
      client.send(post('http://127.0.0.1:1/k3y'), limits),
    ].map((sent) => sent.then(String, (error: Error) => error.message)),
  )
  expect(messages).toEqual([
    'the answer is larger than 1000 bytes',
    'the request was aborted',
    'the connection failed: ECONNREFUSED',
  ])
  await expect(client.send(post(slow), limits)).rejects.toThrow('it took longer than 5000 ms')
  expect(clock.running).toBe(0)
})
