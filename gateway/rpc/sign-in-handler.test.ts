import pino from 'pino'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { FakeClock } from '../core/clock.ts'
import { Metrics } from '../core/metrics.ts'
import { Origins } from '../core/web/origins.ts'
import { RpcError, rpcCodes } from './frames.ts'
import { RpcServer, type RpcServerDeps, type RpcServerSettings } from './rpc-server.ts'
import type { RpcHandler, RpcSession } from './rpc-session.ts'
import { SignInHandler } from './sign-in-handler.ts'
import { listeningServer, TestBrowser } from './testing/test-browser.ts'

let http: Awaited<ReturnType<typeof listeningServer>>
let rpc: RpcServer
let closed: string[]
let clock: FakeClock

/** Dialect that accepts only the password `right`, and returns its name. */
const dialect = (name: string): RpcHandler => ({
  methods: new Set(['signalwire.connect', 'echo']),
  handle: (_method, { password }) => {
    if (password === 'wrong') throw new RpcError(rpcCodes.auth)
    return { result: name }
  },
  closed: () => void closed.push(name),
})

const serverOf = (open: RpcServerDeps['open'], settings: Partial<RpcServerSettings> = {}) => {
  const log = pino({ level: 'silent' })
  return new RpcServer({ clock, log, metrics: new Metrics(), origins: new Origins([]), open }, settings)
}

beforeEach(async () => {
  closed = []
  clock = new FakeClock()
  http = await listeningServer()
  const dialects = { subscriber: () => dialect('subscriber'), application: () => dialect('application') }
  rpc = serverOf((session) => new SignInHandler(dialects, session, clock))
  rpc.attach(http.server)
})
afterEach(async () => {
  rpc.close()
  await http.close()
})

it.each([
  [{ jwt_token: 't' }, 'subscriber'],
  [{ project: 'p', token: 't' }, 'application'],
  [{ jwt_token: 't', project: 'p', token: 't' }, 'subscriber'],
  [undefined, 'subscriber'],
  [[], 'subscriber'],
])('the credentials %j select the dialect %s', async (authentication, name) => {
  const client = await TestBrowser.open(http.port)
  expect((await client.send('echo', {})).error).toMatchObject({ code: -32002 })
  expect(await client.send('signalwire.connect', { authentication })).toMatchObject({ result: name })
  expect(await client.send('echo', {})).toMatchObject({ result: name })
  clock.advance(10_000)
  await client.close()
  expect(closed).toEqual([name])
})

it('a client that does not sign in in time is disconnected', async () => {
  const client = await TestBrowser.open(http.port)
  const params = { authentication: { project: 'p', token: 't' }, password: 'wrong' }
  expect((await client.send('signalwire.connect', params)).error).toMatchObject({ code: -32002 })
  clock.advance(10_000)
  expect(await client.closed).toBe(1008)
})

it('a client that keeps guessing is disconnected', async () => {
  const client = await TestBrowser.open(http.port)
  const params = { authentication: { jwt_token: 't' }, password: 'wrong' }
  for (let i = 0; i < 9; i++)
    expect((await client.send('signalwire.connect', params)).error).toMatchObject({ code: -32002 })
  client.raw(JSON.stringify({ jsonrpc: '2.0', id: 'last', method: 'signalwire.connect', params }))
  expect(await client.closed).toBe(1008)
})

it('a sign-in ends the wait and sets the request rate of the dialect', async () => {
  rpc.close()
  await http.close()
  http = await listeningServer()
  const dialects = { subscriber: () => dialect('subscriber'), application: () => dialect('application') }
  const open = (session: RpcSession) =>
    new SignInHandler(dialects, session, clock, { signInMs: 500, applicationRequestsPerSecond: 5 })
  rpc = serverOf(open, { limits: { requestsPerSecond: 3 } })
  rpc.attach(http.server)
  const answered = async (authentication: object) => {
    const client = await TestBrowser.open(http.port)
    expect(rpc.waiting).toBe(1)
    await client.send('signalwire.connect', { authentication })
    expect(rpc.waiting).toBe(0)
    const answers = await Promise.all(Array.from({ length: 8 }, () => client.send('echo', {})))
    return answers.filter(({ result }) => result !== undefined).length
  }
  // The sign-in counts too.
  expect(await answered({ jwt_token: 't' })).toBe(2)
  expect(await answered({ project: 'p', token: 't' })).toBe(4)
  const silent = await TestBrowser.open(http.port)
  clock.advance(500)
  expect(await silent.closed).toBe(1008)
})
