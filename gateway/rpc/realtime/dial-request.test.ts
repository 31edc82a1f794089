import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FakeCall } from '../../../handlers/testing/fake-call.ts'
import { type Code, catalogue, TrunklineError } from '../../core/errors/catalogue.ts'
import type { AnyFrame } from '../testing/test-browser.ts'
import { FakeLeg, RealtimeTestGateway, type TestApplication } from './testing/realtime-test-gateway.ts'

let gateway: RealtimeTestGateway
let application: TestApplication

beforeEach(async () => {
  gateway = await RealtimeTestGateway.start()
  application = await gateway.application()
  await application.connect()
})
afterEach(() => gateway.close())

const to = 'sip:you@carrier.example;transport=tcp'
const devices = [[{ type: 'sip', params: { from: 'sip:me@demo', to, timeout: 15 } }]]
const dial = (more = {}) => application.ask('calling.dial', { tag: 't', devices, ...more })

describe('dialling', () => {
  it('reports the leg and its answer before the answer of the dial', async () => {
    const call = new FakeCall({ callId: 'l-1', direction: 'outbound' })
    gateway.originate = async ({ onLeg, steps, run }) => {
      const leg = new FakeLeg('l-1', steps[0]![0]!)
      onLeg?.(leg)
      leg.report('ringing')
      leg.report('answered')
      call.isAnswered = true
      call.signal.addEventListener('abort', () => leg.report('ended'))
      await run(call, async () => {})
      return 'l-1'
    }
    expect(await dial()).toMatchObject({ code: '200' })
    expect(gateway.originations[0]).toMatchObject({
      projectId: 'demo',
      steps: [[{ to, from: 'sip:me@demo', timeoutMs: 15_000 }]],
    })
    await application.event('calling.call.dial')
    const answered = await application.event('calling.call.dial')
    const ids = { call_id: 'l-1', node_id: 'node-1', tag: 't', direction: 'outbound' }
    expect(answered.call).toMatchObject({ ...ids, dial_winner: true, call_state: 'answered' })
    expect(await application.event('calling.call.state')).toMatchObject({
      ...ids,
      call_state: 'created',
      device: { type: 'sip', params: { to } },
    })
    expect(application.story).toEqual([
      'dial dialing',
      'state created',
      'state ringing',
      'state answered',
      'dial answered',
    ])
    await application.ask('calling.end', { call_id: 'l-1' })
    await application.ask('signalwire.ping')
    expect(application.story.slice(5)).toEqual(['state ending', 'state ended'])
    expect(call.names).toEqual(['hangup'])
  })

  it('reports the transcript of the agent of an address, by the id of the call', async () => {
    application = await gateway.application()
    await application.connect(undefined, { agent: 'signalwire-python' })
    gateway.originate = async ({ onLeg, steps }) => {
      const [destination] = steps[0]!
      onLeg?.(new FakeLeg('l-1', destination!))
      destination?.onTranscript?.({ type: 'completion', params: { text: 'Hello.', type: 'normal' } })
      return 'l-1'
    }
    await dial()
    expect(await application.event('calling.call.ai')).toEqual({
      call_id: 'l-1',
      node_id: 'node-1',
      state: 'completion',
      result: { text: 'Hello.', type: 'normal' },
    })
  })

  it('keeps two devices of the same address apart, with their transcripts', async () => {
    application = await gateway.application()
    await application.connect(undefined, { agent: 'signalwire-python' })
    gateway.originate = async ({ onLeg, steps }) => {
      const [first, second] = steps[0]!
      onLeg?.(new FakeLeg('l-1', first!))
      onLeg?.(new FakeLeg('l-2', second!))
      first?.onTranscript?.({ type: 'completion', params: { text: 'Hello.', type: 'normal' } })
      second?.onTranscript?.({ type: 'completion', params: { text: 'Good day.', type: 'normal' } })
      return 'l-1'
    }
    const device = (from: string) => ({ type: 'sip', params: { from, to } })
    await dial({ devices: [[device('sip:me@demo'), device('sip:other@demo')]] })
    const state = () => application.event('calling.call.state')
    expect(await state()).toMatchObject({ call_id: 'l-1', device: device('sip:me@demo') })
    expect(await state()).toMatchObject({ call_id: 'l-2', device: device('sip:other@demo') })
    const said = () => application.event('calling.call.ai')
    expect(await said()).toMatchObject({ call_id: 'l-1', result: { text: 'Hello.' } })
    expect(await said()).toMatchObject({ call_id: 'l-2', result: { text: 'Good day.' } })
  })

  it('reports no transcript after the application has lost the call', async () => {
    application = await gateway.application()
    await application.connect(undefined, { agent: 'signalwire-python' })
    const call = new FakeCall({ callId: 'l-1', direction: 'outbound' })
    const said = Promise.withResolvers<void>()
    gateway.originate = async ({ onLeg, steps, run }) => {
      const [destination] = steps[0]!
      onLeg?.(new FakeLeg('l-1', destination!))
      call.isAnswered = true
      call.end()
      await run(call, async () => {})
      destination?.onTranscript?.({ type: 'completion', params: { text: 'Hello.', type: 'normal' } })
      said.resolve()
      return 'l-1'
    }
    await dial()
    await said.promise
    await application.ask('signalwire.ping')
    expect(application.story).toContain('state ended')
    expect(application.story.filter((each) => each.startsWith('ai'))).toEqual([])
  })

  it('reports a call that ends right after its answer', async () => {
    const call = new FakeCall({ callId: 'l-1', direction: 'outbound' })
    gateway.originate = async ({ run }) => {
      call.isAnswered = true
      call.end()
      await run(call, async () => {})
      return 'l-1'
    }
    await dial()
    await application.ask('signalwire.ping')
    const states = ['dial dialing', 'state answered', 'dial answered', 'state ending', 'state ended']
    expect(application.story).toEqual(states)
    expect(gateway.dialect.calls).toBe(0)
  })

  it('delays the ends of unanswered legs until the call has ended', async () => {
    const call = new FakeCall({ callId: 'l-2', direction: 'outbound' })
    gateway.originate = async ({ onLeg, steps, run }) => {
      const [busy, other] = ['l-1', 'l-2'].map((id) => new FakeLeg(id, steps[0]![0]!))
      onLeg?.(busy!)
      busy!.report('ended')
      onLeg?.(other!)
      other!.report('answered')
      call.isAnswered = true
      void run(call, async () => {})
      return 'l-2'
    }
    await dial()
    await application.event('calling.call.dial')
    await application.event('calling.call.dial')
    await application.ask('calling.end', { call_id: 'l-2' })
    await application.ask('signalwire.ping')
    const ended = application.socket.requests
      .map(({ params }) => (params as AnyFrame).params as AnyFrame)
      .filter(({ call_state }) => call_state === 'ended')
    expect(ended.map(({ call_id }) => call_id)).toEqual(['l-2', 'l-1'])
  })

  it.each<[Code, string]>([
    ['no_answer', 'noAnswer'],
    ['busy', 'busy'],
    ['declined', 'decline'],
    ['unreachable', 'error'],
    ['no_carrier', 'error'],
  ])('reports %s as %s, after the end of the leg', async (code, reason) => {
    gateway.originate = async ({ onLeg, steps }) => {
      const leg = new FakeLeg('l-1', steps[0]![0]!)
      onLeg?.(leg)
      leg.report('ended')
      throw new TrunklineError(code)
    }
    await dial()
    await application.event('calling.call.dial')
    expect(await application.event('calling.call.dial')).toMatchObject({
      tag: 't',
      dial_state: 'failed',
      reason,
      error: code,
      message: catalogue[code].text,
    })
    expect(application.story).toEqual(['dial dialing', 'state created', 'state ended', 'dial failed'])
  })

  it('rejects devices that cannot be dialled', async () => {
    for (const wrong of [
      { tag: '' },
      { devices: [] },
      { devices: [[]] },
      { devices: [[{ type: 'sip' }]] },
      { devices: [[{ type: 'sip', params: { to } }]] },
    ])
      expect(await dial(wrong)).toMatchObject({ code: '400' })
    expect(gateway.originations).toEqual([])
  })

  it('is cancelled when the application is lost', async () => {
    gateway.originate = ({ signal }) =>
      new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(new TrunklineError('canceled')))
      })
    await dial()
    const { signal } = gateway.originations[0]!
    gateway.dialect.close()
    expect(signal?.aborted).toBe(true)
  })
})
