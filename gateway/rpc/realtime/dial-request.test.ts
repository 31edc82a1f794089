import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FakeCall } from '../../../handlers/testing/fake-call.ts'
import { type Code, TrunklineError } from '../../core/errors/catalogue.ts'
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
  it('tells of the leg, and then that it answered, before the dial does', async () => {
    const call = new FakeCall({ callId: 'l-1', direction: 'outbound' })
    gateway.originate = async ({ onLeg, steps, run }) => {
      const leg = new FakeLeg('l-1', steps[0]![0]!)
      onLeg?.(leg)
      leg.tell('ringing')
      leg.tell('answered')
      call.isAnswered = true
      call.signal.addEventListener('abort', () => leg.tell('ended'))
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

  it('tells of a call that is over as soon as it was answered', async () => {
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

  it('keeps the ends of legs that nobody answered until the call is over', async () => {
    const call = new FakeCall({ callId: 'l-2', direction: 'outbound' })
    gateway.originate = async ({ onLeg, steps, run }) => {
      const [busy, other] = ['l-1', 'l-2'].map((id) => new FakeLeg(id, steps[0]![0]!))
      onLeg?.(busy!)
      busy!.tell('ended')
      onLeg?.(other!)
      other!.tell('answered')
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
  ])('tells of %s as %s, after the end of the leg', async (code, reason) => {
    gateway.originate = async ({ onLeg, steps }) => {
      const leg = new FakeLeg('l-1', steps[0]![0]!)
      onLeg?.(leg)
      leg.tell('ended')
      throw new TrunklineError(code)
    }
    await dial()
    await application.event('calling.call.dial')
    expect(await application.event('calling.call.dial')).toMatchObject({
      tag: 't',
      dial_state: 'failed',
      reason,
      error: code,
    })
    expect(application.story).toEqual(['dial dialing', 'state created', 'state ended', 'dial failed'])
  })

  it('refuses what cannot be dialled', async () => {
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

  it('is given up when the application is lost', async () => {
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
