import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { FakeCall } from '../../../handlers/testing/fake-call.ts'
import type { TrunklineError } from '../../core/errors/catalogue.ts'
import { apiToken, endingToken, RealtimeTestGateway, recordsToken } from './testing/realtime-test-gateway.ts'

let gateway: RealtimeTestGateway

beforeEach(async () => {
  gateway = await RealtimeTestGateway.start()
})
afterEach(() => gateway.close())

const offers = async (): Promise<Record<string, number>> => {
  const { values } = await gateway.metrics.applicationOffers.get()
  return Object.fromEntries(values.map(({ labels, value }) => [labels.outcome, value]))
}

describe('signing in', () => {
  it('returns the fields that the clients read', async () => {
    const application = await gateway.application()
    const result = await application.connect()
    const { signature } = result.authorization as { signature: string }
    expect(result.authorization).toMatchObject({ project: 'demo', project_id: 'demo', type: 'project' })
    expect(String(result.protocol)).toMatch(new RegExp(`^signalwire_${signature}_[-0-9a-f]+_demo$`))
  })

  it('rejects a wrong token and a wrong project with the code that the clients know', async () => {
    const application = await gateway.application()
    for (const authentication of [
      { project: 'demo', token: 'wrong' },
      { project: 'other', token: apiToken },
      { token: apiToken },
      { project: 'demo', token: 7 },
    ])
      expect(await application.connect([], { authentication })).toMatchObject({ code: -32002 })
    expect(await application.ask('signalwire.receive', { contexts: ['office'] })).toMatchObject({
      code: -32002,
    })
    expect(gateway.lines.join()).not.toContain('wrong')
    const { values } = await gateway.metrics.rejections.get()
    expect(values).toContainEqual({ labels: { code: 'unauthorized' }, value: 4 })
  })

  it('rejects a token without the scope for applications', async () => {
    const application = await gateway.application()
    const authentication = { project: 'demo', token: recordsToken }
    expect(await application.connect([], { authentication })).toMatchObject({ code: -32002 })
    const { values } = await gateway.metrics.rejections.get()
    expect(values).toContainEqual({ labels: { code: 'insufficient_scope' }, value: 1 })
  })

  it('ends when its token is removed, and its calls wait for a reconnection', async () => {
    const application = await gateway.listener()
    gateway.projects.remove(recordsToken)
    await application.ask('signalwire.ping')
    gateway.projects.remove(apiToken)
    expect(await application.socket.closed).toBe(1008)
    expect(gateway.projects.listeners).toBe(0)
    const again = await gateway.application()
    expect(await again.connect()).toMatchObject({ code: -32002 })
  })

  it('ends when its token expires', async () => {
    const application = await gateway.application()
    await application.connect([], { authentication: { project: 'demo', token: endingToken } })
    gateway.clock.advance(19_999)
    await application.ask('signalwire.ping')
    gateway.clock.advance(1)
    expect(await application.socket.closed).toBe(1008)
  })

  it('leaves no watch of its token behind', async () => {
    const application = await gateway.listener()
    await application.connect()
    expect(gateway.projects.listeners).toBe(1)
    await application.socket.close()
    await vi.waitFor(() => expect(gateway.projects.listeners).toBe(0))
  })

  it('counts repeated wrong tokens separately', async () => {
    const application = await gateway.application()
    const authentication = { project: 'demo', token: 'guess' }
    const guess = async () => (await gateway.application()).connect([], { authentication })
    for (let i = 0; i < 30; i++) expect((await guess()).message).toContain('wrong')
    expect((await guess()).message).toContain('Too many requests')
    expect(await application.connect()).toHaveProperty('protocol')
  })

  it('closes a connection that does not sign in', async () => {
    const application = await gateway.application()
    await application.socket.settled()
    gateway.clock.advance(10_000)
    expect(await application.socket.closed).toBe(1008)
  })

  it('rejects invalid topics', async () => {
    const application = await gateway.application()
    expect(await application.connect([''])).toMatchObject({ code: -32602 })
    expect(await application.connect(['x'.repeat(256)])).toMatchObject({ code: -32602 })
    await application.connect()
    for (const contexts of [[], [''], 'office', Array.from({ length: 101 }, (_, i) => `t${i}`)])
      expect(await application.ask('signalwire.receive', { contexts })).toMatchObject({ code: '400' })
    expect(await application.ask('calling.nonsense')).toMatchObject({ code: -32601 })
  })
})

