import { once } from 'node:events'
import { connect } from 'node:net'
import pino from 'pino'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { FakeClock } from '../core/clock.ts'
import { Metrics } from '../core/metrics.ts'
import { Origins } from '../core/web/origins.ts'
import { TrustedProxies } from '../core/web/trusted-proxies.ts'
import { parseFrame, RpcError, rpcCodes } from './frames.ts'
import { RpcServer, type RpcServerSettings } from './rpc-server.ts'
import type { Reply, RpcHandler, RpcSession } from './rpc-session.ts'
import { listeningServer, TestBrowser } from './testing/test-browser.ts'

let lines: string[]
const log = pino({ level: 'warn' }, { write: (line: string) => lines.push(line) })
let clock: FakeClock
let rpc: RpcServer
let http: Awaited<ReturnType<typeof listeningServer>>
let sessions: RpcSession[]
let closed: number
let metrics: Metrics

const vocabulary: Record<string, (params: Readonly<Record<string, unknown>>) => Reply | Promise<Reply>> = {
  echo: (params) => ({ result: params }),
  refuse: () => {
    throw new RpcError(rpcCodes.params, 'x: expected y')
  },
  crash: () => {
    throw new Error('a secret')
  },
  stumble: () => ({
    result: {},
    after: () => {
      throw new Error('too late to be an answer')
    },
  }),
  hang: () => new Promise(() => {}),
  event: () => ({ result: 'first', after: () => void sessions[0]?.request('second', {}).catch(() => {}) }),
}

const handler: RpcHandler = {
  methods: new Set(Object.keys(vocabulary)),
  handle: (method, params) => {
    const answer = vocabulary[method]
    if (!answer) throw new RpcError(rpcCodes.method)
    return answer(params)
  },
  closed: () => {
    closed++
  },
}

const start = async (
  origins: string[] = [],
  settings: Partial<RpcServerSettings> = {},
  trustedProxies: string[] = [],
): Promise<void> => {
  http = await listeningServer()
  const open = (session: RpcSession) => {
    sessions.push(session)
    return handler
  }
  const proxies = new TrustedProxies(trustedProxies)
  rpc = new RpcServer(
    { clock, log, metrics, origins: new Origins(origins), proxies, open },
    {
      maxFrame: 2000,
      sockets: { connections: 3 },
      limits: { maxPending: 4, maxMalformed: 3, maxBuffered: 100_000 },
      ...settings,
    },
  )
  rpc.attach(http.server)
}

beforeEach(async () => {
  clock = new FakeClock()
  metrics = new Metrics()
  sessions = []
  lines = []
  closed = 0
  await start()
})
afterEach(async () => {
  rpc.close()
  await http.close()
})

const rejected = async (code: string): Promise<number | undefined> => {
  const { values } = await metrics.rejections.get()
  return values.find(({ labels }) => labels.code === code)?.value
}

const refusedWith = async (
  path: string,
  headers: Record<string, string> = {},
): Promise<number | undefined> => {
  const socket = new WebSocket(`ws://127.0.0.1:${http.port}${path}`, { headers })
  const [, reply] = await once(socket, 'unexpected-response')
  reply.resume()
  return reply.statusCode
}

