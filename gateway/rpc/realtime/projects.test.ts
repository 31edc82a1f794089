import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FakeCall, testCallee } from '../../../handlers/testing/fake-call.ts'
import type { ConnectOptions } from '../../../handlers/verbs.ts'
import { apiToken, othersToken, RealtimeTestGateway } from './testing/realtime-test-gateway.ts'

let gateway: RealtimeTestGateway

beforeEach(async () => {
  gateway = await RealtimeTestGateway.start()
})
afterEach(() => gateway.close())

const theirs = { authentication: { project: 'other', token: othersToken } }
const devices = [[{ type: 'sip', params: { from: 'sip:me@demo', to: testCallee.to } }]]

describe('an application of another project', () => {
  it('is offered no call of the first project, though it listens on the same topic', async () => {
    const stranger = await gateway.listener(theirs)
    expect(await gateway.arrives().over).toMatchObject({ code: 'no_application' })
    expect(stranger.story).toEqual([])
    gateway.arrives(new FakeCall({ callId: 'c-7', projectId: 'other' }))
    expect(await stranger.event('calling.call.receive')).toMatchObject({ call_id: 'c-7', context: 'office' })
  })

  it('finds neither calls of the first project nor their peers', async () => {
    const { application, ask, call } = await gateway.taken()
    const parted = Promise.withResolvers<void>()
    call.during.set('connect', ({ onConnected }: ConnectOptions) => {
      onConnected?.({ callee: testCallee, hangup: () => parted.resolve(), sendDigits: async () => {} })
      return parted.promise
    })
    await ask('calling.connect', { tag: 't', devices })
    await application.event('calling.call.connect')
    call.verbs.splice(0)
    const stranger = await gateway.listener(theirs)
    const params = { control_id: 'k', digits: '1', play: [{ type: 'silence', params: { duration: 1 } }] }
    for (const call_id of [call.info.callId, testCallee.callId])
      for (const method of ['answer', 'end', 'pass', 'play', 'connect', 'disconnect', 'send_digits'])
        expect(await stranger.ask(`calling.${method}`, { call_id, ...params })).toMatchObject({ code: '404' })
    expect(call.names).toEqual([])
    // Both exist for their own project.
    expect(await ask('calling.send_digits', { call_id: testCallee.callId, ...params })).toMatchObject({
      code: '200',
    })
    parted.resolve()
  })

  it('does not join the first project by the name of its protocol', async () => {
    const { protocol } = await (await gateway.application()).connect(['office'])
    const stranger = await gateway.application()
    const signedIn = await stranger.connect([], { ...theirs, protocol })
    expect(signedIn).toMatchObject({ authorization: { project: 'other' } })
    expect(signedIn.protocol).not.toBe(protocol)
    expect(gateway.dialect.applications).toBe(2)
  })

  it('dials for its own project', async () => {
    const stranger = await gateway.listener(theirs)
    expect(await stranger.ask('calling.dial', { tag: 't', devices })).toMatchObject({ code: '200' })
    expect(gateway.originations.map(({ projectId }) => projectId)).toEqual(['other'])
  })
})

it('a connection whose sign-in for another project fails keeps its token, and ends with it', async () => {
  const application = await gateway.listener()
  expect(await application.connect([''], theirs)).toMatchObject({ code: -32602 })
  gateway.projects.remove(othersToken)
  expect(await application.ask('signalwire.ping', { timestamp: 7 })).toEqual({ timestamp: 7 })
  gateway.projects.remove(apiToken)
  expect(await application.socket.closed).toBe(1008)
})