describe('a call', () => {
  it('is not answered if no application listens on its topic', async () => {
    const application = await gateway.application()
    await application.connect(['sales'])
    const { over } = gateway.arrives()
    expect(await over).toMatchObject({ code: 'no_application', facts: { topic: 'office', offered: 0 } })
    expect(application.story).toEqual([])
  })

  it('is offered with its context, caller and headers', async () => {
    const application = await gateway.application()
    await application.connect()
    expect(await application.ask('signalwire.receive', { contexts: ['office'] })).toMatchObject({
      code: '200',
    })
    const { call } = gateway.arrives()
    expect(await application.event('calling.call.receive')).toMatchObject({
      call_id: 'c-1',
      node_id: 'node-1',
      context: 'office',
      call_state: 'created',
      direction: 'inbound',
      device: {
        type: 'sip',
        params: {
          from: 'sip:+15550001@carrier.example',
          to: 'sip:+15550002@demo.localhost',
          headers: [{ name: 'X-Order', value: '%2B42' }],
        },
      },
    })
    call.end()
    expect(await application.event('calling.call.state')).toMatchObject({ call_state: 'ending' })
    expect(await offers()).toEqual({ over: 1 })
  })

  it('of a browser is offered with the variables of the page', async () => {
    const application = await gateway.listener()
    const userVariables = { order: 7 }
    const call = new FakeCall({ type: 'webrtc', from: '/public/alice', to: '/public/office', userVariables })
    const { over } = gateway.arrives(call)
    expect(await application.event('calling.call.receive')).toMatchObject({
      device: { type: 'webrtc', params: { from: '/public/alice', to: '/public/office', userVariables } },
    })
    call.end()
    await over
  })

  it('from the document of a SIP call is offered with the variables of that document', async () => {
    const application = await gateway.listener()
    const userVariables = { order: '7' }
    const headers = [{ name: 'X-Order', value: '8' }]
    const call = new FakeCall({ type: 'sip', to: '/public/office', headers, userVariables })
    const { over } = gateway.arrives(call)
    expect(await application.event('calling.call.receive')).toMatchObject({
      device: { type: 'sip', params: { to: '/public/office', headers, userVariables } },
    })
    call.end()
    await over
  })

  it('is not offered to an application that has stopped listening', async () => {
    const application = await gateway.listener()
    await application.ask('signalwire.unreceive', { contexts: ['office'] })
    expect(await gateway.arrives().over).toMatchObject({ code: 'no_application' })
  })

  it('goes to the next listener when it is passed, and ends for the first', async () => {
    const first = await gateway.listener()
    const second = await gateway.listener()
    const { over } = gateway.arrives()
    const { call_id } = await first.event('calling.call.receive')
    expect(await first.ask('calling.pass', { call_id })).toMatchObject({ code: '200' })
    await second.event('calling.call.receive')
    expect(first.story).toEqual(['receive created', 'state ended'])
    expect(await first.ask('calling.answer', { call_id })).toMatchObject({ code: '404' })
    await second.ask('calling.pass', { call_id })
    expect(await over).toMatchObject({ code: 'no_application', facts: { offered: 2 } })
    expect(await offers()).toEqual({ passed: 2 })
  })

  it('goes to the next listener when the first does not respond', async () => {
    const first = await gateway.listener()
    const second = await gateway.listener()
    gateway.arrives()
    await first.event('calling.call.receive')
    gateway.clock.advance(10_000)
    const { call_id } = await second.event('calling.call.receive')
    await second.ask('calling.answer', { call_id })
    expect(second.story).toEqual(['receive created', 'state answered'])
    expect(await offers()).toEqual({ silent: 1, taken: 1 })
  })

  it('goes to the next listener when the first loses its connection, and is not offered to it again', async () => {
    const first = await gateway.listener()
    const second = await gateway.listener()
    const { over } = gateway.arrives()
    await first.event('calling.call.receive')
    await first.socket.close()
    const { call_id } = await second.event('calling.call.receive')
    await second.ask('calling.end', { call_id, reason: 'busy' })
    expect(await over).toBe('over')
    expect(await offers()).toEqual({ lost: 1, taken: 1 })
  })

  it('is offered to the listeners in turn', async () => {
    const first = await gateway.listener()
    const second = await gateway.listener()
    for (const application of [first, second, first]) {
      const { call, over } = gateway.arrives()
      const { call_id } = await application.event('calling.call.receive')
      await application.ask('calling.answer', { call_id })
      call.end()
      await over
    }
  })

  it('that is taken cannot be passed, and another application cannot control it', async () => {
    const other = await gateway.application()
    await other.connect(['sales'])
    const { ask } = await gateway.taken()
    expect(await ask('calling.pass')).toMatchObject({ code: '409' })
    expect(await other.ask('calling.end', { call_id: 'c-1' })).toMatchObject({ code: '404' })
  })

  it('is rejected with the reason that the application gives', async () => {
    const application = await gateway.listener()
    const { call, over } = gateway.arrives()
    const { call_id } = await application.event('calling.call.receive')
    expect(await application.ask('calling.end', { call_id, reason: 'soon' })).toMatchObject({ code: '400' })
    await application.ask('calling.end', { call_id, reason: 'decline' })
    expect(await over).toBe('over')
    expect(call.verbs).toEqual([['ring'], ['hangup', 'decline']])
    expect(application.story).toEqual(['receive created', 'state ending', 'state ended'])
    await application.event('calling.call.state')
    expect(await application.event('calling.call.state')).toMatchObject({ end_reason: 'decline' })
  })
})

