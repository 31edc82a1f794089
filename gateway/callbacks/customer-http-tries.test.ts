import type { RequestListener } from 'node:http'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { freePort } from '../../media/testing/free-ports.ts'
import { FakeClock } from '../core/clock.ts'
import { Signer } from './signatures.ts'
import { closeAll, failureOf, make, reasonOf, serve, servers } from './testing/customer-servers.ts'

afterEach(closeAll)

const form = { contentType: 'application/x-www-form-urlencoded', text: 'a=1' }
const post = (url: string) => ({ url, method: 'POST' as const, body: form })

/** Breaks the first connections, and answers the others. */
const breaking = (times: number): RequestListener => {
  let left = times
  return (request, response) => {
    if (left-- > 0) request.socket.destroy()
    else response.end('there')
  }
}

describe('a request that its server may have acted on', () => {
  it('is not sent again', async () => {
    const server = await serve(breaking(1))
    expect(await reasonOf(make().document(post(server.url), 'p'))).toBe('connect')
    expect(server.seen).toHaveLength(1)
  })

  it('is sent again where that does no harm', async () => {
    const server = await serve(breaking(1))
    expect(await make().document({ url: server.url, method: 'GET' }, 'p')).toMatchObject({ text: 'there' })
  })

  it('is sent again where its URL says so, and as often', async () => {
    const server = await serve(breaking(2))
    const document = await make().document(post(`${server.url}/a#rc=2&rp=rt`), 'p')
    expect(document.text).toBe('there')
    expect(server.seen.map(({ body }) => body)).toEqual(['a=1', 'a=1', 'a=1'])
  })

  it('is sent again after a status that its URL names', async () => {
    let left = 1
    const server = await serve((_request, response) => response.writeHead(left-- > 0 ? 503 : 200).end('x'))
    expect(await reasonOf(make().document(post(`${server.url}#rc=1&rp=4xx`), 'p'))).toBe('status')
    left = 1
    expect((await make().document(post(`${server.url}#rc=1&rp=5xx`), 'p')).text).toBe('x')
  })
})

it('a server that says nothing for as long as its URL allows is given up', async () => {
  const server = await serve(() => {})
  expect(await reasonOf(make().document(post(`${server.url}#rt=100`), 'p'))).toBe('silent')
})

it('a server has the time of the request, which may be longer than usual, unless its URL has its own', async () => {
  const answers: (() => void)[] = []
  const server = await serve((_request, response) => void answers.push(() => response.end('late')))
  const clock = new FakeClock()
  const client = make({ clock })
  const asked = (fragment = '') =>
    client.document({ ...post(`${server.url}${fragment}`), timeoutMs: 20_000 }, 'p')
  const slow = asked()
  await vi.waitFor(() => expect(answers).toHaveLength(1))
  clock.advance(19_999)
  answers[0]?.()
  expect((await slow).text).toBe('late')
  const over = reasonOf(asked())
  await vi.waitFor(() => expect(answers).toHaveLength(2))
  clock.advance(20_000)
  expect(await over).toBe('timeout')
  const short = reasonOf(asked('#tt=1000'))
  await vi.waitFor(() => expect(answers).toHaveLength(3))
  clock.advance(1000)
  expect(await short).toBe('timeout')
})

it('a server that cannot be reached is left alone after five failures, until a moment later', async () => {
  const clock = new FakeClock()
  const client = make({ clock })
  const url = `http://127.0.0.1:${await freePort()}/`
  for (let i = 0; i < 5; i++)
    expect((await failureOf(client.document(post(`${url}#rc=0`), 'p'))).facts).toMatchObject({
      reason: 'connect',
      sent: false,
    })
  expect(client.openCircuits).toBe(1)
  const paused = await failureOf(client.document(post(url), 'p'))
  expect(paused.facts.reason).toBe('circuit-open')
  expect(paused.message).toMatch(/Its server failed lately, and is contacted again within 10 s\.$/)
  clock.advance(10_000)
  expect(await reasonOf(client.document(post(url), 'p'))).toBe('connect')
})

it('a path that says nothing is left alone, and others of its server are not', async () => {
  const server = await serve((request, response) => void (request.url === '/live' && response.end('there')))
  const clock = new FakeClock()
  const client = make({ clock })
  for (let i = 0; i < 5; i++) {
    const silent = reasonOf(client.document(post(`${server.url}/dead?try=${i}`), 'p'))
    await vi.waitFor(() => expect(server.seen).toHaveLength(i + 1))
    clock.advance(5_000)
    expect(await silent).toBe('timeout')
  }
  expect(await reasonOf(client.document(post(`${server.url}/dead`), 'p'))).toBe('circuit-open')
  expect((await client.document(post(`${server.url}/live`), 'p')).text).toBe('there')
  expect(await reasonOf(client.document(post(`${server.url}/dead`), 'p'))).toBe('circuit-open')
})

