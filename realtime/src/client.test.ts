import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Call } from './call.ts'
import { type RealtimeClient, SignalWire, Voice } from './index.ts'
import { NoWaits, TestGateway } from './testing.ts'
import { VoiceClient } from './voice-client.ts'

let gateway: TestGateway
let waits: NoWaits
const account = { project: 'demo', token: 'secret' }
const device = {
  type: 'sip',
  params: { from: 'sip:a@x', to: 'sip:b@y', headers: [{ name: 'X-A', value: 'b' }] },
}
const inbound = { call_id: 'c1', node_id: 'n1', direction: 'inbound', context: 'office', device }

beforeEach(async () => {
  gateway = await TestGateway.open()
  waits = new NoWaits()
})
afterEach(() => gateway.close())

const second = async (): Promise<RealtimeClient> => {
  const client = await SignalWire({ ...account, host: gateway.host }, waits)
  onTestFinished(() => client.disconnect())
  return client
}

/** Returns a client of the second version with a call that it has received. */
const received = async (): Promise<{ client: RealtimeClient; call: Call }> => {
  const client = await second()
  const { promise, resolve } = Promise.withResolvers<Call>()
  await client.voice.listen({ topics: ['office'], onCallReceived: resolve })
  gateway.tell('receive', { ...inbound, call_state: 'created' })
  return { client, call: await promise }
}

const state = (call_state: string, more = {}) => gateway.tell('state', { ...inbound, call_state, ...more })

describe('the second version', () => {
  it('signs in with its topics', async () => {
    const client = await SignalWire({ ...account, host: gateway.host, topics: ['home'] })
    expect((await gateway.next('signalwire.connect')).params).toMatchObject({
      authentication: account,
      contexts: ['home'],
      event_acks: true,
    })
    client.disconnect()
  })

  it('rejects for a wrong token, and without a gateway', async () => {
    const error = { code: -32002, message: 'Authentication failed' }
    gateway.answers.set('signalwire.connect', () => ({ error }))
    await expect(second()).rejects.toMatchObject({ code: 'unauthorized', message: error.message })
    await expect(SignalWire({ ...account, host: 'ws://127.0.0.1:9' })).rejects.toMatchObject({ code: 'lost' })
  })

  it('connects to a bare name of loopback without TLS, and to others with TLS', async () => {
    const client = await SignalWire({ ...account, host: gateway.host.replace('ws://', '') })
    client.disconnect()
    const message = 'wss://gw.invalid:1/ cannot be reached.'
    await expect(SignalWire({ ...account, host: 'gw.invalid:1' })).rejects.toMatchObject({
      code: 'lost',
      message,
    })
  })

  it('names the version of Node.js that it needs', async () => {
    vi.stubGlobal('WebSocket', undefined)
    onTestFinished(() => void vi.unstubAllGlobals())
    await expect(SignalWire({ ...account, host: gateway.host })).rejects.toThrow(
      `needs Node.js 22.18 or later. This is ${process.version}.`,
    )
  })

  it('reports the calls of its topics, and acknowledges them', async () => {
    const { call } = await received()
    expect([call.from, call.to, call.type, call.context, call.state]).toEqual([
      'sip:a@x',
      'sip:b@y',
      'sip',
      'office',
      'created',
    ])
    expect(call.headers).toEqual([{ name: 'X-A', value: 'b' }])
    await vi.waitFor(() => expect(gateway.acknowledged).toBe(1))
  })

  it('reports the variables of the page of a call', async () => {
    const client = await second()
    const { promise, resolve } = Promise.withResolvers<Call>()
    await client.voice.listen({ topics: ['office'], onCallReceived: resolve })
    const params = { from: '/public/alice', to: '/public/office', userVariables: { order: 7 } }
    gateway.tell('receive', { ...inbound, device: { type: 'webrtc', params }, call_state: 'created' })
    const call = await promise
    expect([call.type, call.userVariables]).toEqual(['webrtc', { order: 7 }])
  })

  it('passes each listener the calls of its topics, and stops listening on unused topics', async () => {
    const client = await second()
    const home: Call[] = []
    const office: Call[] = []
    const stop = await client.voice.listen({
      topics: ['home', 'office'],
      onCallReceived: (c) => void home.push(c),
    })
    await client.voice.listen({ topics: ['office'], onCallReceived: (c) => void office.push(c) })
    await stop()
    await stop()
    expect((await gateway.next('signalwire.unreceive')).params).toEqual({ contexts: ['home'] })
    gateway.tell('receive', inbound)
    await vi.waitFor(() => expect(office).toHaveLength(1))
    expect(home).toEqual([])
  })

  it('does not listen if the request is rejected', async () => {
    const client = await second()
    gateway.answers.set('signalwire.receive', () => ({ code: '400', message: 'contexts: …' }))
    const listening = client.voice.listen({ topics: [], onCallReceived: () => {} })
    await expect(listening).rejects.toMatchObject({ code: '400', message: 'contexts: …' })
  })
})