describe('a session', () => {
  it('answers requests with results and errors', async () => {
    const browser = await TestBrowser.open(http.port)
    expect(await browser.send('echo', { a: 1 })).toEqual({ jsonrpc: '2.0', id: 't1', result: { a: 1 } })
    expect((await browser.send('none', {})).error).toEqual(rpcCodes.method)
    expect((await browser.send('refuse', {})).error).toEqual({
      code: -32602,
      message: 'Invalid params: x: expected y',
    })
    expect((await browser.send('crash', {})).error).toEqual(rpcCodes.internal)
    expect(await metrics.text()).toContain('trunkline_rpc_requests_total{method="unknown",outcome="error"} 1')
  })

  it('sends the events of an answer after the answer', async () => {
    const browser = await TestBrowser.open(http.port)
    await browser.send('event', {})
    await browser.settled()
    expect(browser.requests.map((r) => r.method)).toEqual(['second'])
  })

  it('answers once, even if work after the answer fails', async () => {
    const browser = await TestBrowser.open(http.port)
    expect((await browser.send('stumble', {})).result).toEqual({})
    await browser.settled()
    expect(browser.frames).toEqual([])
  })

  it('receives the responses to its own requests, which time out after ten seconds', async () => {
    const browser = await TestBrowser.open(http.port)
    await expect(sessions[0]!.request('hello', {})).resolves.toEqual({})
    browser.acknowledges = false
    const late = sessions[0]!.request('hello', {})
    clock.advance(10_000)
    await expect(late).rejects.toThrow('hello was not answered in time.')
    const refused = sessions[0]!.request('bye', {})
    const { id } = await browser.frame((f) => f.method === 'bye')
    browser.raw(JSON.stringify({ jsonrpc: '2.0', id, error: { code: 5, message: 'no' } }))
    await expect(refused).rejects.toThrow('error 5')
    expect(sessions[0]!.waiting).toBe(0)
  })

  it('answers malformed frames and closes after too many', async () => {
    const browser = await TestBrowser.open(http.port)
    browser.raw('{"jsonrpc":')
    expect(await browser.frame((f) => f.id === null)).toMatchObject({ error: rpcCodes.parse })
    browser.raw('[]')
    expect(await browser.frame((f) => f.id === null)).toMatchObject({ error: rpcCodes.request })
    expect((await browser.send('echo', {})).result).toEqual({})
    browser.raw(Buffer.from([1, 2, 3]))
    expect(await browser.closed).toBe(1008)
    expect(closed).toBe(1)
  })

  it('closes the connection after a frame that is too long', async () => {
    const browser = await TestBrowser.open(http.port)
    browser.raw(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'echo', params: { a: 'x'.repeat(3000) } }))
    expect(await browser.closed).toBe(1009)
    await vi.waitFor(() => expect(rpc.sockets).toBe(0))
  })

  it('rejects requests over the concurrency limit', async () => {
    const browser = await TestBrowser.open(http.port)
    for (let i = 0; i < 4; i++) void browser.send('hang', {})
    expect((await browser.send('echo', {})).error).toEqual(rpcCodes.busy)
  })

  it('closes a connection that does not answer a ping', async () => {
    const browser = await TestBrowser.open(http.port)
    clock.advance(25_000)
    await browser.settled()
    // Its pong arrives before the response to this request.
    await browser.send('echo', {})
    clock.advance(25_000)
    expect(sessions[0]!.isClosed).toBe(false)
    clock.advance(25_000)
    expect(await browser.closed).toBe(1006)
    expect(closed).toBe(1)
  })

  it('closes a connection that does not read', async () => {
    const browser = await TestBrowser.open(http.port)
    browser.socket.pause()
    const big = 'x'.repeat(50_000)
    for (let i = 0; i < 2000 && !sessions[0]!.isClosed; i++)
      void sessions[0]!.request('big', big).catch(() => {})
    expect(sessions[0]!.isClosed).toBe(true)
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { code: 'slow_client', limit: 100_000, network: '127.0.0.1' },
    ])
    expect(await rejected('slow_client')).toBe(1)
    browser.socket.resume()
    expect(await browser.closed).toBe(1013)
  })

  it('closes a connection that does not even read the close frame', async () => {
    const browser = await TestBrowser.open(http.port)
    browser.socket.pause()
    const big = 'x'.repeat(50_000)
    for (let i = 0; i < 2000 && !sessions[0]!.isClosed; i++) sessions[0]!.post('big', big)
    clock.advance(1000)
    await vi.waitFor(() => expect(rpc.sockets).toBe(0))
    browser.socket.resume()
    await browser.closed
  })

  it('rejects requests over the rate limit, logs that once a second, and closes the connection in a flood', async () => {
    rpc.close()
    await http.close()
    await start([], { limits: { requestsPerSecond: 5 } })
    const browser = await TestBrowser.open(http.port)
    const ask = async () => ((await browser.send('echo', {})).error as { code?: number } | undefined)?.code
    const second = async () => Promise.all(Array.from({ length: 7 }, ask))
    expect((await second()).filter((code) => code === rpcCodes.busy.code)).toHaveLength(2)
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ code: 'too_many_requests', limit: 5 }])
    clock.advance(1000)
    expect((await second()).filter((code) => code === rpcCodes.busy.code)).toHaveLength(2)
    expect(await rejected('too_many_requests')).toBe(2)
    // Unexpected responses count like requests.
    for (let i = 0; i < 44; i++) browser.raw(JSON.stringify({ jsonrpc: '2.0', id: i, result: {} }))
    expect(await browser.closed).toBe(1008)
  })

  it('applies the rate limit of the sign-in', async () => {
    rpc.close()
    await http.close()
    await start([], { limits: { requestsPerSecond: 5 } })
    const browser = await TestBrowser.open(http.port)
    sessions[0]!.signedIn(50)
    for (let i = 0; i < 50; i++) expect((await browser.send('echo', {})).error).toBeUndefined()
    expect((await browser.send('echo', {})).error).toEqual(rpcCodes.busy)
  })

  it('distinguishes a live connection from a dead one', async () => {
    const browser = await TestBrowser.open(http.port)
    expect(await sessions[0]!.probe(1000)).toBe(true)
    browser.socket.pause()
    const silent = sessions[0]!.probe(1000)
    clock.advance(1000)
    expect(await silent).toBe(false)
    sessions[0]!.close(1001, 'done')
    expect(await sessions[0]!.probe(1000)).toBe(false)
    browser.socket.resume()
    await browser.closed
  })

  it('leaves no timer behind', async () => {
    const browser = await TestBrowser.open(http.port)
    const pending = sessions[0]!.request('hello', {}).catch(() => 'gone')
    await browser.close()
    await pending
    await browser.closed
    expect(closed).toBe(1)
    expect(clock.running).toBe(0)
  })
})