describe('what a document asks for itself', () => {
  it('has each header once, however its name is written', async () => {
    const server = await serve((_request, response) => response.end())
    const headers = { Accept: 'application/json', 'Accept-Encoding': 'gzip', AUTHORIZATION: 'Bearer t' }
    const withUser = server.url.replace('//', '//me:pw@')
    await make().request({ url: withUser, method: 'GET', headers })
    const { rawHeaders } = server.seen[0]!.request
    const sent = rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase())
    expect(sent).toEqual([...new Set(sent)])
    expect(server.seen[0]!.request.headers).toMatchObject({
      accept: 'application/json',
      'accept-encoding': 'identity',
      authorization: `Basic ${Buffer.from('me:pw').toString('base64')}`,
    })
  })

  it.each<Record<string, string>>([{ 'x-price': '5 €' }, { 'x-two': 'a\r\nb: c' }, { 'x y': 'z' }])(
    'is refused with headers that cannot be sent, which says nothing of the server: %j',
    async (headers) => {
      const server = await serve((_request, response) => response.end('there'))
      const client = make()
      for (let i = 0; i < 5; i++)
        expect(await reasonOf(client.request({ url: server.url, method: 'GET', headers }))).toBe('request')
      expect((await client.request({ url: server.url, method: 'GET' })).text).toBe('there')
    },
  )

  it('comes back whatever its status is, with headers and the beginning of its body', async () => {
    const server = await serve((_request, response) =>
      response.writeHead(404, { 'X-Found': 'no' }).end('é'.repeat(40_000)),
    )
    const headers = { Authorization: 'Bearer t', Host: 'evil', 'Content-Length': '1' }
    const answer = await make().request({ url: server.url, method: 'PUT', headers, body: form })
    expect(answer).toMatchObject({ status: 404, headers: { 'x-found': 'no' } })
    expect(Buffer.from(answer.text).length).toBe(65_536)
    expect(server.seen[0]?.request.headers).toMatchObject({
      authorization: 'Bearer t',
      host: `127.0.0.1:${server.port}`,
    })
    expect(server.seen[0]).toMatchObject({ body: 'a=1', request: { method: 'PUT' } })
  })

  it('is not signed, and takes its secrets to no other server', async () => {
    const other = await serve((_request, response) => response.end('other'))
    const server = await serve((_request, response) => response.writeHead(307, { location: other.url }).end())
    const client = make({ signer: () => new Signer(['key']) })
    await client.request({
      url: server.url,
      method: 'POST',
      headers: { authorization: 'x', 'x-api-key': 'y' },
    })
    expect(server.seen[0]?.request.headers).toMatchObject({ 'x-api-key': 'y' })
    expect(server.seen[0]?.request.headers['webhook-id']).toBeUndefined()
    expect(Object.keys(other.seen[0]?.request.headers ?? {})).not.toContain('x-api-key')
    expect(other.seen[0]?.request.headers.authorization).toBeUndefined()
  })

  it('ends after an abort, and after its own time', async () => {
    const server = await serve(() => {})
    const controller = new AbortController()
    const asked = make().request({ url: server.url, method: 'GET' }, controller.signal)
    controller.abort()
    expect(await reasonOf(asked)).toBe('given-up')
    const clock = new FakeClock()
    const waiting = reasonOf(make({ clock }).request({ url: server.url, method: 'GET', timeoutMs: 700 }))
    clock.advance(700)
    expect(await waiting).toBe('timeout')
  })
})

it('a document is given up after an abort', async () => {
  const server = await serve(() => {})
  const controller = new AbortController()
  const asked = make().document({ url: server.url, method: 'GET' }, 'p', controller.signal)
  controller.abort()
  expect(await reasonOf(asked)).toBe('given-up')
})

describe('a callback', () => {
  it('is signed with the id of the event, and its answer is its status', async () => {
    const server = await serve((_request, response) => response.writeHead(410).end())
    const client = make({ signer: (project) => new Signer([`key of ${project}`]) })
    expect(await client.deliver(post(`${server.url}/cb?x=1#rt=900`), { projectId: 'p', id: 'e-1' })).toBe(410)
    const { headers } = server.seen[0]!.request
    const expected = new Signer(['key of p']).headers({
      url: `${server.url}/cb?x=1`,
      body: form,
      id: 'e-1',
      at: new FakeClock().now(),
    })
    expect(headers).toMatchObject(expected)
  })

  it('takes no connection of its own, also where the answer comes in pieces', async () => {
    const server = await serve((_request, response) => {
      response.writeHead(200).write('o', () => setTimeout(() => response.end('k'), 1))
    })
    let connections = 0
    servers.at(-1)!.on('connection', () => connections++)
    const client = make()
    for (let i = 0; i < 10; i++) await client.deliver(post(server.url), { projectId: 'p', id: `e-${i}` })
    expect(server.seen).toHaveLength(10)
    expect(connections).toBeLessThan(5)
  })

  it('is taken where the answer has a status, and no end', async () => {
    const server = await serve(
      (_request, response) => void response.writeHead(200).write('x'.repeat(100_000)),
    )
    expect(await make().deliver(post(server.url), { projectId: 'p', id: 'e' })).toBe(200)
  })

  it('takes user and password along where a redirect names its own server in full', async () => {
    const server = await serve((request, response) =>
      request.url === '/end'
        ? response.end('ok')
        : response.writeHead(307, { location: `http://${request.headers.host}/end` }).end(),
    )
    await make().deliver(post(server.url.replace('//', '//me:pw@')), { projectId: 'p', id: 'e' })
    const [start, end] = server.seen.map(({ request }) => request.headers.authorization)
    expect([start !== undefined, end]).toEqual([true, start])
  })

  it('is signed anew where a redirect leads', async () => {
    const server = await serve((request, response) =>
      request.url === '/end' ? response.end('ok') : response.writeHead(302, { location: '/end' }).end(),
    )
    const client = make({ signer: () => new Signer(['key']) })
    await client.document(post(`${server.url}/start`), 'p')
    const [start, end] = server.seen.map(({ request }) => request.headers['x-signalwire-signature'])
    expect(end).toBeDefined()
    expect(end).not.toBe(start)
  })
})
