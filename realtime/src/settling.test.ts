import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import type { Call } from './call.ts'
import { type RealtimeClient, SignalWire, Voice } from './index.ts'
import { NoWaits, TestGateway } from './testing.ts'

let gateway: TestGateway
let waits: NoWaits
let client: RealtimeClient
let call: Call
const account = { project: 'demo', token: 'secret' }
const ids = { call_id: 'c1', node_id: 'n1' }
const ended = () => gateway.tell('state', { ...ids, call_state: 'ended' })

beforeEach(async () => {
  gateway = await TestGateway.open()
  waits = new NoWaits()
  client = await SignalWire({ ...account, host: gateway.host }, waits)
  onTestFinished(() => client.disconnect())
  const { promise, resolve } = Promise.withResolvers<Call>()
  await client.voice.listen({ topics: ['office'], onCallReceived: resolve })
  gateway.tell('receive', { ...ids, context: 'office', direction: 'inbound' })
  call = await promise
})
afterEach(() => gateway.close())

it('every promise settles with the call, whatever events arrive', async () => {
  const playing = call.playTTS({ text: 'Hello' })
  const connecting = call.connectPhone({ from: '+1', to: '+2' })
  await gateway.next('calling.play')
  await gateway.next('calling.connect')
  ended()
  await expect(playing).rejects.toMatchObject({ code: 'lost' })
  await expect(connecting).rejects.toMatchObject({ code: 'lost' })
  await expect(playing.started).rejects.toMatchObject({ code: 'lost' })
})

it('a call that has ended already is hung up', async () => {
  gateway.answers.set('calling.end', () => ({ code: '404', message: 'there is no such call' }))
  await call.hangup()
  gateway.answers.set('calling.end', () => ({ code: '400', message: 'reason: …' }))
  await expect(call.hangup()).rejects.toMatchObject({ code: '400' })
})

it('a call that is answered after its dial was rejected is hung up', async () => {
  gateway.unanswered.add('calling.dial')
  const dialling = client.voice.dialPhone({ from: '+1', to: '+2' })
  const { tag } = (await gateway.next('calling.dial')).params
  gateway.cut()
  await expect(dialling).rejects.toMatchObject({ code: 'lost' })
  await gateway.next('signalwire.connect')
  await gateway.next('signalwire.connect')
  const dialled = { call_id: 'o1', node_id: 'n1', tag, direction: 'outbound' }
  gateway.tell('state', { ...dialled, call_state: 'answered' })
  gateway.tell('dial', { tag, dial_state: 'answered', call: dialled })
  expect((await gateway.next('calling.end')).params).toMatchObject({ call_id: 'o1' })
})

it('a dialled call is not hung up by a repeated event', async () => {
  const dialling = client.voice.dialPhone({ from: '+1', to: '+2' })
  const { tag } = (await gateway.next('calling.dial')).params
  const answered = { tag, dial_state: 'answered', call: { call_id: 'o1', node_id: 'n1', tag } }
  gateway.tell('dial', answered)
  const dialled = await dialling
  gateway.tell('dial', answered)
  await dialled.hold()
  expect(gateway.asked.map(({ method }) => method)).not.toContain('calling.end')
})

it('a gateway that does not answer the sign-in is disconnected, and retried', async () => {
  gateway.unanswered.add('signalwire.connect')
  await gateway.next('signalwire.connect')
  gateway.cut()
  await gateway.next('signalwire.connect')
  gateway.unanswered.delete('signalwire.connect')
  waits.beat()
  await gateway.next('signalwire.connect')
  await call.pass()
})

it('the first version reports once that it cannot connect', async () => {
  const errors: unknown[] = []
  const voice = new Voice.Client({ ...account, host: 'ws://127.0.0.1:9' })
  voice.on('call.received', () => {})
  voice.on('error', (error) => void errors.push(error))
  await vi.waitFor(() => expect(errors).not.toEqual([]))
  await new Promise((resolve) => setImmediate(resolve))
  expect(errors).toHaveLength(1)
})

it('a server that accepts a connection but sends nothing counts as unreachable', async () => {
  const silent = createServer((socket) => socket.on('error', () => {}))
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  onTestFinished(() => void silent.close())
  const { port } = silent.address() as { readonly port: number }
  const connecting = SignalWire({ ...account, host: `ws://127.0.0.1:${port}` }, waits)
  const settled = expect(connecting).rejects.toMatchObject({ code: 'lost' })
  let isSettled = false
  settled.finally(() => {
    isSettled = true
  })
  await vi.waitFor(() => {
    waits.beat()
    expect(isSettled).toBe(true)
  })
})