describe('the server', () => {
  it('opens WebSockets on its paths only, up to its limit', async () => {
    const browsers = [await TestBrowser.open(http.port), await TestBrowser.open(http.port, '/ws?x=1')]
    expect(await refusedWith('/other')).toBe(404)
    browsers.push(await TestBrowser.open(http.port))
    expect(rpc.sockets).toBe(3)
    expect(await refusedWith('/')).toBe(503)
    rpc.close()
    expect(await Promise.all(browsers.map((b) => b.closed))).toEqual([1001, 1001, 1001])
    await vi.waitFor(() => expect(rpc.sockets).toBe(0))
  })

  it('limits the connections of a network, logs rejections, and forgets networks without connections', async () => {
    rpc.close()
    await http.close()
    await start([], { sockets: { perAddress: 2 } })
    const first = await TestBrowser.open(http.port)
    const second = await TestBrowser.open(http.port)
    expect(await refusedWith('/')).toBe(503)
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { code: 'over_connection_limit', reached: 'perAddress', limit: 2, network: '127.0.0.1', path: '/' },
    ])
    const neighbour = await TestBrowser.open(http.port, '/', {}, '127.0.0.2')
    expect(rpc.networks).toBe(2)
    await first.close()
    await vi.waitFor(() => expect(rpc.sockets).toBe(2))
    const again = await TestBrowser.open(http.port)
    await Promise.all([second, neighbour, again].map((browser) => browser.close()))
    await vi.waitFor(() => expect(rpc.networks).toBe(0))
  })

  it('limits unauthenticated connections, per network and in total', async () => {
    rpc.close()
    await http.close()
    await start([], { sockets: { waiting: 2, waitingPerAddress: 1 } })
    const first = await TestBrowser.open(http.port)
    expect(await refusedWith('/')).toBe(503)
    sessions[0]!.signedIn()
    sessions[0]!.signedIn()
    expect(rpc.waiting).toBe(0)
    const second = await TestBrowser.open(http.port)
    const neighbour = await TestBrowser.open(http.port, '/', {}, '127.0.0.2')
    const { port } = http
    await expect(TestBrowser.open(port, '/', {}, '127.0.0.2')).rejects.toThrow('503')
    const newcomer = await TestBrowser.open(port, '/', {}, '127.0.0.3')
    expect(lines.map((line) => JSON.parse(line).reached)).toEqual(['waitingPerAddress', 'waiting'])
    expect(await rejected('over_connection_limit')).toBe(2)
    await Promise.all([first, second, neighbour, newcomer].map((browser) => browser.close()))
    await vi.waitFor(() => expect([rpc.waiting, rpc.networks]).toEqual([0, 0]))
  })

  it('limits the connections of a network per minute', async () => {
    rpc.close()
    await http.close()
    await start([], { sockets: { perAddressMinute: 2 } })
    for (let i = 0; i < 2; i++) await (await TestBrowser.open(http.port)).close()
    expect(await refusedWith('/')).toBe(429)
    expect(await rejected('too_many_requests')).toBe(1)
    await (await TestBrowser.open(http.port, '/', {}, '127.0.0.2')).close()
    clock.advance(60_000)
    await (await TestBrowser.open(http.port)).close()
  })

  it('limits the bytes of unauthenticated clients, in one frame or in many', async () => {
    rpc.close()
    await http.close()
    await start([], { maxBeforeSignIn: 1000, maxFrame: 20_000 })
    const long = (length: number) =>
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'echo', params: { a: 'x'.repeat(length) } })
    const one = await TestBrowser.open(http.port)
    one.raw(long(1500))
    expect(await one.closed).toBe(1009)
    const other = await TestBrowser.open(http.port)
    for (let i = 0; i < 4; i++) other.raw(long(300))
    expect(await other.closed).toBe(1009)
    const known = await TestBrowser.open(http.port)
    sessions[2]!.signedIn()
    known.raw(long(15_000))
    expect(await known.frame((frame) => frame.id === 1)).toMatchObject({ result: { a: 'x'.repeat(15_000) } })
    await known.close()
  })

  it('counts clients behind a trusted proxy by their own address, and trusts no other header', async () => {
    rpc.close()
    await http.close()
    await start([], { sockets: { perAddress: 1 } }, ['127.0.0.1', '198.51.100.0/24'])
    const by = (addresses: string) => ({ 'x-forwarded-for': addresses })
    const one = await TestBrowser.open(http.port, '/', by('203.0.113.9, 192.0.2.1, 198.51.100.7'))
    const other = await TestBrowser.open(http.port, '/', by('203.0.113.9, 192.0.2.2'))
    expect(await refusedWith('/', by('203.0.113.10, 192.0.2.1'))).toBe(503)
    const direct = await TestBrowser.open(http.port, '/', by('192.0.2.1'), '127.0.0.2')
    expect(rpc.networks).toBe(3)
    await Promise.all([one, other, direct].map((browser) => browser.close()))
  })

  it('destroys the sockets of rejected clients', async () => {
    const socket = connect({ port: http.port, host: '127.0.0.1', allowHalfOpen: true })
    const ended = once(socket, 'end')
    socket.resume()
    socket.write('GET /other HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
    await ended
    const open = () => new Promise((resolve) => http.server.getConnections((_error, count) => resolve(count)))
    await vi.waitFor(async () => expect(await open()).toBe(0))
    socket.destroy()
  })

  it('rejects pages of other origins if a list is configured', async () => {
    rpc.close()
    await http.close()
    await start(['https://app.example.test'])
    expect(await refusedWith('/', { origin: 'https://evil.test' })).toBe(403)
    expect(await rejected('origin_refused')).toBe(1)
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { code: 'origin_refused', origin: 'https://evil.test', source: '127.0.0.1' },
    ])
    await (await TestBrowser.open(http.port, '/', { origin: 'https://app.example.test' })).close()
    await (await TestBrowser.open(http.port, '/', { origin: `http://127.0.0.1:${http.port}` })).close()
  })
})

