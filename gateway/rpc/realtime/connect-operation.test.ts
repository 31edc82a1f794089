import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testCallee } from '../../../handlers/testing/fake-call.ts'
import type { ConnectOptions } from '../../../handlers/verbs.ts'
import type { AnyFrame } from '../testing/test-browser.ts'
import { nextOf, RealtimeTestGateway } from './testing/realtime-test-gateway.ts'

let gateway: RealtimeTestGateway

beforeEach(async () => {
  gateway = await RealtimeTestGateway.start()
})
afterEach(() => gateway.close())

const tts = [{ type: 'tts', params: { text: 'Hello' } }]

describe('connect', () => {
  const sip = { type: 'sip', params: { from: 'sip:me@demo', to: testCallee.to, timeout: 20 } }
  const wire = { type: 'sip', params: { from: 'sip:me@demo', to: testCallee.to, headers: [] } }
  const phone = { type: 'phone', params: { from_number: '+1', to_number: '+2' } }

  it('reads devices in series and in parallel, with all their options', async () => {
    const { ask, call } = await gateway.taken()
    const headers = [{ name: 'X-A', value: 'b' }]
    const full = { ...sip.params, headers, codecs: ['OPUS', 'VP8', 'PCMU'], session_timeout: 600 }
    const ringback = [{ type: 'ringtone', params: { name: 'us' } }]
    await ask('calling.connect', {
      tag: 't',
      ringback,
      devices: [[{ type: 'sip', params: full }, phone], [phone]],
    })
    expect(call.verbs.at(-1)?.[1]).toMatchObject({
      steps: [
        [
          {
            to: testCallee.to,
            from: 'sip:me@demo',
            timeoutMs: 20_000,
            headers,
            codecs: ['opus', 'PCMU'],
            sessionTimerSeconds: 600,
          },
          { to: '+2', from: '+1' },
        ],
        [{ to: '+2', from: '+1' }],
      ],
      ringback: [{ kind: 'ringtone', country: 'us' }],
      answerOnBridge: true,
    })
  })

  it('reports the transcript of the agent of an address, by the id of the callee', async () => {
    const { ask, application, call } = await gateway.taken(undefined, { agent: 'signalwire-python' })
    call.during.set('connect', ({ steps }: ConnectOptions) => {
      const { onState, onTranscript } = steps[0]![0]!
      onState?.({ kind: 'initiated', callee: testCallee })
      onTranscript?.({ type: 'completion', params: { text: 'Hello.', type: 'normal' } })
    })
    await ask('calling.connect', { tag: 't', devices: [[sip]] })
    expect(await application.event('calling.call.ai')).toEqual({
      call_id: testCallee.callId,
      node_id: 'node-1',
      state: 'completion',
      result: { text: 'Hello.', type: 'normal' },
    })
  })

  it('reports the device that answered of two with the same address', async () => {
    const { ask, application, call } = await gateway.taken()
    const other = { type: 'sip', params: { ...sip.params, from: 'sip:other@demo' } }
    call.during.set('connect', ({ steps, onConnected }: ConnectOptions) => {
      const [first, second] = steps[0]!
      first?.onState?.({ kind: 'initiated', callee: { ...testCallee, callId: 'other' } })
      second?.onState?.({ kind: 'initiated', callee: testCallee })
      onConnected?.({ callee: testCallee, hangup: () => {} } as never)
    })
    await ask('calling.connect', { tag: 't', devices: [[sip, other]] })
    const states = [
      await application.event('calling.call.connect'),
      await application.event('calling.call.connect'),
    ]
    expect(states.at(-1)).toMatchObject({
      connect_state: 'connected',
      peer: { call_id: testCallee.callId, device: { params: { from: 'sip:other@demo' } } },
    })
  })

  it('reports no transcript after the application has lost the call', async () => {
    const { ask, application, call } = await gateway.taken(undefined, { agent: 'signalwire-python' })
    call.during.set('connect', ({ steps }: ConnectOptions) => {
      const { onState, onTranscript } = steps[0]![0]!
      onState?.({ kind: 'initiated', callee: testCallee })
      call.end()
      onTranscript?.({ type: 'completion', params: { text: 'Hello.', type: 'normal' } })
    })
    await ask('calling.connect', { tag: 't', devices: [[sip]] })
    await application.ask('signalwire.ping')
    expect(application.story).toContain('state ended')
    expect(application.story.filter((each) => each.startsWith('ai'))).toEqual([])
  })

  it('reports every leg, the peer, and the disconnection', async () => {
    const { ask, application, call } = await gateway.taken()
    const parted = Promise.withResolvers<void>()
    const pressed: string[] = []
    call.during.set('connect', ({ steps, onConnected }: ConnectOptions) => {
      const onState = steps[0]?.[0]?.onState
      for (const kind of ['initiated', 'ringing', 'answered'] as const)
        onState?.({ kind, callee: testCallee })
      const sendDigits = async (digits: string) => void pressed.push(digits)
      onConnected?.({ callee: testCallee, hangup: () => parted.resolve(), sendDigits })
      return parted.promise
    })
    await ask('calling.connect', { tag: 't', devices: [[sip]] })
    expect(await nextOf(application, 'connect')).toEqual({ tag: 't', connect_state: 'connecting' })
    for (const call_state of ['created', 'ringing', 'answered'])
      expect(
        await application.socket
          .frame((f) => ((f.params as AnyFrame)?.params as AnyFrame)?.tag === 't')
          .then((f) => (f.params as AnyFrame).params),
      ).toMatchObject({ call_id: 'c-2', tag: 't', direction: 'outbound', call_state, device: wire })
    const peer = { call_id: 'c-2', tag: 't', device: wire }
    expect(await nextOf(application, 'connect')).toEqual({ tag: 't', connect_state: 'connected', peer })
    expect(await ask('calling.connect', { tag: 'u', devices: [[sip]] })).toMatchObject({ code: '409' })
    const ofPeer = { call_id: 'c-2', control_id: 'p' }
    await application.ask('calling.send_digits', { ...ofPeer, digits: '5' })
    expect(await application.event('calling.call.send_digits')).toMatchObject({ call_id: 'c-2' })
    expect(pressed).toEqual(['5'])
    expect(await application.ask('calling.play', { ...ofPeer, play: tts })).toMatchObject({ code: '422' })
    expect(await ask('calling.disconnect')).toMatchObject({ code: '200' })
    expect(await nextOf(application, 'connect')).toEqual({ tag: 't', connect_state: 'disconnected', peer })
    expect(await application.ask('calling.end', { call_id: 'c-2' })).toMatchObject({ code: '404' })
  })

  it('reports the reason of a failure', async () => {
    const { ask, application, call } = await gateway.taken()
    call.connects.push({ kind: 'failed', reason: 'no-answer', code: 'no_answer' })
    await ask('calling.connect', { tag: 't', devices: [[phone]] })
    await nextOf(application, 'connect')
    expect(await nextOf(application, 'connect')).toEqual({
      tag: 't',
      connect_state: 'failed',
      failed_reason: 'noAnswer',
      error: 'no_answer',
      message: 'The call was not answered in time.',
    })
  })
})