describe('the first version', () => {
  const first = () => {
    const client = new Voice.Client({ ...account, host: gateway.host, contexts: ['office'] })
    onTestFinished(() => client.disconnect())
    return client
  }

  it('connects with its first listener, and reports calls', async () => {
    const calls: Call[] = []
    const client = first()
    client.on('call.received', (call) => void calls.push(call))
    expect((await gateway.next('signalwire.connect')).params).toMatchObject({ contexts: ['office'] })
    gateway.tell('receive', inbound)
    await vi.waitFor(() => expect(calls.map(({ from }) => from)).toEqual(['sip:a@x']))
    await client.addContexts(['home'])
    await client.removeContexts(['office'])
    expect((await gateway.next('signalwire.receive')).params).toEqual({ contexts: ['home'] })
    expect((await gateway.next('signalwire.unreceive')).params).toEqual({ contexts: ['office'] })
  })

  it('reports that it cannot connect', async () => {
    const client = new VoiceClient({ ...account, host: 'ws://127.0.0.1:9' })
    const { promise, resolve } = Promise.withResolvers<unknown>()
    client.on('error', resolve)
    expect(await promise).toMatchObject({ code: 'lost' })
  })

  it('dials', async () => {
    const dialling = first().dialSip({ from: 'sip:me@x', to: 'sip:you@y', timeout: 15 })
    const { params } = await gateway.next('calling.dial')
    expect(params.devices).toEqual([
      [{ type: 'sip', params: { from: 'sip:me@x', to: 'sip:you@y', timeout: 15 } }],
    ])
    gateway.tell('dial', { tag: params.tag, dial_state: 'failed', reason: 'noAnswer' })
    await expect(dialling).rejects.toMatchObject({ code: 'noAnswer' })
  })
})

describe('dialling', () => {
  it('resolves with the call that answers', async () => {
    const { voice } = await second()
    const dialling = voice.dialPhone({ from: '+1', to: '+2' })
    const { params } = await gateway.next('calling.dial')
    const ids = { call_id: 'o1', node_id: 'n1', tag: params.tag, direction: 'outbound' }
    const phone = { type: 'phone', params: { from_number: '+1', to_number: '+2' } }
    expect(params.devices).toEqual([[phone]])
    for (const call_state of ['created', 'ringing', 'answered'])
      gateway.tell('state', { ...ids, device: phone, call_state })
    gateway.tell('dial', { tag: params.tag, dial_state: 'answered', call: { ...ids, device: phone } })
    const call = await dialling
    expect([call.id, call.state, call.direction, call.to]).toEqual(['o1', 'answered', 'outbound', '+2'])
  })

  it('rejects with the code and the text of the gateway if the call is not answered', async () => {
    const { voice } = await second()
    const dialling = voice.dialPhone({ from: '+1', to: '+2' })
    const { tag } = (await gateway.next('calling.dial')).params
    const message = 'The project has no default carrier.'
    gateway.tell('dial', { tag, dial_state: 'failed', reason: 'error', error: 'no_carrier', message })
    await expect(dialling).rejects.toMatchObject({ code: 'error', reason: 'no_carrier', message })
  })

  it('rejects if the gateway rejects the dial', async () => {
    const { voice } = await second()
    gateway.answers.set('calling.dial', () => ({ code: '400', message: 'devices: …' }))
    await expect(voice.dial([])).rejects.toMatchObject({ code: '400' })
  })
})