describe('an application that has lost its connection', () => {
  const reconnect = async (protocol: unknown, more = {}) => {
    const again = await gateway.application()
    const result = await again.connect(undefined, { protocol, ...more })
    return { again, result }
  }

  it('receives the missed events when it reconnects in time, and still listens', async () => {
    const application = await gateway.application()
    const { protocol } = await application.connect(['office'])
    const { call } = gateway.arrives()
    const { call_id } = await application.event('calling.call.receive')
    await application.ask('calling.answer', { call_id })
    await application.event('calling.call.state')
    await application.socket.close()
    call.end()
    const { again, result } = await reconnect(protocol)
    expect(result.protocol).toBe(protocol)
    expect(await again.event('calling.call.state')).toMatchObject({ call_state: 'ending' })
    expect(await again.event('calling.call.state')).toMatchObject({ call_state: 'ended' })
    gateway.arrives(new FakeCall({ callId: 'c-2' }))
    expect(await again.event('calling.call.receive')).toMatchObject({ call_id: 'c-2' })
  })

  it('loses its calls if it does not reconnect in time', async () => {
    const { application, call, over } = await gateway.taken()
    await application.socket.close()
    await vi.waitFor(() => expect(gateway.dialect.online).toEqual([]))
    gateway.clock.advance(29_999)
    expect(call.names).toEqual([])
    gateway.clock.advance(1)
    expect(await over).toBe('over')
    expect(call.verbs.at(-1)).toEqual(['hangup', 'error'])
    expect([gateway.dialect.applications, gateway.dialect.calls]).toEqual([0, 0])
  })

  it('receives unacknowledged events again', async () => {
    const application = await gateway.application()
    const { protocol } = await application.connect(['office'])
    application.socket.acknowledges = false
    gateway.arrives()
    const { call_id } = await application.event('calling.call.receive')
    await application.ask('calling.answer', { call_id })
    await application.event('calling.call.state')
    await application.socket.close()
    const { again } = await reconnect(protocol)
    expect(await again.event('calling.call.state')).toMatchObject({ call_state: 'answered' })
    // The offer has closed, so it must not ring again.
    expect(again.story).toEqual(['state answered'])
  })

  it('that never acknowledges receives each event once', async () => {
    const application = await gateway.application()
    const { protocol } = await application.connect(['office'], { event_acks: undefined })
    application.socket.acknowledges = false
    gateway.arrives()
    const { call_id } = await application.event('calling.call.receive')
    await application.ask('calling.answer', { call_id })
    await application.event('calling.call.state')
    await application.socket.close()
    const { again } = await reconnect(protocol)
    await again.ask('signalwire.ping', { timestamp: 1 })
    expect(again.story).toEqual([])
  })

  it('becomes a new application with an unknown protocol', async () => {
    const { result } = await reconnect('signalwire_a_b_demo')
    expect(result.protocol).not.toBe('signalwire_a_b_demo')
  })
})

it('is counted by the hash of its topic, and at most 50 topics are counted separately', async () => {
  const application = await gateway.application()
  await application.connect(Array.from({ length: 60 }, (_, i) => `t${String(i).padStart(2, '0')}`))
  expect(gateway.dialect.online.slice(-2)).toEqual([
    // printf t49 | sha256sum | cut -c1-12
    { labels: { topic: 'a3fc505a6ab0' }, value: 1 },
    { labels: { topic: '*' }, value: 10 },
  ])
})

it('loses every call when the gateway closes', async () => {
  const { call, over } = await gateway.taken()
  gateway.dialect.close()
  expect(await over).toBe('over')
  expect(call.names).toContain('hangup')
  expect(((await gateway.arrives().over) as TrunklineError).code).toBe('no_application')
})