describe('frames', () => {
  it('are classified', () => {
    const kind = (frame: unknown) => parseFrame(JSON.stringify(frame)).kind
    expect(kind({ jsonrpc: '2.0', id: 1, method: 'a' })).toBe('request')
    expect(kind({ jsonrpc: '2.0', method: 'a', params: {} })).toBe('request')
    expect(kind({ jsonrpc: '2.0', id: 'x', result: null })).toBe('result')
    expect(kind({ jsonrpc: '2.0', id: 'x', error: { code: 1 } })).toBe('error')
    for (const bad of [
      null,
      1,
      'x',
      [],
      {},
      { jsonrpc: '1.0', id: 1, method: 'a' },
      { jsonrpc: '2.0', id: 1, method: 'a', params: [] },
      { jsonrpc: '2.0', id: 1, method: 7 },
      { jsonrpc: '2.0', id: {}, result: 1 },
      { jsonrpc: '2.0', id: 1, error: 'x' },
    ])
      expect(kind(bad), JSON.stringify(bad)).toBe('malformed')
    expect(parseFrame('{').kind).toBe('malformed')
    // Nested so deeply that a recursive reader would exhaust the stack.
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
    expect(parseFrame(`{"jsonrpc":"2.0","id":1,"method":"a","params":{"b":${deep}}}`).kind).toBe('malformed')
  })
})