describe('a call', () => {
  it('is answered and hung up', async () => {
    const { call } = await received()
    const states: string[] = []
    call.onState((now) => void states.push(now))
    const answering = call.answer()
    await gateway.next('calling.answer')
    state('answered')
    expect(await answering).toBe(call)
    const over = call.hangup('busy')
    expect((await gateway.next('calling.end')).params).toEqual({
      call_id: 'c1',
      node_id: 'n1',
      reason: 'busy',
    })
    state('ending')
    state('ended')
    await over
    expect(states).toEqual(['answered', 'ending', 'ended'])
    expect(await call.waitFor('answered')).toBe(false)
    await call.hangup()
  })

  it('that ends before its answer rejects answer()', async () => {
    const { call } = await received()
    const answering = call.answer()
    await gateway.next('calling.answer')
    state('ended')
    await expect(answering).rejects.toMatchObject({ code: 'lost' })
  })

  it('is connected and disconnected', async () => {
    const { call } = await received()
    const connecting = call.connectSip({ from: 'sip:a@x', to: 'sip:d@z', sessionTimeout: 600 })
    const { params } = await gateway.next('calling.connect')
    const { tag } = params
    expect(params.devices).toEqual([
      [{ type: 'sip', params: { from: 'sip:a@x', to: 'sip:d@z', session_timeout: 600 } }],
    ])
    const leg = { call_id: 'p1', node_id: 'n1', tag, direction: 'outbound', device }
    gateway.tell('state', { ...leg, call_state: 'answered' })
    const ids = { call_id: 'c1', tag }
    gateway.tell('connect', { ...ids, connect_state: 'connected', peer: { call_id: 'p1', tag, device } })
    const peer = await connecting
    expect([peer.id, peer.state, call.peer === peer, peer.peer === call]).toEqual([
      'p1',
      'answered',
      true,
      true,
    ])
    const parting = call.disconnect()
    await gateway.next('calling.disconnect')
    gateway.tell('connect', { ...ids, connect_state: 'disconnected', peer: { call_id: 'p1' } })
    gateway.tell('state', { ...leg, call_state: 'ended' })
    await parting
    expect([call.peer, peer.state]).toEqual([undefined, 'ended'])
  })

  it('rejects if no device was connected', async () => {
    const { call } = await received()
    const connecting = call.connectPhone({ from: '+1', to: '+2' })
    const { tag } = (await gateway.next('calling.connect')).params
    const failure = { failed_reason: 'busy', error: 'busy', message: 'The called party is busy.' }
    gateway.tell('connect', { call_id: 'c1', tag, connect_state: 'failed', ...failure })
    await expect(connecting).rejects.toMatchObject({ code: 'busy', reason: 'busy', message: failure.message })
  })
})

describe('a lost connection', () => {
  it('is restored with its protocol and topics, and calls continue', async () => {
    const { call } = await received()
    await gateway.next('signalwire.connect')
    const answering = call.answer()
    await gateway.next('calling.answer')
    gateway.cut()
    expect((await gateway.next('signalwire.connect')).params).toMatchObject({
      protocol: gateway.protocol,
      contexts: ['office'],
    })
    state('answered')
    await answering
    expect(call.state).toBe('answered')
    expect(waits.waits).toHaveLength(1)
  })

  it('loses calls that the gateway no longer knows', async () => {
    const { call } = await received()
    const playing = call.playTTS({ text: 'Hello' })
    await gateway.next('calling.play')
    gateway.protocol = 'signalwire_s_2_demo'
    gateway.cut()
    await expect(playing).rejects.toMatchObject({ code: 'lost' })
    expect(await call.waitFor('answered')).toBe(false)
  })

  it('rejects requests made meanwhile', async () => {
    const { call } = await received()
    gateway.answers.set('calling.pass', () => {
      gateway.cut()
      return { code: '200' }
    })
    await expect(call.pass()).rejects.toMatchObject({ code: 'lost' })
  })

  it('is detected without a close frame', async () => {
    const { call } = await received()
    await gateway.next('signalwire.connect')
    waits.beat()
    await gateway.next('signalwire.ping')
    gateway.unanswered.add('signalwire.ping')
    gateway.unanswered.add('calling.hold')
    const holding = call.hold()
    await gateway.next('calling.hold')
    const lost = expect(holding).rejects.toMatchObject({ code: 'lost' })
    let isLost = false
    lost.then(() => {
      isLost = true
    })
    // First the time until the next ping, then the time for its answer.
    await vi.waitFor(() => {
      waits.beat()
      expect(isLost).toBe(true)
    })
    await gateway.next('signalwire.connect')
  })

  it('is not caused by an invalid frame', async () => {
    const { call } = await received()
    gateway.babble()
    state('answered')
    expect(await call.waitFor('answered')).toBe(true)
  })

  it('is abandoned when the token is no longer valid', async () => {
    const failed = Promise.withResolvers<unknown>()
    const onAuthError = (error: unknown) => failed.resolve(error)
    await SignalWire({ ...account, host: gateway.host, onAuthError }, waits)
    gateway.answers.set('signalwire.connect', () => ({ error: { code: -32002, message: 'no' } }))
    gateway.cut()
    expect(await failed.promise).toMatchObject({ code: 'unauthorized' })
  })

  it('is not restored after disconnect()', async () => {
    const client = await second()
    client.disconnect()
    await expect(client.voice.dialSip({ from: 'a', to: 'b' })).rejects.toMatchObject({ code: 'lost' })
    expect(waits.waits).toEqual([])
  })
})
